export * from './pure/index.js';
export * from './principal.js';
export * from './clock.js';
export * from './ids.js';
export * from './configuration/index.js';
export { nearest } from './configuration/nearest.js';
export * from './logging/index.js';
export * from './reference/index.js';
export { readingScope, readTogether, whileWanted } from './reading-scope.js';

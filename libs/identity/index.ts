export * from './operations.js';
export * from './authorise.js';

export * from './error-catalogue.js';
export * from './penstock-error.js';
export * from './principal.js';
export * from './clock.js';
export * from './ids.js';

export * from './transient-store.js';
export * from './invalidation-bus.js';

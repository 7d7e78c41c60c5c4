export * from './transient-store.js';

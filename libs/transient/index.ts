export * from './transient-store.js';
export * from './transient-unavailable.js';
export * from './invalidation-bus.js';
export * from './content-bus.js';
export { MemoryTransientStore, type MemoryStoreOptions } from './memory/memory-transient-store.js';
export { RedisTransientStore, type RedisStoreOptions } from './redis/redis-transient-store.js';
export { transientStoreOver } from './port/port-transient-store.js';
export { serveTransientStore } from './port/serve-transient-store.js';

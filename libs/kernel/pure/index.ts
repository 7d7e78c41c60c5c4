/** The part of the kernel that runs in a browser: what pure libraries may import of it. */
export * from '../error-catalogue.js';
export * from '../penstock-error.js';
export * from '../paging.js';
export * from '../keyset-order.js';
export * from '../wire-stamp.js';
export * from '../moment.js';
export * from '../json/value.js';
export * from '../json/limits.js';
export * from '../json/read.js';
export * from '../json/write.js';

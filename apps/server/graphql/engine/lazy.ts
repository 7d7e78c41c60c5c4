import type { OperationContext } from './operation-context.js';

/** A field that is read only where it is selected: the default resolver calls it. */
export type Lazy<T> = (args: unknown, context: OperationContext) => T | Promise<T>;

import type { OperationContext } from './operation-context.js';

/** A field that is read only where it is selected: the schema's own wrapper calls it. */
export type Lazy<T> = (args: unknown, context: OperationContext) => T | Promise<T>;

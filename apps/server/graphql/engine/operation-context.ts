import type { Principal } from '#libs/kernel';
import { Loaders, type Batch } from './batch.js';
import type { Deadline } from './deadline.js';

/** What every resolver of one operation shares. */
export class OperationContext {
  #loaders: Loaders;

  constructor(
    readonly principal: Principal,
    readonly deadline: Deadline,
    /** What the operation was judged to cost, and the most that is allowed. */
    readonly cost: { requested: number; max: number },
    /** Of a subscription: aborts when its reader is gone. */
    readonly signal?: AbortSignal,
  ) {
    this.#loaders = new Loaders(principal);
  }

  /** Before each mutation of an operation: what an earlier one read may have changed. */
  forget(): void {
    this.#loaders = new Loaders(this.principal);
  }

  /** One lookup, read together with its like. */
  load<K, V>(batch: Batch<K, V>, key: K): Promise<V | undefined> {
    return this.#loaders.load(batch, key);
  }
}

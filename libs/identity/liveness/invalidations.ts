import { Injectable } from '@nestjs/common';
import type { Transaction } from '#libs/persistence';
import { InvalidationBus } from '#libs/transient';
import { LivenessCache, type LivenessKind } from './liveness-cache.js';

const KINDS: readonly LivenessKind[] = ['user', 'session', 'api_key', 'membership', 'workspace'];

/**
 * Keeps the liveness caches of all instances honest: a write drops the local entry and tells the others. A lost message
 * costs one TTL, never correctness (contract 04 §5).
 */
@Injectable()
export class Invalidations {
  constructor(
    private readonly cache: LivenessCache,
    private readonly bus: InvalidationBus,
  ) {
    // For the life of the process; the bus is stopped as a whole. Bounded by the caches, so nothing needs to be ended.
    this.bus.subscribe(({ kind, id }) => this.#hear(kind, id));
  }

  /** Takes effect when the transaction has committed. */
  announce(tx: Transaction, kind: LivenessKind, id: string): void {
    tx.afterCommit(async () => {
      this.cache.drop(kind, id);
      await this.bus.publish({ kind, id });
    });
  }

  #hear(kind: string, id: string): void {
    if (kind === 'all') this.cache.clear();
    else if (isLiveness(kind)) this.cache.drop(kind, id);
  }
}

/** The bus is shared with other families; their kinds are none of ours. */
function isLiveness(kind: string): kind is LivenessKind {
  return KINDS.some((known) => known === kind);
}

import { Injectable } from '@nestjs/common';

import { Logger, newId, PenstockError } from '#libs/kernel';
import { TransientStore, unavailableAs } from '#libs/transient';

/** Probes and previews that one person may have running at a time, over all instances (06 §9). */
const PER_USER = 2;
/** An instance that dies gives its slots back by this; twice the longest probe with the read of the catalog before it. */
const LEASE_SECONDS = 80;

/** Counts running probes in the shared store. */
@Injectable()
export class ProbeSlots {
  readonly #log: Logger;

  constructor(
    private readonly store: TransientStore,
    logger: Logger,
  ) {
    this.#log = logger.child('datasources.probe');
  }

  /**
   * Runs `work` in a slot. `longestSeconds`: work that may take longer than a probe keeps its slot for as long.
   *
   * @throws 429 `rate_limit.exceeded`, or `rate_limit.unavailable` without the store
   */
  async within<T>(userId: string, work: () => Promise<T>, longestSeconds = 0): Promise<T> {
    const leaseId = newId();
    const granted = await unavailableAs(
      'rate_limit.unavailable',
      () => this.store.acquire('probes', userId, leaseId, PER_USER, Math.max(LEASE_SECONDS, longestSeconds)),
      { details: { retry_after_seconds: 1 } },
    );
    if (!granted) {
      throw new PenstockError('rate_limit.exceeded', {
        message: `You have ${PER_USER} probes or previews running, which is the limit. Wait for one to end.`,
        details: { window: 'concurrent_probes', limit: PER_USER, retry_after_seconds: 1 },
      });
    }
    try {
      return await work();
    } finally {
      await this.#release(userId, leaseId);
    }
  }

  async #release(userId: string, leaseId: string): Promise<void> {
    try {
      await this.store.releaseLease('probes', userId, leaseId);
    } catch (error) {
      this.#log.warn('A probe slot was not given back; it ends by itself.', { error });
    }
  }
}

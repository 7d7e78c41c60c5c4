import { PenstockError, type Logger } from '#libs/kernel';
import { unavailableAs, type LeaseKind, type TransientStore } from '#libs/transient';

export interface LeaseSettings {
  slotsPerUser: number;
  streamsPerUser: number;
  /** Three heartbeats: one missed renewal loses nothing. */
  leaseSeconds: number;
}

export interface UserLease {
  /** Gives it back; further calls do nothing. Never rejects: it ends by itself too. */
  release(): Promise<void>;
}

/**
 * What a person holds over all instances: slots of running executions, and open streams. Leases, so that an instance that
 * dies gives them back (contract 02 §8).
 */
export class UserLeases {
  readonly #held = new Map<string, { kind: LeaseKind; userId: string; leaseId: string }>();

  constructor(
    private readonly store: TransientStore,
    private readonly settings: LeaseSettings,
    private readonly logger: Logger,
  ) {}

  /** A slot for a root execution; 429 `pipeline.execution.concurrency_limit` when the person has no more. */
  async slot(userId: string, executionId: string): Promise<UserLease> {
    const { slotsPerUser } = this.settings;
    const lease = await this.#acquire('slots', userId, executionId, slotsPerUser);
    if (lease) return lease;
    throw new PenstockError('pipeline.execution.concurrency_limit', {
      message: `You have ${slotsPerUser} executions running, which is the limit.`,
      details: { scope: 'per_user', limit: slotsPerUser, retry_after_seconds: 1 },
    });
  }

  /** A stream; 429 `rate_limit.exceeded`, window `concurrent_streams`. */
  async stream(userId: string, streamId: string): Promise<UserLease> {
    const { streamsPerUser } = this.settings;
    const lease = await this.#acquire('sse', userId, streamId, streamsPerUser);
    if (lease) return lease;
    throw new PenstockError('rate_limit.exceeded', {
      message: `You have ${streamsPerUser} streams open, which is the limit.`,
      details: { window: 'concurrent_streams', limit: streamsPerUser, retry_after_seconds: 1 },
    });
  }

  /** At each heartbeat. Never rejects. */
  async renew(): Promise<void> {
    const groups = new Map<string, { kind: LeaseKind; userId: string; ids: string[] }>();
    for (const { kind, userId, leaseId } of this.#held.values()) {
      const group = groups.get(`${kind} ${userId}`) ?? { kind, userId, ids: [] };
      group.ids.push(leaseId);
      groups.set(`${kind} ${userId}`, group);
    }
    await Promise.all([...groups.values()].map(({ kind, userId, ids }) => this.#renew(kind, userId, ids)));
  }

  async #renew(kind: LeaseKind, userId: string, ids: readonly string[]): Promise<void> {
    try {
      await this.store.renew(kind, userId, ids, this.settings.leaseSeconds);
      // The renewal may have come after the release of a lease that was given back meanwhile, and have revived it.
      const gone = ids.filter((leaseId) => !this.#held.has(`${kind} ${userId} ${leaseId}`));
      await Promise.all(gone.map((leaseId) => this.store.releaseLease(kind, userId, leaseId)));
    } catch (error) {
      this.logger.warn('Leases were not renewed.', { error, leases: ids.length });
    }
  }

  /** Without the store nothing can be counted, so it is refused (contract 02 §8). */
  async #acquire(kind: LeaseKind, userId: string, leaseId: string, limit: number): Promise<UserLease | undefined> {
    const { leaseSeconds } = this.settings;
    const granted = await unavailableAs(
      'rate_limit.unavailable',
      () => this.store.acquire(kind, userId, leaseId, limit, leaseSeconds),
      { details: { retry_after_seconds: 1 } },
    );
    if (!granted) return undefined;
    const key = `${kind} ${userId} ${leaseId}`;
    this.#held.set(key, { kind, userId, leaseId });
    return {
      release: async () => {
        if (!this.#held.delete(key)) return;
        try {
          await this.store.releaseLease(kind, userId, leaseId);
        } catch (error) {
          this.logger.warn('A lease was not given back; it ends by itself.', { error });
        }
      },
    };
  }
}

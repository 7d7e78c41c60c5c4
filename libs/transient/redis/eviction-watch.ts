import type { Redis } from 'ioredis';
import { memoryFacts, requireNoEviction, requireVersion, type MemoryFacts } from './eviction-policy.js';

const CHECK_MS = 60_000;

/** Looks again every minute: a policy can be changed while we run, and then keys are lost without an error anywhere. */
export class EvictionWatch {
  #keepsKeys = true;
  #evicted: number;
  readonly #timer: NodeJS.Timeout;

  private constructor(
    private readonly redis: Redis,
    private readonly onProblem: (what: string, error: unknown) => void,
    facts: MemoryFacts,
  ) {
    this.#evicted = facts.evictedKeys ?? 0;
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  /** Refuses an evicting policy and a Redis that is too old. */
  static async start(redis: Redis, onProblem: (what: string, error: unknown) => void): Promise<EvictionWatch> {
    const facts = await memoryFacts(redis);
    requireVersion(facts);
    const unreadable = requireNoEviction(facts);
    if (unreadable !== undefined) onProblem(unreadable, undefined);
    return new EvictionWatch(redis, onProblem, facts);
  }

  get keepsKeys(): boolean {
    return this.#keepsKeys;
  }

  async check(): Promise<void> {
    try {
      const facts = await memoryFacts(this.redis);
      requireNoEviction(facts);
      const evicted = facts.evictedKeys ?? 0;
      const rose = evicted > this.#evicted;
      this.#evicted = evicted;
      this.#keepsKeys = !rose;
      if (rose) this.onProblem('Redis evicts keys: results and idempotency keys are being lost.', undefined);
    } catch (error) {
      if (this.redis.status !== 'ready') return; // An outage is reported by the connection.
      this.#keepsKeys = false;
      this.onProblem('Redis may evict keys: results and idempotency keys may be lost.', error);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

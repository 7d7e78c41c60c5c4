import type { Configuration } from '#libs/kernel';

interface Waiter {
  start: () => void;
}

/**
 * Admits at most `limit` native engine calls of the whole process at a time (contract 02 §1). Every such call holds one
 * thread of the runtime's pool until it returns, and that pool also serves files, DNS, compression and password hashing.
 * Waiters are served in order and leave when their signal aborts.
 */
export class NativeCallGate {
  #running = 0;
  readonly #waiting = new Set<Waiter>();

  constructor(readonly limit: number) {}

  static fromConfiguration(configuration: Configuration): NativeCallGate {
    return new NativeCallGate(configuration.get('datapipelines.staging.max-concurrent-calls'));
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running;
  }

  /** Runs `call` once there is room; rejects with the signal's reason when it aborts before that. */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await call();
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.#running < this.limit && this.#waiting.size === 0) {
      this.#running++;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', giveUp);
          this.#running++;
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(): void {
    this.#running--;
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    next.start();
  }
}

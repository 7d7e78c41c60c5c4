interface Waiter {
  grant(): void;
}

/** A counting semaphore whose waiters are served in the order they came; a waiter leaves when its signal aborts. */
export class Permits {
  #free: number;
  readonly #waiters = new Set<Waiter>();

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** True when one was free; whoever waits has been given his before there is a free one again. */
  takeAtOnce(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Rejects with the signal's reason when it aborts first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.takeAtOnce()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        grant: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  give(): void {
    const [next] = this.#waiters;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiters.delete(next);
    next.grant();
  }
}

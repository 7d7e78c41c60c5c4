import { FanOut } from './fan-out.js';

/** Wakes all who wait for the next change of something. Waiters that leave early leave nothing behind. */
export class WakeUp {
  #version = 0;
  readonly #waiters = new Set<() => void>();
  readonly #followers = new FanOut();

  /** Read before looking at the state, given to `after`: a change between the two is not missed. */
  get version(): number {
    return this.#version;
  }

  get waiting(): number {
    return this.#waiters.size + this.#followers.size;
  }

  /** Calls `listener` after every change, in a later turn. It must not throw. Returns what ends that. */
  listen(listener: () => void): () => void {
    return this.#followers.listen(listener);
  }

  signal(): void {
    this.#version++;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
    this.#followers.changed();
  }

  /** Resolves once the version is past the given one; rejects with the signal's reason. */
  after(version: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (this.#version > version) return resolve();
      const wake = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiters.delete(wake);
        reject(signal.reason as Error);
      };
      this.#waiters.add(wake);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

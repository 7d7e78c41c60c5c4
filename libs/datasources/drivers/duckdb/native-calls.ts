import { Permits } from '../../pool/permits.js';

/**
 * Admits at most so many native engine calls at a time: each holds a thread of the runtime's pool until it returns, and
 * files, names and password hashes need threads too (02 §1).
 */
export class NativeCalls {
  readonly #permits: Permits;

  constructor(limit: number) {
    this.#permits = new Permits(limit);
  }

  /** Runs the call once there is room; rejects with the signal's reason when it aborts before that. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#permits.take(signal);
    try {
      return await call();
    } finally {
      this.#permits.give();
    }
  }
}

import { PenstockError } from '#libs/kernel';

/**
 * Lets at most `width` tasks run and `queue` wait, first come first served. A memory-hard hash costs 19 MiB and tens of
 * milliseconds of a core, so without a bound a burst of logins starves everything else (contract 04 §4.1).
 */
export class FifoGate {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly width: number,
    private readonly queue: number,
  ) {}

  /** @throws `rate_limit.exceeded` when the queue is full; the task did not run */
  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  #enter(): Promise<void> {
    if (this.#running < this.width) {
      this.#running += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.queue) {
      throw new PenstockError('rate_limit.exceeded', {
        message: 'Too many sign-ins and key checks are waiting; try again in a few seconds.',
        details: { limit: this.queue, window: 'password_checks', retry_after_seconds: 1 },
      });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The place passes on to the next in line, so that a newcomer cannot overtake. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

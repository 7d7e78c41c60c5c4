import { setTimeout as delay } from 'node:timers/promises';

/** Calls one operation after another, `everyMs` apart, until it is told to end; the milliseconds each call took. */
export class Paced {
  readonly #latencies: number[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(everyMs: number, operation: () => Promise<unknown>) {
    this.#running = this.#run(everyMs, operation);
  }

  async end(): Promise<number[]> {
    this.#stop.abort();
    await this.#running;
    return this.#latencies;
  }

  async #run(everyMs: number, operation: () => Promise<unknown>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const begun = performance.now();
      await operation();
      const took = performance.now() - begun;
      this.#latencies.push(took);
      await delay(Math.max(0, everyMs - took));
    }
  }
}

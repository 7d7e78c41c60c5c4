/**
 * Time of one run: the database's `started_at` plus what has passed here since. Stamps of one run never go backwards,
 * and runs of different instances compare, whatever the clocks of the machines say.
 */
export class RunClock {
  readonly #origin: number;
  readonly #startedMs: number;

  /** `startedAt`: microseconds, `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  constructor(
    readonly startedAt: string,
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    this.#origin = monotonic();
    this.#startedMs = Date.parse(startedAt);
  }

  now(): Date {
    return new Date(this.#startedMs + this.elapsedMs());
  }

  elapsedMs(): number {
    return Math.max(0, Math.floor(this.monotonic() - this.#origin));
  }
}

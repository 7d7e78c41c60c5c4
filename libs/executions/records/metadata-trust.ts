/**
 * Whether this instance may judge others by the age of their heartbeats. After its boot, and after any statement the
 * metadata database did not answer, it waits: an outage must not reap live runs (contract 02 §9.2).
 */
export class MetadataTrust {
  #since: number;

  constructor(
    private readonly quietMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#since = now();
  }

  failed(): void {
    this.#since = this.now();
  }

  holds(): boolean {
    return this.now() - this.#since >= this.quietMs;
  }
}

/** Labels of one time series. */
export type SeriesLabels = Readonly<Record<string, string>>;

/**
 * The time series of stored ids that are kept: the ones used last. Ids are stored, so they form a closed set, but one that
 * grows for as long as a process lives; each costs a scrape some twenty lines.
 */
export class BoundedSeries<L extends SeriesLabels> {
  /** In the order of their last use. */
  readonly #used = new Map<string, L>();

  constructor(
    private readonly limit: number,
    private readonly forget: (labels: L) => void,
  ) {}

  get size(): number {
    return this.#used.size;
  }

  /** To be called before a value is put down under these labels. */
  use(labels: L): void {
    const key = Object.values(labels).join('\u0000');
    this.#used.delete(key);
    this.#used.set(key, labels);
    if (this.#used.size <= this.limit) return;
    const [[oldest, forgotten]] = this.#used as unknown as Iterable<[string, L]> as [[string, L]];
    this.#used.delete(oldest);
    this.forget(forgotten);
  }
}

import type { Clock } from '#libs/kernel';

const ROWS = 60;
const WINDOW_MS = 60_000;
const MAX_SUBJECTS = 10_000;

interface Window<Row> {
  endsAt: number;
  admitted: number;
  suppressed: number;
  /** The last one that was left out. */
  last?: Row;
  timer?: NodeJS.Timeout;
}

/**
 * At most sixty rows a minute and subject (contract 04 §10). What was left out is told once, when the minute has passed,
 * whether or not anything comes after it.
 */
export class FloodLimit<Row> {
  readonly #windows = new Map<string, Window<Row>>();
  readonly #telling = new Set<Promise<void>>();

  /** @param tell writes down how many were left out, beside the last of them; it must not reject */
  constructor(
    private readonly clock: Clock,
    private readonly tell: (last: Row, suppressed: number) => Promise<void>,
    private readonly windowMs = WINDOW_MS,
  ) {}

  /** Whether the row is to be written. A flood that has ended is told before it. */
  async admit(subject: string, row: Row): Promise<boolean> {
    const now = this.clock.now().getTime();
    const window = this.#windows.get(subject);
    if (window && window.endsAt > now) return this.#count(subject, window, row, now);
    if (!window && this.#windows.size >= MAX_SUBJECTS) this.#forget(now);
    this.#windows.set(subject, { endsAt: now + this.windowMs, admitted: 1, suppressed: 0 });
    if (window) await this.#end(window);
    return true;
  }

  /** Tells of every flood that is not told yet, ended or not; for the end of the process. */
  async close(): Promise<void> {
    for (const window of this.#windows.values()) void this.#end(window);
    this.#windows.clear();
    while (this.#telling.size > 0) await Promise.all(this.#telling);
  }

  #count(subject: string, window: Window<Row>, row: Row, now: number): boolean {
    if (window.admitted < ROWS) {
      window.admitted += 1;
      return true;
    }
    window.suppressed += 1;
    window.last = row;
    window.timer ??= setTimeout(() => this.#lapse(subject, window), window.endsAt - now).unref();
    return false;
  }

  #lapse(subject: string, window: Window<Row>): void {
    if (this.#windows.get(subject) === window) this.#windows.delete(subject);
    void this.#end(window);
  }

  /** Once for each window, whoever comes first: its timer, the next row, room for others, the end of the process. */
  async #end(window: Window<Row>): Promise<void> {
    const { last, suppressed } = window;
    clearTimeout(window.timer);
    if (last === undefined) return;
    delete window.last;
    const telling = this.tell(last, suppressed).finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
    await telling;
  }

  /** Ended windows go first; if none has ended, the oldest makes room. */
  #forget(now: number): void {
    for (const [subject, window] of this.#windows) if (window.endsAt <= now) this.#lapse(subject, window);
    const [oldest] = this.#windows;
    if (this.#windows.size >= MAX_SUBJECTS && oldest) this.#lapse(...oldest);
  }
}

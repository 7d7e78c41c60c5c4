import type { Clock } from '#libs/kernel';

const ROWS_PER_MINUTE = 60;
const WINDOW_MS = 60_000;
const MAX_SUBJECTS = 10_000;

interface Window {
  endsAt: number;
  admitted: number;
  suppressed: number;
}

/** At most sixty rows a minute and subject; the next row after a flood says how many were left out. */
export class FloodLimit {
  readonly #windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  admit(subject: string): 'suppressed' | { suppressed?: number } {
    const now = this.clock.now().getTime();
    const window = this.#windows.get(subject);
    if (window && window.endsAt > now) {
      if (window.admitted < ROWS_PER_MINUTE) {
        window.admitted += 1;
        return {};
      }
      window.suppressed += 1;
      return 'suppressed';
    }
    if (!window && this.#windows.size >= MAX_SUBJECTS) this.#forget(now);
    this.#windows.set(subject, { endsAt: now + WINDOW_MS, admitted: 1, suppressed: 0 });
    return window && window.suppressed > 0 ? { suppressed: window.suppressed } : {};
  }

  /** Ended windows go first; if none has ended, the oldest makes room. */
  #forget(now: number): void {
    for (const [subject, window] of this.#windows) if (window.endsAt <= now) this.#windows.delete(subject);
    const oldest = this.#windows.keys().next();
    if (this.#windows.size >= MAX_SUBJECTS && !oldest.done) this.#windows.delete(oldest.value);
  }
}

/** How long listeners are called at a stretch before the event loop gets its turn. */
const SLICE_MS = 8;
/** Looking at the clock costs more than most listeners. */
const CLOCK_EVERY = 32;

/**
 * Calls all listeners some time after something has changed, never in the turn of the one who says so: whoever emits
 * waits for nobody, and thousands of listeners do not hold up the process. A change while they are being called makes
 * one more round.
 */
export class FanOut {
  readonly #listeners = new Set<() => void>();
  #calling = false;
  #again = false;

  get size(): number {
    return this.#listeners.size;
  }

  /** Listeners must not throw. Returns what ends the listening. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  changed(): void {
    if (this.#listeners.size === 0) return;
    if (this.#calling) {
      this.#again = true;
      return;
    }
    this.#calling = true;
    setImmediate(() => this.#call([...this.#listeners], 0));
  }

  #call(listeners: readonly (() => void)[], from: number): void {
    const until = performance.now() + SLICE_MS;
    for (let at = from; at < listeners.length; at++) {
      const listener = listeners[at]!;
      if (this.#listeners.has(listener)) listener();
      if (at % CLOCK_EVERY === CLOCK_EVERY - 1 && performance.now() > until) {
        setImmediate(() => this.#call(listeners, at + 1));
        return;
      }
    }
    this.#calling = false;
    if (!this.#again) return;
    this.#again = false;
    this.changed();
  }
}

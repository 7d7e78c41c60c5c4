import { LRUCache } from 'lru-cache';

/** Subjects counted at once; the least recently seen is forgotten first. */
const MAX_SUBJECTS = 10_000;

/** Fixed windows in this process alone, bounded whoever asks: what limits sign-in while the shared store is down. */
export class LocalWindows {
  readonly #counts = new LRUCache<string, { window: number; count: number }>({ max: MAX_SUBJECTS });

  constructor(private readonly now: () => number = Date.now) {}

  hit(subject: string, seconds: number): { count: number; resetAtSeconds: number; nowSeconds: number } {
    const nowSeconds = Math.floor(this.now() / 1000);
    const window = Math.floor(nowSeconds / seconds);
    const held = this.#counts.get(subject);
    const count = held?.window === window ? held.count + 1 : 1;
    this.#counts.set(subject, { window, count });
    return { count, resetAtSeconds: (window + 1) * seconds, nowSeconds };
  }
}

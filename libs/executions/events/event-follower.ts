import type { EventRecord } from './event-record.js';
import type { EventSource } from './event-source.js';
import { WatchCursor, type WatchStep } from './watch-cursor.js';

/** Takes what a follower reads. */
export interface Follower<Frame> {
  /** A promise when no more is wanted until it settles; it must not reject. */
  send(frames: readonly Frame[]): Promise<void> | undefined;
  /** Nothing follows: the end of the run, or `error`. Not called once the follower was stopped. */
  ended(error?: unknown): void;
}

/** The frame of an event, at once where it can be. */
export type Framing<Frame> = (event: EventRecord) => Frame | Promise<Frame>;

/**
 * The push form of `watchEvents`, for streams by the thousand: between events it holds no promise and no generator, and
 * an event that memory has goes out in one call. It asks for more only when its taker wants more.
 */
export class EventFollower<Frame> {
  readonly #cursor: WatchCursor;
  readonly #unlisten: () => void;
  #stopped = false;
  /** Something is read or written; changes meanwhile are looked at behind it. */
  #busy = false;
  #again = false;

  constructor(
    source: EventSource,
    after: number,
    private readonly framing: Framing<Frame>,
    private readonly taker: Follower<Frame>,
  ) {
    this.#cursor = new WatchCursor(source, after);
    this.#unlisten = source.changed.listen(() => this.look());
  }

  /** Sends what there is. Never throws. */
  look(): void {
    if (this.#stopped) return;
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#again = false;
    try {
      const slow = this.#advance();
      if (slow) void this.#behind(slow);
    } catch (error) {
      this.#end(error);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#unlisten();
  }

  /** As far as it goes without waiting; the rest is a promise of whether to look again. */
  #advance(): Promise<boolean> | undefined {
    for (;;) {
      const step = this.#cursor.next();
      if (step instanceof Promise) return this.#slowly(step);
      if (step === 'wait') return undefined;
      if (step === 'end') {
        this.#end();
        return undefined;
      }
      const frames = step.map(this.framing);
      if (frames.some((frame) => frame instanceof Promise)) return this.#send(frames);
      const full = this.taker.send(frames as Frame[]);
      if (full) return full.then(() => true);
      if (this.#stopped) return undefined;
    }
  }

  async #slowly(pending: Promise<WatchStep>): Promise<boolean> {
    const step = await pending;
    if (this.#stopped || step === 'wait') return false;
    if (step === 'end') {
      this.#end();
      return false;
    }
    return this.#send(step.map(this.framing));
  }

  async #send(frames: readonly (Frame | Promise<Frame>)[]): Promise<boolean> {
    const ready = await Promise.all(frames);
    if (!this.#stopped) await this.taker.send(ready);
    return true;
  }

  async #behind(slow: Promise<boolean>): Promise<void> {
    this.#busy = true;
    try {
      const more = await slow;
      this.#busy = false;
      if (more || this.#again) this.look();
    } catch (error) {
      this.#busy = false;
      this.#end(error);
    }
  }

  #end(error?: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.taker.ended(error);
  }
}

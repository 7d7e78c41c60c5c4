import { EventFollower, type Follower, type Framing } from './event-follower.js';
import type { EventRecord, EventType } from './event-record.js';
import type { EventSource } from './event-source.js';
import { watchEvents } from './watch-events.js';

/** One event as it goes out. */
export interface EventFrame {
  eventId: number;
  type: EventType;
  timestamp: string;
  /** The payload, one line of JSON. */
  data: string;
  /** The block of a server-sent-events stream. */
  block: string;
}

export function frameOf({ eventId, type, timestamp }: EventRecord, data: string): EventFrame {
  return { eventId, type, timestamp, data, block: `event: ${type}\nid: ${eventId}\ndata: ${data}\n\n` };
}

/** The events of one execution behind a resume point, to be taken once: as `frames`, or pushed by `follow`. */
export interface EventWatch {
  readonly executionId: string;
  /** The run has ended and nothing follows the resume point: a stream would be empty. */
  readonly nothingLeft: boolean;
  /** Every event after the resume point once, in order, to the end. Ends quietly when the signal aborts. */
  readonly frames: AsyncIterable<EventFrame>;
  /** The same, pushed; nothing is pushed once the signal has aborted. */
  follow(taker: Follower<EventFrame>): void;
  /** After the frames: what a stream says when it ends without a terminal event, such as `record-unavailable`. */
  remark(): string | undefined;
}

export interface WatchOptions {
  after: number;
  signal: AbortSignal;
  framing: Framing<EventFrame>;
  /** Called at the end of the reading; may be called again at the abort. */
  leave?: (() => void) | undefined;
  nothingLeft?: boolean | undefined;
}

/** A watch of what a source has. */
export class SourceWatch implements EventWatch {
  #follower: EventFollower<EventFrame> | undefined;
  #taker: Follower<EventFrame> | undefined;

  constructor(
    readonly executionId: string,
    private readonly source: EventSource,
    private readonly options: WatchOptions,
  ) {}

  get nothingLeft(): boolean {
    return this.options.nothingLeft ?? false;
  }

  get frames(): AsyncIterable<EventFrame> {
    return this.#frames();
  }

  remark(): string | undefined {
    return this.source.remark;
  }

  follow(taker: Follower<EventFrame>): void {
    const { signal, after, framing } = this.options;
    if (signal.aborted) return;
    this.#taker = taker;
    this.#follower = new EventFollower(this.source, after, framing, this);
    signal.addEventListener('abort', this, { once: true });
    this.#follower.look();
  }

  send(frames: readonly EventFrame[]): Promise<void> | undefined {
    return this.#taker?.send(frames);
  }

  ended(error?: unknown): void {
    this.#left();
    this.#taker?.ended(error);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#follower?.stop();
  }

  async *#frames(): AsyncGenerator<EventFrame, void, void> {
    const { after, signal, framing } = this.options;
    try {
      for await (const event of watchEvents(this.source, after, signal)) yield await framing(event);
    } finally {
      this.#left();
    }
  }

  #left(): void {
    const { signal, leave } = this.options;
    signal.removeEventListener('abort', this);
    if (!leave) return;
    signal.removeEventListener('abort', leave);
    leave();
  }
}

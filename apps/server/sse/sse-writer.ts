import type { Response } from 'express';

export interface SseWriterOptions {
  heartbeatMs: number;
  /** Unsent bytes above this end the stream with `: overflow`. */
  maxBufferBytes: number;
  /** A stream that takes nothing for this long is ended too. */
  stallMs?: number;
  /** Asked at most once per heartbeat, never rejects; false ends the stream with `: revoked`, the run goes on (03 §5.3). */
  stillAllowed: () => Promise<boolean>;
}

/** One for all streams: an abort without a reason makes an exception with a stack each time. */
export const STREAM_ENDED = new DOMException('The stream has ended.', 'AbortError');

export type CloseReason = 'ended' | 'client_disconnect' | 'overflow' | 'revoked';

/**
 * One server-sent-events response. Frames are written one at a time: `send` resolves when the socket can take more,
 * so a slow reader holds back its own reading of the log and nobody else's. What is written in one turn of the event
 * loop leaves in one packet.
 */
export class SseWriter {
  readonly closed: Promise<CloseReason>;
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #settle: (reason: CloseReason) => void;
  readonly #timer: NodeJS.Timeout;
  #lastWrite = Date.now();
  #reason: CloseReason | undefined;
  #corked = false;

  constructor(
    private readonly response: Response,
    private readonly options: SseWriterOptions,
  ) {
    let settle: (reason: CloseReason) => void = () => undefined;
    this.closed = new Promise((resolve) => (settle = resolve));
    this.#settle = settle;
    this.signal = this.#abort.signal;
    response.on('close', () => this.#finish('client_disconnect'));
    response.on('error', () => this.#finish('client_disconnect'));
    this.#timer = setInterval(() => void this.#beat(), options.heartbeatMs);
    this.#timer.unref();
  }

  open(headers: Record<string, string>): void {
    const { response } = this;
    response.status(200);
    response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store, no-transform');
    response.setHeader('X-Accel-Buffering', 'no');
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    // A HEAD request is told what it would get, and holds no stream open.
    if (response.req.method === 'HEAD') return this.end();
    // Headers and first line leave together.
    response.write('retry: 3000\n\n');
  }

  /** Writes one already framed block; waits for the socket if it pushed back. */
  async send(block: string): Promise<void> {
    if (this.#reason) return;
    this.#lastWrite = Date.now();
    this.#gather();
    if (this.response.write(block)) return;
    if (this.response.writableLength > this.options.maxBufferBytes) return this.#overflow();
    await this.#drained();
  }

  end(): void {
    if (this.#reason) return;
    this.#finish('ended');
    this.response.end();
  }

  /** A comment line, then the end. */
  endWith(comment: string, reason: CloseReason): void {
    if (this.#reason) return;
    this.#finish(reason);
    this.response.end(`: ${comment}\n\n`);
  }

  #gather(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.response.cork();
    setImmediate(() => this.#letGo());
  }

  /** Before every end as well: Node would send what was gathered behind the end of the response. */
  #letGo(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.response.uncork();
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      const stall = setTimeout(() => {
        this.#overflow();
        resolve();
      }, this.options.stallMs ?? 30_000);
      const done = (): void => {
        clearTimeout(stall);
        this.response.off('drain', done);
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      this.response.on('drain', done);
      this.signal.addEventListener('abort', done);
    });
  }

  #overflow(): void {
    if (this.#reason) return;
    this.#finish('overflow');
    // The peer takes nothing: the comment is offered, then the socket goes.
    this.response.end(': overflow\n\n');
    setTimeout(() => this.response.destroy(), 1000).unref();
  }

  async #beat(): Promise<void> {
    if (this.#reason) return;
    if (!(await this.options.stillAllowed())) return this.endWith('revoked', 'revoked');
    // Half a beat of silence is enough: waiting for a whole one would miss by a hair and come a beat late.
    if (Date.now() - this.#lastWrite >= this.options.heartbeatMs / 2) await this.send(': heartbeat\n\n');
  }

  #finish(reason: CloseReason): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#letGo();
    clearInterval(this.#timer);
    this.#abort.abort(STREAM_ENDED);
    this.#settle(reason);
  }
}

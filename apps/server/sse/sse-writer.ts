import type { Socket } from 'node:net';
import type { Response } from 'express';
import type { Heartbeats } from './heartbeats.js';
import { SseBlock } from './sse-block.js';

export interface SseWriterOptions {
  beats: Heartbeats;
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

const STALL_MS = 30_000;
const RETRY = new SseBlock('retry: 3000\n\n');
const HEARTBEAT = new SseBlock(': heartbeat\n\n');

/**
 * One server-sent-events response. `send` gives a promise when the socket wants no more for now, so a slow reader holds
 * back its own reading of the log and nobody else's.
 *
 * Blocks go to the socket as they are: Node's own `write` makes and sends four pieces for each, which is most of what an
 * event costs when thousands watch.
 */
export class SseWriter {
  readonly closed: Promise<CloseReason>;
  readonly #settle: (reason: CloseReason) => void;
  #lastWrite = Date.now();
  #reason: CloseReason | undefined;
  /** Of those who wait for the socket. */
  #wakers: Set<() => void> | undefined;

  constructor(
    private readonly response: Response,
    private readonly options: SseWriterOptions,
  ) {
    const { promise, resolve } = Promise.withResolvers<CloseReason>();
    this.closed = promise;
    this.#settle = resolve;
    const gone = (): void => this.#finish('client_disconnect');
    response.on('close', gone);
    response.on('error', gone);
    options.beats.join(this);
  }

  get isOpen(): boolean {
    return this.#reason === undefined;
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
    const { socket } = response;
    // Headers and first line leave together.
    socket?.cork();
    response.flushHeaders();
    this.#write([RETRY]);
    socket?.uncork();
  }

  /** Writes whole blocks together; a promise when the socket pushed back, which never rejects. */
  send(blocks: readonly SseBlock[]): Promise<void> | undefined {
    if (this.#reason || blocks.length === 0) return undefined;
    this.#lastWrite = Date.now();
    if (this.#write(blocks)) return undefined;
    if (this.#waiting > this.options.maxBufferBytes) {
      this.#overflow();
      return undefined;
    }
    return this.#drained();
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

  /** Called by the one timer of all streams. */
  beat(): void {
    void this.#beat();
  }

  get #waiting(): number {
    return (this.response.socket ?? this.response).writableLength;
  }

  #write(blocks: readonly SseBlock[]): boolean {
    const { response } = this;
    const { socket } = response;
    // Behind an earlier request of the same connection: Node keeps it until its turn comes.
    if (socket === null) return blocks.map(({ text }) => response.write(text)).every(Boolean);
    if (blocks.length === 1) return socket.write(blocks[0]!.bytes(response.chunkedEncoding));
    socket.cork();
    let more = true;
    for (const block of blocks) more = socket.write(block.bytes(response.chunkedEncoding));
    socket.uncork();
    return more;
  }

  #drained(): Promise<void> {
    const taker: Socket | Response = this.response.socket ?? this.response;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stall = setTimeout(() => this.#overflow(), this.options.stallMs ?? STALL_MS);
    const done = (): void => {
      clearTimeout(stall);
      taker.off('drain', done);
      this.#wakers?.delete(done);
      resolve();
    };
    taker.on('drain', done);
    (this.#wakers ??= new Set()).add(done);
    return promise;
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
    if (Date.now() - this.#lastWrite >= this.options.beats.intervalMs / 2) await this.send([HEARTBEAT]);
  }

  #finish(reason: CloseReason): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.options.beats.leave(this);
    for (const wake of this.#wakers ?? []) wake();
    this.#settle(reason);
  }
}

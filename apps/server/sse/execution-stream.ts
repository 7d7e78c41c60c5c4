import type { Response } from 'express';
import type { EventFrame, EventWatch, Follower } from '#libs/executions';
import type { Logger } from '#libs/kernel';
import { SseBlock } from './sse-block.js';
import type { CloseReason, SseWriter } from './sse-writer.js';
import type { StreamMetrics } from './stream-metrics.js';

/** Bytes of a frame, shared by all the streams it goes to. */
const blocks = new WeakMap<EventFrame, SseBlock>();

/** One open stream: what it is told goes to its writer. */
export class ExecutionStream implements Follower<EventFrame> {
  readonly #opened: number;
  #last = '';

  constructor(
    private readonly watch: EventWatch,
    private readonly writer: SseWriter,
    private readonly parts: { response: Response; metrics: StreamMetrics; log: Logger },
  ) {
    this.#opened = parts.metrics.opened();
  }

  start(headers: Record<string, string> | undefined): void {
    this.writer.open({ 'DP-Execution-Id': this.watch.executionId, ...headers });
    if (this.writer.isOpen) this.watch.follow(this);
  }

  send(frames: readonly EventFrame[]): Promise<void> | undefined {
    this.#last = frames.at(-1)?.type ?? this.#last;
    return this.writer.send(frames.map(blockOf));
  }

  ended(error?: unknown): void {
    if (error !== undefined) {
      // The answer is a stream already: the client reconnects and resumes behind the last id it saw.
      this.parts.log.warn('A stream of events broke off.', { execution_id: this.watch.executionId, error });
      this.parts.response.destroy();
      return;
    }
    const remark = this.watch.remark();
    if (remark === undefined) this.writer.end();
    else this.writer.endWith(remark, 'ended');
  }

  closed(reason: CloseReason): void {
    this.parts.metrics.closed(this.#opened, reason, this.#last);
  }
}

function blockOf(frame: EventFrame): SseBlock {
  const known = blocks.get(frame);
  if (known) return known;
  const block = new SseBlock(frame.block);
  blocks.set(frame, block);
  return block;
}

import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ExecutionEvents, type EventWatch, type UserLease } from '#libs/executions';
import { Configuration, Logger, type Principal } from '#libs/kernel';
import { clientGone } from '../http/client-gone.js';
import { SseWriter, STREAM_ENDED } from './sse-writer.js';
import { StandingRight } from './standing-right.js';
import { StreamMetrics } from './stream-metrics.js';

export interface StreamRequest {
  executionId: string;
  after: number;
  /** An idempotent retry: when both logs are gone it still gets one terminal event. */
  attach?: boolean;
  /** Held already by the launch; otherwise a lease is taken here. */
  lease?: UserLease;
  headers?: Record<string, string>;
}

/** Streams of one execution's events over HTTP, the same for a run just started and one watched from elsewhere. */
@Injectable()
export class ExecutionStreams {
  constructor(
    private readonly events: ExecutionEvents,
    private readonly right: StandingRight,
    private readonly configuration: Configuration,
    private readonly metrics: StreamMetrics,
    private readonly log: Logger,
  ) {}

  /** Refusals throw before anything is written; afterwards the stream tells. 204 when nothing is left to send. */
  async stream(principal: Principal, request: StreamRequest, response: Response): Promise<void> {
    const gone = clientGone(response);
    const lease = request.lease ?? (await this.events.stream(principal));
    try {
      const watch = await this.events.watch(principal, request.executionId, {
        after: request.after,
        signal: gone.signal,
        attach: request.attach,
      });
      if (watch.nothingLeft) {
        response.status(204);
        response.setHeader('Cache-Control', 'no-store');
        response.end();
        return;
      }
      if (!gone.signal.aborted) await this.#write(principal, watch, request, response, gone);
    } finally {
      gone.abort(STREAM_ENDED);
      await lease.release();
    }
  }

  async #write(
    principal: Principal,
    watch: EventWatch,
    request: StreamRequest,
    response: Response,
    gone: AbortController,
  ): Promise<void> {
    const writer = new SseWriter(response, {
      heartbeatMs: this.configuration.get('datapipelines.sse.heartbeat-interval-seconds') * 1000,
      maxBufferBytes: this.configuration.get('datapipelines.sse.max-buffer-bytes'),
      // The credential first: a principal of an hour ago says nothing about a key revoked since.
      stillAllowed: async () =>
        (await this.right.lost(response.req, principal, 'execution.read')) === undefined &&
        (await this.events.mayStillWatch(principal, watch.executionId)),
    });
    writer.open({ 'DP-Execution-Id': watch.executionId, ...request.headers });
    void writer.closed.then(() => gone.abort(STREAM_ENDED));
    const opened = this.metrics.opened();
    let last = '';
    try {
      for await (const frame of watch.frames) {
        last = frame.type;
        await writer.send(frame.block);
      }
      const remark = watch.remark();
      if (remark === undefined) writer.end();
      else writer.endWith(remark, 'ended');
    } catch (error) {
      // The answer is a stream already: the client reconnects and resumes behind the last id it saw.
      this.log.warn('A stream of events broke off.', { execution_id: watch.executionId, error });
      response.destroy();
    } finally {
      this.metrics.closed(opened, await writer.closed, last);
    }
  }
}

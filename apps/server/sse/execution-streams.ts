import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ExecutionEvents, type UserLease } from '#libs/executions';
import { Configuration, Logger, type Principal } from '#libs/kernel';
import { clientGone } from '../http/client-gone.js';
import { ExecutionStream } from './execution-stream.js';
import { Heartbeats } from './heartbeats.js';
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
  readonly #maxBufferBytes: number;

  constructor(
    private readonly events: ExecutionEvents,
    private readonly right: StandingRight,
    private readonly beats: Heartbeats,
    private readonly metrics: StreamMetrics,
    private readonly log: Logger,
    configuration: Configuration,
  ) {
    this.#maxBufferBytes = configuration.get('datapipelines.sse.max-buffer-bytes');
  }

  /**
   * Resolves once the stream stands: what handled the request is let go, and the stream lives by itself. Refusals throw
   * before anything is written; afterwards the stream tells. 204 when nothing is left to send.
   */
  async stream(principal: Principal, request: StreamRequest, response: Response): Promise<void> {
    const gone = clientGone(response);
    const lease = request.lease ?? (await this.events.stream(principal));
    let stands = false;
    try {
      const { executionId, after, attach } = request;
      const watch = await this.events.watch(principal, executionId, { after, signal: gone.signal, attach });
      if (watch.nothingLeft) {
        response.status(204);
        response.setHeader('Cache-Control', 'no-store');
        response.end();
        return;
      }
      if (gone.signal.aborted) return;
      const writer = this.#writer(principal, watch.executionId, response);
      const stream = new ExecutionStream(watch, writer, { response, metrics: this.metrics, log: this.log });
      stands = true;
      void writer.closed.then((reason) => {
        stream.closed(reason);
        gone.abort(STREAM_ENDED);
        return lease.release();
      });
      stream.start(request.headers);
    } finally {
      if (!stands) {
        gone.abort(STREAM_ENDED);
        await lease.release();
      }
    }
  }

  #writer(principal: Principal, executionId: string, response: Response): SseWriter {
    return new SseWriter(response, {
      beats: this.beats,
      maxBufferBytes: this.#maxBufferBytes,
      // The credential first: a principal of an hour ago says nothing about a key revoked since.
      stillAllowed: async () =>
        (await this.right.lost(response.req, principal, 'execution.read')) === undefined &&
        (await this.events.mayStillWatch(principal, executionId)),
    });
  }
}

import { Injectable } from '@nestjs/common';
import { Gauge, Histogram, register } from 'prom-client';
import type { CloseReason } from './sse-writer.js';

/** How a run ended, for streams that followed it to its end. */
const BY_LAST_EVENT: Record<string, string> = {
  data_ready: 'completed',
  pipeline_completed: 'completed',
  pipeline_failed: 'failed',
  execution_aborted: 'aborted',
};

/** Open streams and how long they lasted (02 §12). */
@Injectable()
export class StreamMetrics {
  readonly #active = gauge();
  readonly #duration = histogram();

  /** Returns the start, to be given back at the close. */
  opened(): number {
    this.#active.inc();
    return performance.now();
  }

  closed(opened: number, reason: CloseReason, lastEvent: string): void {
    this.#active.dec();
    const label = reason === 'ended' ? (BY_LAST_EVENT[lastEvent] ?? 'completed') : reason;
    this.#duration.observe({ close_reason: label }, (performance.now() - opened) / 1000);
  }
}

function gauge(): Gauge {
  const name = 'datapipelines_sse_streams_active';
  return (register.getSingleMetric(name) as Gauge | undefined) ?? new Gauge({ name, help: 'Open event streams.' });
}

function histogram(): Histogram<'close_reason'> {
  const name = 'datapipelines_sse_stream_duration_seconds';
  return (
    (register.getSingleMetric(name) as Histogram<'close_reason'> | undefined) ??
    new Histogram({
      name,
      help: 'How long event streams lasted.',
      labelNames: ['close_reason'],
      buckets: [0.1, 1, 10, 60, 600, 3600],
    })
  );
}

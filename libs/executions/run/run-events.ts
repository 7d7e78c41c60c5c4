import { RawJson, toWireStamp } from '#libs/kernel';
import type { MappingWarning } from '#libs/datasources';
import type { Column } from '#libs/typesystem';
import type { EventType } from '../events/event-record.js';
import { payloadText } from '../events/payload-text.js';
import type { FailureRecord } from './failure-record.js';
import type { ProgressSample } from './node-progress.js';
import type { NodeEntry, NodeStat } from './node-stats.js';
import type { AbortReason } from './outcome.js';

/** What every payload of one run shares. */
export interface RunFacts {
  executionId: string;
  correlationId: string;
  pipelineId: string;
  pipelineVersion: number;
  /** Microseconds, as the database gave it. */
  startedAt: string;
}

export interface UnnumberedEvent {
  type: EventType;
  timestamp: string;
  data: string;
}

/** `data_ready` without its rows: neither log holds result rows (contract 02 §10.2). */
export interface DataReady {
  pipeline_id: string;
  schema: WireColumn[];
  /** Rows of the first page. */
  row_count: number;
  total_rows: number;
  has_more: boolean;
  result_url: string;
  expires_at: string;
  ttl_seconds: number;
  warnings: MappingWarning[];
}

/** A column descriptor on the wire (contract 01 §5.2). */
export interface WireColumn {
  name: string;
  type: string;
  precision?: number;
  scale?: number;
  nullable?: boolean;
}

export function wireColumn({ name, type, precision, scale, nullable }: Column): WireColumn {
  return {
    name,
    type,
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(nullable === undefined ? {} : { nullable }),
  };
}

/**
 * Longest stored payload (contract 02 §10.2). Beyond it node statistics keep ids, statuses and codes only, and what a
 * caller sent or a result is wide by is left out: the record of the run and the result tell it.
 */
const PAYLOAD_BYTES = 256 * 1024;

/** Builds the payloads of contract 02 §10.1 for one run. */
export class RunEvents {
  constructor(private readonly facts: RunFacts) {}

  executionStarted(at: Date, parametersJson: string): UnnumberedEvent {
    const { pipelineId, pipelineVersion, startedAt } = this.facts;
    const fields = {
      pipeline_id: pipelineId,
      pipeline_version: pipelineVersion,
      started_at: toWireStamp(startedAt),
    };
    const event = this.#event('execution_started', at, { ...fields, parameters: new RawJson(parametersJson) });
    if (isStorable(event)) return event;
    return this.#event('execution_started', at, { ...fields, parameters: {}, parameters_omitted: true });
  }

  nodeStarted(at: Date, nodeId: string): UnnumberedEvent {
    return this.#event('node_started', at, { node_id: nodeId, attempt: 1, started_at: at.toISOString() });
  }

  nodeProgress(at: Date, sample: ProgressSample): UnnumberedEvent {
    return this.#event('node_progress', at, { ...sample });
  }

  nodeCompleted(at: Date, entry: NodeEntry): UnnumberedEvent {
    const { status: _status, ...fields } = entry;
    return this.#event('node_completed', at, fields);
  }

  nodeFailed(at: Date, stat: NodeStat, error: FailureRecord): UnnumberedEvent {
    const { node_id, started_at, completed_at: failed_at, duration_ms } = stat;
    return this.#event('node_failed', at, { node_id, started_at, failed_at, duration_ms, error });
  }

  pipelineCompleted(at: Date, durationMs: number, stats: readonly NodeStat[]): UnnumberedEvent {
    return this.#terminal('pipeline_completed', at, stats, {
      ...this.#span(),
      completed_at: at.toISOString(),
      duration_ms: durationMs,
      status: 'SUCCESS',
    });
  }

  pipelineFailed(
    at: Date,
    durationMs: number,
    stats: readonly NodeStat[],
    nodeId: string | null,
    error: FailureRecord,
  ) {
    return this.#terminal('pipeline_failed', at, stats, {
      ...this.#span(),
      failed_at: at.toISOString(),
      duration_ms: durationMs,
      status: 'FAILED',
      failed_node_id: nodeId,
      error,
    });
  }

  executionAborted(at: Date, stats: readonly NodeStat[], reason: AbortReason): UnnumberedEvent {
    const { pipelineId } = this.facts;
    return this.#terminal('execution_aborted', at, stats, {
      pipeline_id: pipelineId,
      aborted_at: at.toISOString(),
      reason,
      status: 'ABORTED',
    });
  }

  dataReady(at: Date, ready: DataReady): UnnumberedEvent {
    const fields = { ...ready, rows: [], rows_omitted: true };
    const event = this.#event('data_ready', at, fields);
    if (isStorable(event)) return event;
    return this.#event('data_ready', at, { ...fields, schema: [], schema_omitted: true, warnings: [] });
  }

  #span() {
    const { pipelineId, pipelineVersion, startedAt } = this.facts;
    return { pipeline_id: pipelineId, pipeline_version: pipelineVersion, started_at: toWireStamp(startedAt) };
  }

  #terminal(type: EventType, at: Date, stats: readonly NodeStat[], fields: Record<string, unknown>): UnnumberedEvent {
    const event = this.#event(type, at, { ...fields, node_stats: stats });
    if (isStorable(event)) return event;
    const node_stats = stats.map(({ node_id, status, error_code }) => ({ node_id, status, error_code }));
    return this.#event(type, at, { ...fields, node_stats });
  }

  #event(type: EventType, at: Date, fields: Record<string, unknown>): UnnumberedEvent {
    const { executionId, correlationId } = this.facts;
    const data = payloadText({ execution_id: executionId, correlation_id: correlationId, ...fields });
    return { type, timestamp: at.toISOString(), data };
  }
}

function isStorable({ data }: UnnumberedEvent): boolean {
  return Buffer.byteLength(data) <= PAYLOAD_BYTES;
}

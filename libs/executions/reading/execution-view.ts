import { isJsonObject, RawJson, readJson, toWireStamp, writeJson } from '#libs/kernel';
import type { ExecutionStatus } from '../records/execution-status.js';
import type { ExecutionTrigger } from '../records/execution-inserts.js';

/** An execution as every door shows it (03 §5.6): the row's columns under their names, nulls present. */
export interface ExecutionView {
  execution_id: string;
  pipeline_id: string;
  pipeline_version: number;
  status: ExecutionStatus;
  /** As sent while RUNNING, the resolved Context afterwards; JSON text with its own numbers. */
  parameters: RawJson;
  triggered_by: string;
  triggered_via: ExecutionTrigger;
  correlation_id: string | null;
  started_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  failed_node_id: string | null;
  error: RawJson | null;
  node_stats: RawJson | null;
  /** History, not availability. */
  result_row_count: number | null;
  result_size_bytes: number | null;
  parent_execution_id: string | null;
  parent_node_id: string | null;
  root_execution_id: string;
  /** The version was a draft when it ran. */
  draft_run: boolean;
  /** On a single read, while the result lives. */
  result_url?: string;
  result_expires_at?: string;
}

export interface ExecutionRow {
  execution_id: string;
  pipeline_id: string;
  pipeline_version: number;
  status: ExecutionStatus;
  parameters_json: string;
  triggered_by: string;
  triggered_via: ExecutionTrigger;
  correlation_id: string | null;
  started_at: string;
  completed_at: string | null;
  duration_ms: string | null;
  failed_node_id: string | null;
  error_json: string | null;
  node_stats_json: string | null;
  result_row_count: string | null;
  result_size_bytes: string | null;
  parent_execution_id: string | null;
  parent_node_id: string | null;
  root_execution_id: string;
  draft_run: boolean;
}

export function executionView(row: ExecutionRow, detail: 'full' | 'structured'): ExecutionView {
  return {
    execution_id: row.execution_id,
    pipeline_id: row.pipeline_id,
    pipeline_version: row.pipeline_version,
    status: row.status,
    parameters: new RawJson(row.parameters_json),
    triggered_by: row.triggered_by,
    triggered_via: row.triggered_via,
    correlation_id: row.correlation_id,
    started_at: toWireStamp(row.started_at),
    completed_at: row.completed_at === null ? null : toWireStamp(row.completed_at),
    duration_ms: count(row.duration_ms),
    failed_node_id: row.failed_node_id,
    error: row.error_json === null ? null : new RawJson(errorText(row.error_json, detail)),
    node_stats: row.node_stats_json === null ? null : new RawJson(row.node_stats_json),
    result_row_count: count(row.result_row_count),
    result_size_bytes: count(row.result_size_bytes),
    parent_execution_id: row.parent_execution_id,
    parent_node_id: row.parent_node_id,
    root_execution_id: row.root_execution_id,
    draft_run: row.draft_run,
  };
}

/** Milliseconds, rows and bytes of one run stay far below 2^53. */
function count(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Rows written before an operator chose `structured` still hold the rest. */
function errorText(json: string, detail: 'full' | 'structured'): string {
  if (detail === 'full') return json;
  const error = readJson(json);
  if (!isJsonObject(error)) return json;
  const { sql: _sql, exception: _exception, ...shown } = error;
  return writeJson(shown);
}

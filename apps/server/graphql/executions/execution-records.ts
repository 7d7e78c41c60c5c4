import { isExactNumber, isJsonObject, readJson, type JsonObject, type JsonValue, type RawJson } from '#libs/kernel';
import type { ExecutionErrorType, NodeStatType } from './execution.types.js';

/** The stored failure record (02 §5.5). */
export function errorOf(stored: RawJson | null): ExecutionErrorType | null {
  const record = stored && readJson(stored.text);
  if (!isJsonObject(record)) return null;
  return {
    code: text(record['code']) ?? 'internal',
    message: text(record['message']) ?? '',
    userMessage: text(record['user_message']) ?? '',
    details: record['details'] ?? {},
    docUrl: text(record['doc_url']) ?? '',
    node: record['node'] ?? null,
    sql: text(record['sql']),
    exception: record['exception'] ?? null,
  };
}

/** The stored statistics of nodes (02 §3). */
export function nodeStatsOf(stored: RawJson | null): NodeStatType[] | null {
  const entries = stored && readJson(stored.text);
  return Array.isArray(entries) ? entries.flatMap((entry) => (isJsonObject(entry) ? [nodeStat(entry)] : [])) : null;
}

function nodeStat(entry: JsonObject): NodeStatType {
  return {
    nodeId: text(entry['node_id']) ?? '',
    status: text(entry['status']) ?? '',
    startedAt: text(entry['started_at']),
    completedAt: text(entry['completed_at']),
    durationMs: measured(entry['duration_ms']),
    rowsOut: measured(entry['rows_out']),
    bytesOut: measured(entry['bytes_out']),
    errorCode: text(entry['error_code']),
    errorMessage: text(entry['error_message']),
    childExecutionId: text(entry['child_execution_id']),
  };
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** Milliseconds, rows and bytes of one node stay below 2^53; -1 stands for what was not measured. */
function measured(value: JsonValue | undefined): number | null {
  const number = isExactNumber(value) ? Number(value.value) : -1;
  return number < 0 ? null : number;
}

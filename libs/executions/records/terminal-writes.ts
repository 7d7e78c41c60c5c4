import { Injectable } from '@nestjs/common';
import { actArrays, auditedActsSql, type AuditEntry } from '#libs/audit';
import { Batcher, boundArray, boundArrays, Database, isConnectionFailure, isContention } from '#libs/persistence';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventRecord } from '../events/event-record.js';

/** The last write of a run: its row and every event the table does not hold yet, together or not at all (02 §3). */
export interface TerminalRecord {
  executionId: string;
  status: 'SUCCESS' | 'FAILED' | 'ABORTED';
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  completedAt: string;
  durationMs: number;
  failedNodeId: string | null;
  errorJson: string | null;
  nodeStatsJson: string;
  resultRowCount: number | null;
  resultSizeBytes: number | null;
  /** The resolved Context, or what was sent if the run ended before there was one. */
  parametersJson: string;
  events: readonly EventRecord[];
  /** What the audit trail says of this end, committed with it. */
  audited?: AuditEntry | undefined;
}

/** `fenced`: the row was no longer RUNNING. `unavailable`: the database did not answer for as long as we try. */
export type TerminalResult = 'committed' | 'fenced' | 'unavailable';

const MAX_ROWS = 100;
const GIVE_UP_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

@Injectable()
export class TerminalWrites {
  readonly #batcher: Batcher<TerminalRecord, boolean>;

  constructor(private readonly database: Database) {
    this.#batcher = new Batcher((records) => this.#write(records), {
      maxItems: MAX_ROWS,
      concurrency: 1,
      separable: (error) => !isConnectionFailure(error),
    });
  }

  /**
   * Writes until the database takes it, at most 60 s: it may be away, or let others go first. An attempt whose answer was
   * lost may have been committed, so a later one that finds no RUNNING row looks whether it is our own outcome that
   * stands there.
   */
  async write(record: TerminalRecord, signal?: AbortSignal): Promise<TerminalResult> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    let uncertain = false;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        if (await this.#batcher.add(record)) return 'committed';
        return uncertain && (await this.#isOurs(record)) ? 'committed' : 'fenced';
      } catch (error) {
        const lost = isConnectionFailure(error);
        if (!lost && !isContention(error)) throw error;
        uncertain ||= lost;
      }
      if (signal?.aborted || performance.now() + pause > giveUpAt) return 'unavailable';
      await delay(pause);
    }
  }

  async #isOurs({ executionId, status, completedAt }: TerminalRecord): Promise<boolean> {
    const rows = await this.database.control.query(
      'SELECT 1 FROM pipeline_executions WHERE execution_id = $1 AND status = $2 AND completed_at = $3::timestamptz',
      [executionId, status, completedAt],
    );
    return rows.length === 1;
  }

  /** One statement, so one round trip and one commit for all. Rows are locked in id order, as everywhere. */
  async #write(records: readonly TerminalRecord[]): Promise<boolean[]> {
    const events = records.flatMap((record) => record.events.map((event) => ({ id: record.executionId, ...event })));
    const audited = records.flatMap(({ executionId, audited: entry }) => (entry ? [{ act: executionId, entry }] : []));
    const done = await this.database.control.query<{ execution_id: string }>(TERMINAL_SQL, [
      records.map((record) => record.executionId),
      records.map((record) => record.status),
      records.map((record) => record.completedAt),
      records.map((record) => record.durationMs),
      records.map((record) => record.failedNodeId),
      records.map((record) => record.errorJson),
      records.map((record) => record.nodeStatsJson),
      records.map((record) => record.resultRowCount),
      records.map((record) => record.resultSizeBytes),
      records.map((record) => record.parametersJson),
      events.map((event) => event.id),
      events.map((event) => event.eventId),
      events.map((event) => event.type),
      events.map((event) => event.timestamp),
      events.map((event) => event.data),
      ...actArrays(audited),
    ]);
    const committed = new Set(done.map((row) => row.execution_id));
    return records.map((record) => committed.has(record.executionId));
  }
}

const ENDS = ['uuid', 'text', 'timestamptz', 'bigint', 'text', 'text', 'text', 'bigint', 'bigint', 'text'];
const EVENTS = ['uuid', 'int', 'text', 'timestamptz', 'text'];

const TERMINAL_SQL = `
  WITH ended AS (
    SELECT * FROM unnest(${boundArrays(1, ENDS)})
      AS e(execution_id, status, completed_at, duration_ms, failed_node_id, error_json, node_stats_json,
           result_row_count, result_size_bytes, parameters_json)
  ), held AS (
    SELECT x.execution_id FROM pipeline_executions x
     WHERE x.execution_id = ANY(${boundArray(1, 'uuid')}) AND x.status = 'RUNNING'
     ORDER BY x.execution_id FOR NO KEY UPDATE
  ), done AS (
    UPDATE pipeline_executions x
       SET status = e.status, completed_at = e.completed_at, duration_ms = e.duration_ms,
           failed_node_id = e.failed_node_id, error_json = e.error_json::jsonb,
           node_stats_json = e.node_stats_json::jsonb, result_row_count = e.result_row_count,
           result_size_bytes = e.result_size_bytes, parameters_json = e.parameters_json::jsonb
      FROM ended e JOIN held USING (execution_id)
     WHERE x.execution_id = e.execution_id AND x.status = 'RUNNING'
    RETURNING x.execution_id
  ), logged AS (
    INSERT INTO execution_events (execution_id, event_id, event_type, timestamp, payload_json)
    SELECT v.execution_id, v.event_id, v.event_type, v.emitted_at, v.payload::jsonb
      FROM unnest(${boundArrays(11, EVENTS)})
        AS v(execution_id, event_id, event_type, emitted_at, payload)
      JOIN done USING (execution_id)
    ON CONFLICT DO NOTHING
  ), told AS (
    ${auditedActsSql(16, 'done', 'execution_id')}
  )
  SELECT execution_id FROM done`;

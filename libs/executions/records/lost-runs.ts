import { PenstockError, RawJson, toWireStamp, writeJson, type ErrorCode, type Logger } from '#libs/kernel';
import type { Database, Transaction } from '#libs/persistence';
import type { TransientStore } from '#libs/transient';
import { continuing, type EventRecord, type EventType } from '../events/event-record.js';
import type { ExecutionMetrics } from '../execution-metrics.js';
import type { LogReader } from '../events/log-reader.js';
import { payloadText } from '../events/payload-text.js';
import type { EventTable } from './event-table.js';

/** A run that nobody works on any more. */
export interface LostRun {
  execution_id: string;
  correlation_id: string | null;
}

interface LostRow extends LostRun {
  pipeline_id: string;
  pipeline_version: number;
  triggered_by: string;
  started_at: string;
  completed_at: string;
  /** A BIGINT arrives as its text. */
  duration_ms: string;
  node_stats_json: string;
  error_json: string;
}

/** What becomes of a lost run. */
export interface LostEnding {
  /** Word of the log. */
  event: string;
  status: 'ABORTED' | 'FAILED';
  error: { code: ErrorCode; message?: string; details?: Record<string, unknown> };
}

const READ_LIMIT = 1000;
const LOG_TTL_SECONDS = 3600;

/**
 * Ends runs in the place of whoever ran them (contract 02 §9.2): one row per transaction, with everything a watcher needs
 * to see that it is over. Of several that try, one succeeds.
 */
export class LostRuns {
  constructor(
    private readonly database: Database,
    private readonly table: EventTable,
    private readonly store: TransientStore,
    private readonly reader: LogReader,
    private readonly metrics: ExecutionMetrics,
    private readonly logger: Logger,
    private readonly baseUrl: string,
  ) {}

  /** Ends the run that `pick` holds in the transaction it is given; false when there is none. */
  async end(pick: (tx: Transaction) => Promise<LostRun | undefined>, ending: LostEnding): Promise<boolean> {
    let terminal: EventRecord | undefined;
    const lost = await this.database.control.transaction(async (tx) => {
      const run = await pick(tx);
      const row = run && (await this.#end(tx, run, ending));
      if (row) terminal = await this.#log(tx, row, ending);
      return row;
    });
    if (!lost || !terminal) return false;
    // Whoever ran it cannot count it any more.
    this.metrics.executionEnded(ending.status, lost.pipeline_id, Number(lost.duration_ms) / 1000);
    this.logger.warn(ending.event, {
      execution_id: lost.execution_id,
      pipeline_id: lost.pipeline_id,
      correlation_id: lost.correlation_id ?? undefined,
    });
    await this.#tidy(lost, terminal);
    return true;
  }

  /** The seed's statement for one row; nodes that were running are ABORTED with it. */
  async #end(tx: Transaction, run: LostRun, { status, error }: LostEnding): Promise<LostRow | undefined> {
    const { code, ...told } = error;
    const body = new PenstockError(code, told).toBody(this.baseUrl);
    const rows = await tx.query<LostRow>(
      `UPDATE pipeline_executions
          SET status = $3, completed_at = NOW(),
              duration_ms = EXTRACT(EPOCH FROM (NOW() - started_at)) * 1000, error_json = $2::jsonb,
              node_stats_json = COALESCE((
                SELECT jsonb_agg(CASE WHEN s.stat->>'status' = 'RUNNING'
                                      THEN s.stat || '{"status": "ABORTED", "rows_out": -1, "duration_ms": 0}' ELSE s.stat END
                                 ORDER BY s.place)
                  FROM jsonb_array_elements(node_stats_json) WITH ORDINALITY AS s(stat, place)), '[]')
        WHERE execution_id = $1 AND status = 'RUNNING'
      RETURNING execution_id, pipeline_id, pipeline_version, triggered_by, correlation_id, started_at, completed_at,
                duration_ms, node_stats_json, error_json`,
      [run.execution_id, writeJson({ ...body, correlation_id: run.correlation_id }), status],
    );
    return rows[0];
  }

  /** Copies what only the transient log has, and adds the terminal event behind it. */
  async #log(tx: Transaction, row: LostRow, ending: LostEnding): Promise<EventRecord> {
    const [{ last }] = (await tx.query<{ last: number }>(
      'SELECT COALESCE(MAX(event_id), 0)::int AS last FROM execution_events WHERE execution_id = $1',
      [row.execution_id],
    )) as [{ last: number }];
    const missing = continuing(await this.#loggedElsewhere(row.execution_id, last), last);
    const terminal: EventRecord = {
      eventId: (missing.at(-1)?.eventId ?? last) + 1,
      timestamp: toWireStamp(row.completed_at),
      ...terminalOf(row, ending),
    };
    await this.table.append(tx, row.execution_id, [...missing, terminal]);
    return terminal;
  }

  async #loggedElsewhere(executionId: string, after: number): Promise<EventRecord[]> {
    try {
      return (await this.reader.recent(executionId, after, READ_LIMIT)) ?? [];
    } catch (error) {
      this.logger.warn('The transient log of a lost run was not read.', { execution_id: executionId, error });
      return [];
    }
  }

  /** What the lost run held in the store; all of it expires by itself as well. */
  async #tidy(
    { execution_id: id, triggered_by }: LostRow,
    { eventId, type, timestamp, data }: EventRecord,
  ): Promise<void> {
    try {
      const events = [{ eventId, type, timestamp, payload: data }];
      await this.store.appendEvents([{ executionId: id, events, ttlSeconds: LOG_TTL_SECONDS, sealed: true }]);
      await this.store.clearCancel(id);
      await this.store.releaseLease('slots', triggered_by, id);
    } catch (error) {
      this.logger.warn('The store was not tidied after a lost run.', { execution_id: id, error });
    }
  }
}

function terminalOf(row: LostRow, { status }: LostEnding): { type: EventType; data: string } {
  const at = toWireStamp(row.completed_at);
  const common = {
    execution_id: row.execution_id,
    correlation_id: row.correlation_id,
    pipeline_id: row.pipeline_id,
    status,
    node_stats: new RawJson(row.node_stats_json),
  };
  if (status === 'ABORTED') {
    const data = payloadText({ ...common, aborted_at: at, reason: 'instance_lost' });
    return { type: 'execution_aborted', data };
  }
  const data = payloadText({
    ...common,
    pipeline_version: row.pipeline_version,
    started_at: toWireStamp(row.started_at),
    failed_at: at,
    duration_ms: Number(row.duration_ms),
    failed_node_id: null,
    error: new RawJson(row.error_json),
  });
  return { type: 'pipeline_failed', data };
}

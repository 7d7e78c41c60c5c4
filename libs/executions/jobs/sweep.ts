import { Injectable } from '@nestjs/common';
import { Configuration, PenstockError, RawJson, toWireStamp, writeJson } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { TransientStore } from '#libs/transient';
import { continuing, type EventRecord } from '../events/event-record.js';
import { payloadText } from '../events/payload-text.js';
import { ExecutionMetrics } from '../execution-metrics.js';
import { ExecutionInstance } from '../instance/execution-instance.js';
import { EventTable } from '../records/event-table.js';

interface LostRow {
  execution_id: string;
  pipeline_id: string;
  triggered_by: string;
  correlation_id: string | null;
  completed_at: string;
  node_stats_json: string;
}

/** How long nothing was heard of a run: since its last heartbeat, or since its start when it never had one. */
interface Silence {
  silentSeconds: number;
  unstampedMinutes: number;
}

const MISSED_BEATS = 3;
const LOST = 'pipeline.execution.instance_lost';
/** Rows of one tick; what is left waits for the next. */
const MOST_ROWS = 1000;
const READ_LIMIT = 1000;

/**
 * Ends the runs of instances that are gone (seed §8.3, contract 02 §9.2): one row per transaction, with everything a
 * watcher needs to see that it is over. A family lives on one instance, so a child goes with its lost parent, however
 * young its own last beat is. Safe on every instance at once.
 */
@Injectable()
export class Sweep {
  readonly #heartbeatSeconds: number;
  readonly #staleMinutes: number;
  readonly #baseUrl: string;

  constructor(
    private readonly database: Database,
    private readonly table: EventTable,
    private readonly store: TransientStore,
    private readonly instance: ExecutionInstance,
    private readonly metrics: ExecutionMetrics,
    configuration: Configuration,
  ) {
    this.#heartbeatSeconds = configuration.get('datapipelines.executor.heartbeat-seconds');
    this.#staleMinutes = configuration.get('datapipelines.executions.stale-timeout-minutes');
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  /** The number of runs ended. Rejects when the database does not answer. */
  async run(): Promise<number> {
    if (!this.instance.trust.holds()) return 0;
    return this.#sweep({ silentSeconds: MISSED_BEATS * this.#heartbeatSeconds, unstampedMinutes: this.#staleMinutes });
  }

  /**
   * Ends every run there is, without waiting for missed heartbeats: for the boot of a process that is known to be alone
   * with its database, where whoever began them is gone. The number of runs ended.
   */
  async runAlone(): Promise<number> {
    let swept = 0;
    for (;;) {
      const some = await this.#sweep({ silentSeconds: 0, unstampedMinutes: 0 });
      swept += some;
      if (some < MOST_ROWS) return swept;
    }
  }

  async #sweep(silence: Silence): Promise<number> {
    let swept = 0;
    while (swept < MOST_ROWS && (await this.#sweepOne(silence))) swept++;
    if (swept > 0) this.metrics.swept(swept);
    return swept;
  }

  async #sweepOne(silence: Silence): Promise<boolean> {
    let terminal: EventRecord | undefined;
    const lost = await this.database.control.transaction(async (tx) => {
      const row = await this.#end(tx, silence);
      if (row) terminal = await this.#log(tx, row);
      return row;
    });
    if (!lost || !terminal) return false;
    this.instance.logger.warn('execution.instance_lost', {
      execution_id: lost.execution_id,
      pipeline_id: lost.pipeline_id,
      correlation_id: lost.correlation_id ?? undefined,
    });
    await this.#tidy(lost, terminal);
    return true;
  }

  /** The seed's statement for one row; nodes that were running are ABORTED with it. */
  async #end(tx: Transaction, { silentSeconds, unstampedMinutes }: Silence): Promise<LostRow | undefined> {
    const [candidate] = await tx.query<{ execution_id: string; correlation_id: string | null }>(
      `SELECT e.execution_id, e.correlation_id FROM pipeline_executions e
        WHERE e.status = 'RUNNING'
          AND (e.heartbeat_at < NOW() - make_interval(secs => $1)
               OR (e.heartbeat_at IS NULL AND e.started_at < NOW() - make_interval(mins => $2))
               OR EXISTS (SELECT FROM pipeline_executions p
                           WHERE p.execution_id = e.parent_execution_id AND p.status = 'ABORTED'
                             AND p.error_json->>'code' = $3))
        LIMIT 1 FOR UPDATE OF e SKIP LOCKED`,
      [silentSeconds, unstampedMinutes, LOST],
    );
    if (!candidate) return undefined;
    const rows = await tx.query<LostRow>(
      `UPDATE pipeline_executions
          SET status = 'ABORTED', completed_at = NOW(),
              duration_ms = EXTRACT(EPOCH FROM (NOW() - started_at)) * 1000, error_json = $2::jsonb,
              node_stats_json = COALESCE((
                SELECT jsonb_agg(CASE WHEN s.stat->>'status' = 'RUNNING'
                                      THEN s.stat || '{"status": "ABORTED", "rows_out": -1, "duration_ms": 0}' ELSE s.stat END
                                 ORDER BY s.place)
                  FROM jsonb_array_elements(node_stats_json) WITH ORDINALITY AS s(stat, place)), '[]')
        WHERE execution_id = $1 AND status = 'RUNNING'
      RETURNING execution_id, pipeline_id, triggered_by, correlation_id, completed_at, node_stats_json`,
      [candidate.execution_id, this.#lostError(candidate.correlation_id)],
    );
    return rows[0];
  }

  /** Copies what only the transient log has, and adds the terminal event behind it. */
  async #log(tx: Transaction, row: LostRow): Promise<EventRecord> {
    const [{ last }] = (await tx.query<{ last: number }>(
      'SELECT COALESCE(MAX(event_id), 0)::int AS last FROM execution_events WHERE execution_id = $1',
      [row.execution_id],
    )) as [{ last: number }];
    const missing = continuing(await this.#loggedElsewhere(row.execution_id, last), last);
    const terminal: EventRecord = {
      eventId: (missing.at(-1)?.eventId ?? last) + 1,
      type: 'execution_aborted',
      timestamp: toWireStamp(row.completed_at),
      data: payloadText({
        execution_id: row.execution_id,
        correlation_id: row.correlation_id,
        pipeline_id: row.pipeline_id,
        aborted_at: toWireStamp(row.completed_at),
        reason: 'instance_lost',
        status: 'ABORTED',
        node_stats: new RawJson(row.node_stats_json),
      }),
    };
    await this.table.append(tx, row.execution_id, [...missing, terminal]);
    return terminal;
  }

  async #loggedElsewhere(executionId: string, after: number): Promise<EventRecord[]> {
    try {
      return (await this.instance.reader.recent(executionId, after, READ_LIMIT)) ?? [];
    } catch (error) {
      this.instance.logger.warn('The transient log of a lost run was not read.', { execution_id: executionId, error });
      return [];
    }
  }

  /** What the dead instance held in the store; all of it expires by itself as well. */
  async #tidy(
    { execution_id: id, triggered_by }: LostRow,
    { eventId, type, timestamp, data }: EventRecord,
  ): Promise<void> {
    try {
      const expiry = { ttlSeconds: LOG_TTL_SECONDS, sealed: true };
      await this.store.appendEvents(id, [{ eventId, type, timestamp, payload: data }], expiry);
      await this.store.clearCancel(id);
      await this.store.releaseLease('slots', triggered_by, id);
    } catch (error) {
      this.instance.logger.warn('The store was not tidied after a lost run.', { execution_id: id, error });
    }
  }

  #lostError(correlationId: string | null): string {
    const body = new PenstockError(LOST).toBody(this.#baseUrl);
    return writeJson({ ...body, correlation_id: correlationId });
  }
}

const LOG_TTL_SECONDS = 3600;

import { Injectable } from '@nestjs/common';
import { AuditRepository } from '#libs/audit';
import { Configuration } from '#libs/kernel';
import { Database } from '#libs/persistence';

const SLICE_ROWS = 10_000;
/** Advisory locks: one instance at a time. The rows themselves cannot be locked, UPDATE is revoked on them (04 §10). */
const EVENTS_LOCK = 0x7065_6e01;
const AUDIT_LOCK = 0x7065_6e02;

/** Deletes what is kept long enough, in slices (seed §8.1, §8.2). Execution rows are never touched. */
@Injectable()
export class Retention {
  readonly #eventDays: number;
  readonly #auditDays: number;

  constructor(
    private readonly database: Database,
    private readonly trail: AuditRepository,
    configuration: Configuration,
  ) {
    this.#eventDays = configuration.get('datapipelines.executions.event-retention-days');
    this.#auditDays = configuration.get('datapipelines.audit.retention-days');
  }

  /** Events of long ended executions, up the primary key, which is time order, until a slice has nothing due. */
  async events(): Promise<number> {
    let deleted = 0;
    for (let after = '0'; ;) {
      const slice = await this.#eventSlice(after);
      if (!slice || slice.deleted === 0 || slice.last === null) return deleted;
      deleted += slice.deleted;
      after = slice.last;
    }
  }

  /** Rows of the trail by age. */
  async audit(): Promise<number> {
    for (let deleted = 0; ;) {
      const slice = await this.#auditSlice();
      deleted += slice;
      if (slice === 0) return deleted;
    }
  }

  #eventSlice(after: string): Promise<{ last: string | null; deleted: number } | undefined> {
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ held: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS held', [EVENTS_LOCK]);
      if (!lock?.held) return undefined;
      // Runs by their key and events by their range: plain joins would read both tables whole for one slice (09 §1).
      const rows = await tx.query<{ last: string | null; deleted: number }>(
        `WITH slice AS (
           SELECT id, execution_id FROM execution_events WHERE id > $1::bigint ORDER BY id LIMIT ${SLICE_ROWS}
         ), gone AS (
           DELETE FROM execution_events
            WHERE id > $1::bigint AND id <= (SELECT MAX(id) FROM slice)
              AND id IN (SELECT s.id FROM slice s
                          CROSS JOIN LATERAL (SELECT FROM pipeline_executions e
                                               WHERE e.execution_id = s.execution_id AND e.completed_at IS NOT NULL
                                                 AND e.completed_at < NOW() - make_interval(days => $2) LIMIT 1) due)
           RETURNING id
         )
         SELECT (SELECT MAX(id) FROM slice)::text AS last, (SELECT COUNT(*) FROM gone)::int AS deleted`,
        [after, this.#eventDays],
      );
      return rows[0];
    });
  }

  #auditSlice(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ held: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS held', [AUDIT_LOCK]);
      if (!lock?.held) return 0;
      return this.trail.deleteOlderThan(tx, this.#auditDays, SLICE_ROWS);
    });
  }
}

import { Injectable } from '@nestjs/common';
import { KeysetOrder, newId, sizeOf, writeJson, type KeysetPage } from '#libs/kernel';
import { Database } from '#libs/persistence';
import type { CheckOutcome } from './check-runner.js';

export type CheckVia = 'mcp' | 'rest' | 'ui' | 'release';

/** Whose run it is. */
export interface RunOrigin {
  pipelineId: string;
  version: number;
  ranBy: string;
  via: CheckVia;
  correlationId: string;
}

export interface CheckRunRow {
  id: string;
  check_id: string;
  version: number;
  /** Microseconds, UTC. */
  ran_at: string;
  ran_by: string | null;
  via: CheckVia;
  /** JSON text. */
  parameters: string;
  /** JSON text. */
  observed: string | null;
  verdict: 'pass' | 'fail' | 'error';
  message: string | null;
  correlation_id: string | null;
  /** Whole milliseconds as text. */
  duration_ms: string | null;
}

const COLUMNS = `id, check_id, version, ran_at, ran_by, via, parameters_json AS parameters, observed_json AS observed,
  verdict, message, correlation_id, duration_ms`;

/** A check of a version. */
export interface CheckRef {
  pipelineId: string;
  version: number;
  checkId: string;
}

/** A run with the place of its check among those asked for, counted from 1. */
export interface PlacedCheckRun extends CheckRunRow {
  asked: number;
}

const NEWEST_FIRST = new KeysetOrder(
  { sql: 'r.ran_at', kind: 'timestamptz', descending: true },
  { sql: 'r.id', kind: 'uuid', descending: true },
);

/** The runs `r` of the checks `a` that were asked for; a purged draft's number may have come back. */
const ASKED = `FROM unnest($2::uuid[], $3::int[], $4::text[]) WITH ORDINALITY AS a(pipeline_id, version, check_id, place)
           JOIN pipelines p ON p.id = a.pipeline_id AND p.workspace_id = $1
           JOIN pipeline_versions v ON v.pipeline_id = p.id AND v.version = a.version
           JOIN pipeline_check_runs r ON r.pipeline_id = v.pipeline_id AND r.version = v.version
            AND r.check_id = a.check_id AND r.ran_at >= v.created_at`;

/** The history of check runs: rows are added, never changed, and go only with their pipeline (seed §4.20). */
@Injectable()
export class CheckRunRepository {
  constructor(private readonly database: Database) {}

  /** Commits one run; undefined when the version was purged meanwhile. */
  async add(origin: RunOrigin, outcome: CheckOutcome): Promise<CheckRunRow | undefined> {
    const rows = await this.database.query<CheckRunRow>(
      `INSERT INTO pipeline_check_runs (id, pipeline_id, version, check_id, ran_by, via, parameters_json, observed_json,
                                        verdict, message, correlation_id, duration_ms)
       SELECT $1::uuid, v.pipeline_id, v.version, $4::text, $5::uuid, $6::text, $7::jsonb, $8::jsonb, $9::text, $10::text,
              $11::text, $12::bigint
         FROM pipeline_versions v WHERE v.pipeline_id = $2::uuid AND v.version = $3::int
       RETURNING ${COLUMNS}`,
      [
        newId(),
        origin.pipelineId,
        origin.version,
        outcome.check.id,
        origin.ranBy,
        origin.via,
        outcome.parametersJson,
        outcome.observed && writeJson(outcome.observed),
        outcome.verdict,
        outcome.message,
        origin.correlationId,
        outcome.durationMs,
      ],
    );
    return rows[0];
  }

  /** The newest run of each check since the version row was made: a purged draft's number may have come back. */
  async latest(pipelineId: string, version: number): Promise<Map<string, CheckRunRow>> {
    const rows = await this.database.query<CheckRunRow>(
      `SELECT DISTINCT ON (check_id) ${COLUMNS} FROM pipeline_check_runs r
        WHERE r.pipeline_id = $1 AND r.version = $2
          AND r.ran_at >= (SELECT v.created_at FROM pipeline_versions v WHERE v.pipeline_id = $1 AND v.version = $2)
        ORDER BY check_id, ran_at DESC, id DESC`,
      [pipelineId, version],
    );
    return new Map(rows.map((row) => [row.check_id, row]));
  }

  /**
   * The newest runs of each of several checks since their version row was made, in one statement: one more than asked
   * for each, with the place of its check among those asked for. `after` and `before` are places of runs.
   */
  async pages(workspaceId: string, checks: readonly CheckRef[], page: KeysetPage): Promise<PlacedCheckRun[]> {
    const values = asked(workspaceId, checks);
    const beyond = NEWEST_FIRST.beyond(page, values);
    return this.database.query<PlacedCheckRun>(
      `SELECT ${COLUMNS}, asked FROM (
         SELECT r.*, a.place::int AS asked, row_number() OVER (PARTITION BY a.place ${NEWEST_FIRST.orderBy(page)}) AS place
           ${ASKED} AND ${beyond}) y
        WHERE y.place <= $${values.push(sizeOf(page) + 1)} ORDER BY y.asked, y.place`,
      values,
    );
  }

  /** How many runs each of several checks has, by its place among them. */
  async counts(workspaceId: string, checks: readonly CheckRef[]): Promise<{ asked: number; count: number }[]> {
    return this.database.query(
      `SELECT a.place::int AS asked, count(*)::int AS count ${ASKED} GROUP BY 1`,
      asked(workspaceId, checks),
    );
  }
}

function asked(workspaceId: string, checks: readonly CheckRef[]): unknown[] {
  return [
    workspaceId,
    checks.map(({ pipelineId }) => pipelineId),
    checks.map(({ version }) => version),
    checks.map(({ checkId }) => checkId),
  ];
}

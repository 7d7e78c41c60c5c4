import { Injectable } from '@nestjs/common';
import {
  isUuid,
  keysetItems,
  KeysetOrder,
  keysetPages,
  sizeOf,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { boundArrays, Database } from '#libs/persistence';
import type { ExecutionStatus } from '../records/execution-status.js';
import type { ExecutionTrigger } from '../records/execution-inserts.js';
import type { ExecutionRow } from './execution-view.js';

export interface ExecutionFilter {
  pipelineId?: string | undefined;
  status?: ExecutionStatus | undefined;
  /** RFC 3339; both exclusive. */
  startedAfter?: string | undefined;
  startedBefore?: string | undefined;
  triggeredVia?: ExecutionTrigger | undefined;
  rootExecutionId?: string | undefined;
}

/** A row and its place in the list, for `after` and `before`. */
export interface PlacedRow {
  row: ExecutionRow;
  cursor: string;
}

const COLUMNS = `e.execution_id, e.pipeline_id, e.pipeline_version, e.status, e.parameters_json, e.triggered_by,
  e.triggered_via, e.correlation_id, e.started_at, e.completed_at, e.duration_ms, e.failed_node_id, e.error_json,
  e.node_stats_json, e.result_row_count, e.result_size_bytes, e.parent_execution_id, e.parent_node_id,
  e.root_execution_id, (v.released_at IS NULL OR e.started_at < v.released_at) AS draft_run`;

const FROM = `FROM pipeline_executions e
  JOIN pipelines p ON p.id = e.pipeline_id
  JOIN pipeline_versions v ON v.pipeline_id = e.pipeline_id AND v.version = e.pipeline_version`;

/** Equal moments stand by id. */
const NEWEST_FIRST = new KeysetOrder(
  { sql: 'e.started_at', kind: 'timestamptz', descending: true },
  { sql: 'e.execution_id', kind: 'uuid' },
);

/** Of which parent several lists are read together. */
export type ExecutionParent = 'pipeline' | 'parent';
const PARENT_COLUMN: Readonly<Record<ExecutionParent, 'pipeline_id' | 'parent_execution_id'>> = {
  pipeline: 'pipeline_id',
  parent: 'parent_execution_id',
};

/** A run under the eyes of somebody whose right was judged before. */
export interface WatchedExecution {
  executionId: string;
  workspaceId: string;
  /** Whether only runs that served this very key are to be seen. */
  servedOnly: boolean;
  keyId: string | undefined;
}

interface Predicate {
  sql: string;
  params: unknown[];
}

/** Reads executions. The workspace, and what an endpoint key may see, are predicates of every statement (03 §4). */
@Injectable()
export class ExecutionRepository {
  constructor(private readonly database: Database) {}

  /** Undefined for an unknown id and for one that is not the principal's to see, alike. */
  async find(principal: Principal, workspaceId: string, executionId: string): Promise<ExecutionRow | undefined> {
    if (!isUuid(executionId)) return undefined;
    const { sql, params } = visible(principal, workspaceId);
    params.push(executionId);
    const rows = await this.database.query<ExecutionRow>(
      `SELECT ${COLUMNS} ${FROM} WHERE ${sql} AND e.execution_id = $${params.length}`,
      params,
    );
    return rows[0];
  }

  /** Whether each of these is still to be seen by who watches it: one statement for all who ask together. */
  async stillVisible(watched: readonly WatchedExecution[]): Promise<boolean[]> {
    const rows = await this.database.query<{ place: string }>(STILL_VISIBLE, [
      watched.map(({ executionId }) => executionId),
      watched.map(({ workspaceId }) => workspaceId),
      watched.map(({ servedOnly }) => servedOnly),
      watched.map(({ keyId }) => keyId ?? null),
    ]);
    const places = new Set(rows.map(({ place }) => Number(place)));
    return watched.map((_, index) => places.has(index + 1));
  }

  async count(workspaceId: string, filter: ExecutionFilter): Promise<number> {
    const { sql, params } = filtered(workspaceId, filter);
    const rows = await this.database.query<{ total: number }>(
      `SELECT COUNT(*)::int AS total FROM pipeline_executions e JOIN pipelines p ON p.id = e.pipeline_id WHERE ${sql}`,
      params,
    );
    return rows[0]?.total ?? 0;
  }

  /** Several by id, in one statement. */
  async among(workspaceId: string, ids: readonly string[]): Promise<ExecutionRow[]> {
    const known = ids.filter(isUuid);
    if (known.length === 0) return [];
    return this.database.query<ExecutionRow>(
      `SELECT ${COLUMNS} ${FROM} WHERE p.workspace_id = $1 AND e.execution_id = ANY($2::uuid[])`,
      [workspaceId, known],
    );
  }

  /** A page of each of several parents' runs, newest first, in one statement. 400 `graphql.cursor_invalid`. */
  async pages(
    workspaceId: string,
    by: ExecutionParent,
    parents: readonly string[],
    filter: ExecutionFilter,
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<PlacedRow>>> {
    const column = PARENT_COLUMN[by];
    const { sql, params } = filtered(workspaceId, filter);
    const among = `e.${column} = ANY($${params.push(parents.filter(isUuid))}::uuid[])`;
    const beyond = NEWEST_FIRST.beyond(page, params);
    const rows = await this.database.query<ExecutionRow>(
      `SELECT * FROM (
         SELECT ${COLUMNS}, row_number() OVER (PARTITION BY e.${column} ${NEWEST_FIRST.orderBy(page)}) AS place
         ${FROM} WHERE ${sql} AND ${among} AND ${beyond}) x
        WHERE x.place <= $${params.push(sizeOf(page) + 1)} ORDER BY x.${column}, x.place`,
      params,
    );
    const pages = keysetPages(rows, (row) => row[column] ?? '', page);
    return new Map([...pages].map(([parent, { items, ...more }]) => [parent, { items: items.map(placed), ...more }]));
  }

  /** How many runs each parent has, in one statement. */
  async counts(
    workspaceId: string,
    by: ExecutionParent,
    parents: readonly string[],
    filter: ExecutionFilter,
  ): Promise<Map<string, number>> {
    const column = PARENT_COLUMN[by];
    const { sql, params } = filtered(workspaceId, filter);
    params.push(parents.filter(isUuid));
    const rows = await this.database.query<{ parent: string; total: number }>(
      `SELECT e.${column} AS parent, count(*)::int AS total
         FROM pipeline_executions e JOIN pipelines p ON p.id = e.pipeline_id
        WHERE ${sql} AND e.${column} = ANY($${params.length}::uuid[]) GROUP BY 1`,
      params,
    );
    return new Map(rows.map(({ parent, total }) => [parent, total]));
  }

  /** Newest first. 400 `graphql.cursor_invalid`. */
  async keyset(workspaceId: string, filter: ExecutionFilter, page: KeysetPage): Promise<KeysetListing<PlacedRow>> {
    const { sql, params } = filtered(workspaceId, filter);
    const beyond = NEWEST_FIRST.beyond(page, params);
    const rows = await this.database.query<ExecutionRow>(
      `SELECT ${COLUMNS} ${FROM} WHERE ${sql} AND ${beyond} ${NEWEST_FIRST.tail(page, params)}`,
      params,
    );
    const { items, ...more } = keysetItems(rows, page);
    return { items: items.map(placed), ...more };
  }
}

function placed(row: ExecutionRow): PlacedRow {
  return { row, cursor: KeysetOrder.place(row.started_at, row.execution_id) };
}

function visible(principal: Principal, workspaceId: string): Predicate {
  const params: unknown[] = [workspaceId];
  let sql = 'p.workspace_id = $1';
  if (principal.keyKind !== 'endpoint') return { sql, params };
  params.push(principal.keyId);
  sql += ` AND ${servedBy('$2')}`;
  return { sql, params };
}

/** The audit row is committed right before the run it proves (03 §7). */
function servedBy(key: string): string {
  return `EXISTS (
    SELECT 1 FROM audit_log a
     WHERE a.event = 'endpoint.served' AND a.key_id = ${key} AND a.details_json->>'execution_id' = e.execution_id::text
       AND a.timestamp BETWEEN e.started_at - INTERVAL '10 minutes' AND e.started_at + INTERVAL '1 minute')`;
}

const STILL_VISIBLE = `
  SELECT w.place
    FROM unnest(${boundArrays(1, ['uuid', 'uuid', 'boolean', 'text'])}) WITH ORDINALITY
      AS w(execution_id, workspace_id, served_only, key_id, place)
    JOIN pipeline_executions e ON e.execution_id = w.execution_id
    JOIN pipelines p ON p.id = e.pipeline_id AND p.workspace_id = w.workspace_id
   WHERE NOT w.served_only OR ${servedBy('w.key_id')}`;

function filtered(workspaceId: string, filter: ExecutionFilter): Predicate {
  const params: unknown[] = [workspaceId];
  const terms = ['p.workspace_id = $1'];
  const add = (term: (placeholder: string) => string, value: string | undefined) => {
    if (value === undefined) return;
    params.push(value);
    terms.push(term(`$${params.length}`));
  };
  for (const id of [filter.pipelineId, filter.rootExecutionId])
    if (id !== undefined && !isUuid(id)) terms.push('FALSE');
  if (!terms.includes('FALSE')) {
    add((value) => `e.pipeline_id = ${value}::uuid`, filter.pipelineId);
    add((value) => `e.root_execution_id = ${value}::uuid`, filter.rootExecutionId);
  }
  add((value) => `e.status = ${value}`, filter.status);
  add((value) => `e.triggered_via = ${value}`, filter.triggeredVia);
  add((value) => `e.started_at > ${value}::timestamptz`, filter.startedAfter);
  add((value) => `e.started_at < ${value}::timestamptz`, filter.startedBefore);
  return { sql: terms.join(' AND '), params };
}

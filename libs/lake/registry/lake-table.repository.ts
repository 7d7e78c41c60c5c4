import { Injectable } from '@nestjs/common';

import type { Queryable } from '#libs/persistence';

import type { LakeFormat, LakeTable, LakeTableFields } from './lake-table.js';

/** What the making of one view came to; null = it stands. */
export interface ViewOutcome {
  id: string;
  problem: string | null;
}

interface Row {
  id: string;
  namespace: string;
  name: string;
  format: LakeFormat;
  location: string;
  partition_column: string | null;
  registered_by: string;
  registered_at: string;
  last_error: string | null;
  last_error_at: string | null;
}

/** The unique constraint that decides who registered a name first. */
export const TABLE_NAME_TAKEN = 'uq_lake_tables_datasource_namespace_name';

/** A segment has no dot, so the dotted form of a namespace is exact. */
const COLUMNS = `id, array_to_string(namespace, '.') AS namespace, name, format, location, partition_column, registered_by,
  registered_at, last_error, last_error_at`;

/** Rows are inserted and deleted; only `last_error` and its stamp are ever updated. */
@Injectable()
export class LakeTableRepository {
  async all(q: Queryable, datasource: string): Promise<LakeTable[]> {
    const rows = await q.query<Row>(
      `SELECT ${COLUMNS} FROM lake_tables WHERE datasource_id = $1 ORDER BY lake_tables.namespace, name`,
      [datasource],
    );
    return rows.map(tableOf);
  }

  /** Of several datasources in one statement, by datasource. */
  async among(q: Queryable, datasources: readonly string[]): Promise<Map<string, LakeTable[]>> {
    const rows = await q.query<Row & { datasource_id: string }>(
      `SELECT datasource_id, ${COLUMNS} FROM lake_tables WHERE datasource_id = ANY ($1::text[])
        ORDER BY lake_tables.namespace, name`,
      [datasources],
    );
    return Map.groupBy(
      rows.map((row) => ({ ...tableOf(row), datasource: row.datasource_id })),
      (table) => table.datasource,
    );
  }

  /**
   * @param lastError what is known to be wrong with it from the start
   * @throws DatabaseFailure on {@link TABLE_NAME_TAKEN}
   */
  async insert(
    q: Queryable,
    datasource: string,
    fields: LakeTableFields,
    registeredBy: string,
    lastError: string | null,
  ): Promise<LakeTable | undefined> {
    const { namespace, name, format, location, partitionColumn } = fields;
    const [row] = await q.query<Row>(
      `INSERT INTO lake_tables (datasource_id, namespace, name, format, location, partition_column, registered_by, last_error, last_error_at)
       VALUES ($1, $2::text[], $3, $4, $5, $6, $7, $8::text, CASE WHEN $8::text IS NOT NULL THEN NOW() END) RETURNING ${COLUMNS}`,
      [datasource, namespace, name, format, location, partitionColumn, registeredBy, lastError],
    );
    return row && tableOf(row);
  }

  /** False when there is no such table. */
  async remove(q: Queryable, datasource: string, namespace: readonly string[], name: string): Promise<boolean> {
    const removed = await q.execute(
      'DELETE FROM lake_tables WHERE datasource_id = $1 AND namespace = $2::text[] AND name = $3',
      [datasource, namespace, name],
    );
    return removed === 1;
  }

  /** Transitions only: an unchanged outcome writes nothing, so the stamp reads as "broken since" (seed §4.15). */
  async recordOutcomes(q: Queryable, outcomes: readonly ViewOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await q.execute(
      `UPDATE lake_tables t
          SET last_error = o.problem,
              last_error_at = CASE WHEN o.problem IS NULL THEN NULL
                                   WHEN t.last_error IS NULL THEN NOW() ELSE t.last_error_at END
         FROM unnest($1::uuid[], $2::text[]) AS o (id, problem)
        WHERE t.id = o.id AND t.last_error IS DISTINCT FROM o.problem`,
      [outcomes.map(({ id }) => id), outcomes.map(({ problem }) => problem)],
    );
  }
}

function tableOf(row: Row): LakeTable {
  return {
    id: row.id,
    namespace: row.namespace.split('.'),
    name: row.name,
    format: row.format,
    location: row.location,
    partitionColumn: row.partition_column,
    registeredBy: row.registered_by,
    registeredAt: row.registered_at,
    lastError: row.last_error,
    lastErrorAt: row.last_error_at,
  };
}

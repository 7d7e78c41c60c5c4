import type { CatalogQuery, CatalogTable } from '../../introspection/introspection.js';
import {
  countOf,
  indexesOf,
  sizeOf,
  type ColumnStatistics,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';
import { DriverFailure } from '../driver-failure.js';

/** A name compares letter by letter whatever the database's collation says. */
const EXACTLY = 'COLLATE Latin1_General_100_BIN2';
const NAMED = `
    FROM sys.objects o
    JOIN sys.schemas s ON s.schema_id = o.schema_id AND s.name ${EXACTLY} = @dp_1 AND o.name ${EXACTLY} = @dp_2`;

/** Rows of the heap or the clustered index. STATS_DATE is in the server's own time; a view has neither. */
const TABLE = `
  SELECT (SELECT CAST(SUM(p.rows) AS varchar(20)) FROM sys.partitions p
           WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)),
         (SELECT CONVERT(varchar(33), DATEADD(minute, DATEDIFF(minute, SYSDATETIME(), SYSUTCDATETIME()),
                   MAX(STATS_DATE(t.object_id, t.stats_id))), 126)
            FROM sys.stats t WHERE t.object_id = o.object_id)
  ${NAMED}
   WHERE o.type = 'U'`;

/** One row per key column, in order; columns that are only carried along are no key, and those of a columnstore have no order. */
const INDEXES = `
  SELECT i.name, CAST(i.is_unique AS varchar(1)), CAST(i.is_primary_key AS varchar(1)), LOWER(i.type_desc), c.name
  ${NAMED}
    JOIN sys.indexes i ON i.object_id = o.object_id AND i.name IS NOT NULL AND i.is_disabled = 0 AND i.is_hypothetical = 0
    JOIN sys.index_columns k ON k.object_id = o.object_id AND k.index_id = i.index_id
    JOIN sys.columns c ON c.object_id = o.object_id AND c.column_id = k.column_id
   WHERE k.key_ordinal > 0 OR (i.type IN (5, 6) AND k.is_included_column = 1)
   ORDER BY i.is_primary_key DESC, i.name, k.key_ordinal, k.index_column_id`;

/**
 * The histogram of the newest statistics that each column leads, shown to who may read the column: distinct values, the
 * share of NULLs (a step of their own, without a key), and the keys of the first and the last step.
 */
const COLUMNS = `
  SELECT h.name, CAST(SUM(h.distinct_range_rows + CASE WHEN h.high IS NULL THEN 0 ELSE 1 END) AS varchar(20)),
         CONVERT(varchar(40), SUM(CASE WHEN h.high IS NULL THEN h.equal_rows ELSE 0 END)
           / NULLIF(SUM(h.equal_rows + h.range_rows), 0), 2),
         MAX(CASE WHEN h.step = h.first_step THEN h.high END), MAX(CASE WHEN h.step = h.last_step THEN h.high END)
    FROM (
      SELECT r.*, MIN(CASE WHEN r.high IS NULL THEN NULL ELSE r.step END) OVER (PARTITION BY r.name) AS first_step,
             MAX(CASE WHEN r.high IS NULL THEN NULL ELSE r.step END) OVER (PARTITION BY r.name) AS last_step
        FROM (
          SELECT c.name, g.step_number AS step, CONVERT(nvarchar(256), g.range_high_key, 126) AS high,
                 CAST(g.equal_rows AS float) AS equal_rows, CAST(g.range_rows AS float) AS range_rows,
                 g.distinct_range_rows
          ${NAMED}
            JOIN sys.columns c ON c.object_id = o.object_id
           CROSS APPLY (
              SELECT TOP (1) t.stats_id FROM sys.stats t
                JOIN sys.stats_columns k ON k.object_id = t.object_id AND k.stats_id = t.stats_id
               WHERE t.object_id = o.object_id AND k.stats_column_id = 1 AND k.column_id = c.column_id AND t.has_filter = 0
               ORDER BY STATS_DATE(t.object_id, t.stats_id) DESC, t.stats_id) t
           CROSS APPLY sys.dm_db_stats_histogram(o.object_id, t.stats_id) g
           WHERE o.type = 'U') r) h
   GROUP BY h.name`;

/** From `sys.partitions`, `sys.indexes` and the histograms, which older servers and lesser logins do not show. */
export const mssqlStatistics: StatisticsReading = async (query, table, columns) => {
  const address = [table.namespace[0], table.name];
  const [facts] = await query(TABLE, address);
  const rows = countOf(facts?.[0]);
  const known = new Map((await histograms(query, address)).map((row) => [row[0] ?? '', row]));
  const asOf = facts?.[1];
  return {
    ...(asOf == null ? {} : { stats_as_of: `${asOf}Z` }),
    ...sizeOf(rows, 'sys.partitions'),
    indexes: await indexes(query, table),
    columns: columns.map(({ name }) => columnStatistics(name, known.get(name))),
  };
};

async function histograms(query: CatalogQuery, address: readonly unknown[]): Promise<(string | null)[][]> {
  try {
    return await query(COLUMNS, address);
  } catch (error) {
    if (error instanceof DriverFailure && ['missing_table', 'permission', 'other'].includes(error.kind)) return [];
    throw error;
  }
}

async function indexes(query: CatalogQuery, { namespace, name }: CatalogTable): Promise<IndexStatistics[]> {
  const rows = await query(INDEXES, [namespace[0], name]);
  return indexesOf(
    rows.map(([index, unique, primary, kind, column]) => ({
      name: index ?? '',
      unique: unique === '1',
      primary: primary === '1',
      kind: kind ?? '',
      column: column ?? '',
    })),
  );
}

function columnStatistics(name: string, row: readonly (string | null)[] | undefined): ColumnStatistics {
  if (!row) return { name, distinct_is_ratio: false };
  const [, distinctText, nullText, min, max] = row;
  const distinct = countOf(distinctText);
  return {
    name,
    ...(distinct === undefined ? {} : { n_distinct: distinct }),
    distinct_is_ratio: false,
    ...(nullText == null ? {} : { null_fraction: Number(nullText) }),
    ...(min == null || max == null ? {} : { min, max }),
  };
}

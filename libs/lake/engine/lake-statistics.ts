import type { ColumnStatistics, StatisticsReading } from '#libs/datasources';
import { readJson } from '#libs/kernel';

import { literal } from '../tables/table-scan.js';
import { REGISTRY_COPY } from './view-names.js';

/** Most rows of metadata that are read: a row group has one per column. */
const MOST_ROWS = 65_536;
/** Types whose bounds are compared as values; footers hold them as text. */
const COMPARED =
  /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIMESTAMP.*)$/;

/** What the footers of a table's files say, or the manifests of an Iceberg table. */
export const lakeStatistics: StatisticsReading = async (query, { namespace, name, partitionColumn }, columns) => {
  const [table] = await query(
    `SELECT files, format, statistics FROM ${REGISTRY_COPY} WHERE namespace = CAST($1 AS VARCHAR) AND name = CAST($2 AS VARCHAR)`,
    [JSON.stringify(namespace), name],
  );
  const [files, format, counted] = table ?? [];
  const partition = partitionColumn ?? null;
  const view = {
    indexes:
      partition === null
        ? []
        : [{ name: 'partition', columns: [partition], unique: false, primary: false, kind: 'partition' }],
    columns: columns.map((column) => ({ name: column.name, distinct_is_ratio: false })),
  };
  if (counted != null) return { ...view, ...manifestStatistics(counted, view.columns) };
  if (files == null || files === '[]' || format !== 'parquet') return { stats_source: 'none' as const, ...view };
  const footers = `(SELECT * FROM parquet_metadata(${files}) LIMIT ${MOST_ROWS + 1})`;
  const [sums] = await query(
    `WITH m AS ${footers}
     SELECT count(*), (SELECT sum(n) FROM (SELECT DISTINCT file_name, row_group_id, row_group_num_rows AS n FROM m)) FROM m`,
    [],
  );
  const rows = Number(sums?.[1] ?? 0);
  if (Number(sums?.[0] ?? 0) > MOST_ROWS) return { stats_source: 'none' as const, ...view };
  const footersSay = { row_estimate: rows, stats_source: 'parquet_metadata' as const, ...view };
  if (rows === 0) return footersSay;
  const described: ColumnStatistics[] = [];
  for (const { name: column, sourceType } of columns) {
    const compared = COMPARED.test(sourceType);
    const bound = (text: string): string => (compared ? `TRY_CAST(${text} AS ${sourceType})` : text);
    const [row] = await query(
      `WITH m AS ${footers} SELECT sum(stats_null_count), CAST(min(${bound('stats_min_value')}) AS VARCHAR),
                CAST(max(${bound('stats_max_value')}) AS VARCHAR), bool_and(stats_null_count IS NOT NULL)
           FROM m WHERE path_in_schema = ${literal(column)}`,
      [],
    );
    const [nulls, min, max, complete] = row ?? [];
    described.push({
      name: column,
      distinct_is_ratio: false,
      ...(complete === 'true' && nulls != null ? { null_fraction: Number(nulls) / rows } : {}),
      ...(min == null ? {} : { min }),
      ...(max == null ? {} : { max }),
    });
  }
  return { ...footersSay, columns: described };
};

/** An Iceberg table counts its rows and NULLs while it is written; bounds stand there in bytes and are cut short. */
function manifestStatistics(text: string, columns: readonly ColumnStatistics[]) {
  const counts = readJson(text) as { rows: string; columns: { name: string; nulls: string }[] };
  const rows = Number(counts.rows);
  const nulls = new Map(counts.columns.map(({ name, nulls: count }) => [name, Number(count)]));
  return {
    row_estimate: rows,
    stats_source: 'iceberg_manifest' as const,
    columns: columns.map((column) => {
      const count = nulls.get(column.name);
      return count === undefined || rows === 0 ? column : { ...column, null_fraction: count / rows };
    }),
  };
}

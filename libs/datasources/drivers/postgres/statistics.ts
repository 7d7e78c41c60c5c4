import { compareDecimals, parseNumberToken, type ColumnType } from '#libs/typesystem';

import type { CatalogColumn, CatalogQuery, CatalogTable } from '../../introspection/introspection.js';
import {
  countOf,
  indexesOf,
  sizeOf,
  type ColumnStatistics,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';

/** A view has no rows of its own; -1 is a table nobody has analysed. */
const TABLE = `
  SELECT CASE WHEN c.relkind IN ('r', 'p', 'm', 'f') AND c.reltuples >= 0 THEN c.reltuples::numeric(30, 0)::text END,
         to_char(COALESCE(GREATEST(s.last_analyze, s.last_autoanalyze), GREATEST(s.last_vacuum, s.last_autovacuum))
                 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
   WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`;

/** One row per key column of each valid index, in order; columns that are only carried along are no key. */
const INDEXES = `
  SELECT ic.relname, i.indisunique::text, i.indisprimary::text, am.amname,
         COALESCE(a.attname, pg_catalog.pg_get_indexdef(i.indexrelid, k.position::int, true))
    FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
    JOIN pg_catalog.pg_am am ON am.oid = ic.relam
   CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k(attribute, position)
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attribute AND k.attribute > 0
   WHERE n.nspname = $1 AND c.relname = $2 AND i.indisvalid AND k.position <= i.indnkeyatts
   ORDER BY i.indisprimary DESC, ic.relname, k.position`;

/** One row per column, the figures of the whole tree before those of the table alone, and its known values in order. */
const COLUMNS = `
  SELECT DISTINCT ON (s.attname) s.attname, s.n_distinct::text, s.null_frac::text,
         b.bounds[1], b.bounds[array_length(b.bounds, 1)],
         pg_catalog.array_to_json(s.most_common_vals::text::text[])::text
    FROM pg_catalog.pg_stats s
   CROSS JOIN LATERAL (SELECT s.histogram_bounds::text::text[] AS bounds) b
   WHERE s.schemaname = $1 AND s.tablename = $2
   ORDER BY s.attname, s.inherited DESC`;

/** Longest value that is shown. */
const MAX_VALUE_CHARS = 256;

/** From `pg_class`, `pg_index` and `pg_stats`, which shows a column's figures only to who may read the column. */
export const postgresStatistics: StatisticsReading = async (query, table, columns) => {
  const address = [table.namespace[0], table.name];
  const [facts] = await query(TABLE, address);
  const rows = countOf(facts?.[0]);
  const known = new Map((await query(COLUMNS, address)).map((row) => [row[0] ?? '', row]));
  return {
    ...(facts?.[1] == null ? {} : { stats_as_of: facts[1] }),
    ...sizeOf(rows, 'pg_class'),
    indexes: await indexes(query, table),
    columns: columns.map((column) => columnStatistics(column, known.get(column.name))),
  };
};

async function indexes(query: CatalogQuery, { namespace, name }: CatalogTable): Promise<IndexStatistics[]> {
  const rows = await query(INDEXES, [namespace[0], name]);
  return indexesOf(
    rows.map(([index, unique, primary, kind, column]) => ({
      name: index ?? '',
      unique: unique === 'true',
      primary: primary === 'true',
      kind: kind ?? '',
      column: column ?? '',
    })),
  );
}

function columnStatistics({ name, mapped }: CatalogColumn, row: (string | null)[] | undefined): ColumnStatistics {
  if (!row) return { name, distinct_is_ratio: false };
  const [, distinctText, nullText, first, last, commonJson] = row;
  const distinct = Number(distinctText ?? 0);
  const common = commonJson == null ? [] : (JSON.parse(commonJson) as string[]);
  const bounds = extremes(mapped.type, first ?? null, last ?? null, common);
  return {
    name,
    // Zero is "unknown", a negative figure a share of the rows.
    ...(distinct === 0 ? {} : { n_distinct: Math.abs(distinct) }),
    distinct_is_ratio: distinct < 0,
    ...(nullText == null ? {} : { null_fraction: Number(nullText) }),
    ...bounds,
  };
}

/**
 * The histogram leaves the commonest values out, so its ends alone may lie. Types whose text does not sort like their
 * values get ends only when there are no common values beside the histogram.
 */
function extremes(
  type: ColumnType,
  first: string | null,
  last: string | null,
  common: readonly string[],
): { min?: string; max?: string } {
  const compare = comparison(type);
  if (!compare && common.length > 0) return {};
  const values = [...(first === null ? [] : [first]), ...(last === null ? [] : [last]), ...common];
  let min: string | undefined;
  let max: string | undefined;
  for (const value of values) {
    if (min === undefined || (compare?.(value, min) ?? 1) < 0) min = value;
    if (max === undefined || (compare?.(value, max) ?? 1) > 0) max = value;
  }
  if (min === undefined || max === undefined || Math.max(min.length, max.length) > MAX_VALUE_CHARS) return {};
  return { min, max };
}

function comparison({ type }: ColumnType): ((left: string, right: string) => number) | undefined {
  switch (type) {
    case 'INTEGER':
    case 'BIGINTEGER':
    case 'DECIMAL':
    case 'BIGDECIMAL':
      return numerically;
    case 'DATE':
    case 'TIME':
    case 'TIMESTAMP':
      return (left, right) => (left < right ? -1 : left > right ? 1 : 0);
    default:
      return undefined;
  }
}

/** What is no plain number (NaN, Infinity) never wins. */
function numerically(left: string, right: string): number {
  const [a, b] = [parseNumberToken(left), parseNumberToken(right)];
  return a && b ? compareDecimals(a, b) : 0;
}

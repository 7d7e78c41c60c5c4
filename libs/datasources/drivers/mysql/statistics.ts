import type { CatalogQuery, CatalogTable } from '../../introspection/introspection.js';
import {
  countOf,
  type ColumnStatistics,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';

const TABLE = `
  SELECT t.TABLE_ROWS FROM information_schema.TABLES t
   WHERE t.TABLE_SCHEMA = ? AND t.TABLE_NAME = ? AND BINARY t.TABLE_SCHEMA = ? AND BINARY t.TABLE_NAME = ?`;

/** A column without a name is an expression. */
const INDEXES = `
  SELECT s.INDEX_NAME, s.NON_UNIQUE, s.INDEX_TYPE, s.COLUMN_NAME, s.CARDINALITY
    FROM information_schema.STATISTICS s
   WHERE s.TABLE_SCHEMA = ? AND s.TABLE_NAME = ? AND BINARY s.TABLE_SCHEMA = ? AND BINARY s.TABLE_NAME = ?
   ORDER BY s.INDEX_NAME <> 'PRIMARY', s.INDEX_NAME, s.SEQ_IN_INDEX`;

/** From `information_schema`: the engine's estimate of rows, and how many values the first column of an index has. */
export const mysqlStatistics: StatisticsReading = async (query, table, columns) => {
  const { namespace, name } = table;
  const [facts] = await query(TABLE, [namespace[0], name, namespace[0], name]);
  const rows = countOf(facts?.[0]);
  const { indexes, distinct } = await read(query, table);
  return {
    ...(rows === undefined ? {} : { row_estimate: rows }),
    stats_source: rows === undefined ? 'none' : 'information_schema.tables',
    indexes,
    columns: columns.map((column): ColumnStatistics => {
      const known = distinct.get(column.name);
      return { name: column.name, ...(known === undefined ? {} : { n_distinct: known }), distinct_is_ratio: false };
    }),
  };
};

async function read(
  query: CatalogQuery,
  { namespace, name }: CatalogTable,
): Promise<{ indexes: IndexStatistics[]; distinct: Map<string, number> }> {
  const indexes = new Map<string, IndexStatistics>();
  const distinct = new Map<string, number>();
  for (const [index, nonUnique, kind, column, cardinality] of await query(INDEXES, [
    namespace[0],
    name,
    namespace[0],
    name,
  ])) {
    const known = indexes.get(index ?? '');
    const entry = known ?? {
      name: index ?? '',
      columns: [],
      unique: nonUnique === '0',
      primary: index === 'PRIMARY',
      kind: (kind ?? '').toLowerCase(),
    };
    const values = countOf(cardinality);
    if (!known && column != null && values !== undefined) distinct.set(column, values);
    entry.columns.push(column ?? '(expression)');
    indexes.set(entry.name, entry);
  }
  return { indexes: [...indexes.values()], distinct };
}

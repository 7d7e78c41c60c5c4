import type { CatalogQuery, CatalogTable } from '../../introspection/introspection.js';
import {
  countOf,
  indexesOf,
  sizeOf,
  type ColumnStatistics,
  type StatisticsReading,
  type IndexedColumn,
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
  const listed = await indexed(query, table);
  const distinct = leadingValues(listed);
  return {
    ...sizeOf(rows, 'information_schema.tables'),
    indexes: indexesOf(listed.map(({ values: _values, ...index }) => index)),
    columns: columns.map((column): ColumnStatistics => {
      const known = distinct.get(column.name);
      return { name: column.name, ...(known === undefined ? {} : { n_distinct: known }), distinct_is_ratio: false };
    }),
  };
};

interface CountedColumn extends IndexedColumn {
  values: number | undefined;
}

async function indexed(query: CatalogQuery, { namespace, name }: CatalogTable): Promise<CountedColumn[]> {
  const rows = await query(INDEXES, [namespace[0], name, namespace[0], name]);
  return rows.map(([index, nonUnique, kind, column, cardinality]) => ({
    name: index ?? '',
    unique: nonUnique === '0',
    primary: index === 'PRIMARY',
    kind: (kind ?? '').toLowerCase(),
    column: column ?? '(expression)',
    values: countOf(cardinality),
  }));
}

/** How many values the first column of each index has. */
function leadingValues(listed: readonly CountedColumn[]): Map<string, number> {
  const distinct = new Map<string, number>();
  listed.forEach(({ name, column, values }, at) => {
    if (listed[at - 1]?.name !== name && values !== undefined) distinct.set(column, values);
  });
  return distinct;
}

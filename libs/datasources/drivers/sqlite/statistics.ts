import type { CatalogColumn, CatalogQuery } from '../../introspection/introspection.js';
import {
  countOf,
  indexesOf,
  sizeOf,
  type ColumnStatistics,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';

const INDEXES = `
  SELECT l.name, l."unique", l.origin, i.seqno, i.name FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) i
   WHERE i.key = 1 ORDER BY l.origin <> 'pk', l.name, i.seqno`;
const HAS_STATISTICS = `SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'`;
/** `stat` is the number of rows, then the average rows per value of the first column, of the first two, … */
const STATISTICS = `SELECT idx, stat FROM sqlite_stat1 WHERE tbl = ?`;

/** From `sqlite_stat1`, which ANALYZE fills; a file nobody has analysed tells its indexes only. */
export const sqliteStatistics: StatisticsReading = async (query, { name: table }, columns) => {
  const [has] = await query(HAS_STATISTICS, []);
  const stats = has ? await query(STATISTICS, [table]) : [];
  const figures = new Map(stats.map(([index, stat]) => [index ?? null, (stat ?? '').split(' ')]));
  const rows = [...figures.values()].map(([count]) => countOf(count)).find((count) => count !== undefined);
  const indexes = await tableIndexes(query, table, columns);
  return {
    ...sizeOf(rows, 'sqlite_stat1'),
    indexes,
    columns: columns.map(({ name }) => columnStatistics(name, rows, indexes, figures)),
  };
};

async function tableIndexes(
  query: CatalogQuery,
  table: string,
  columns: readonly CatalogColumn[],
): Promise<IndexStatistics[]> {
  const rows = await query(INDEXES, [table]);
  const named = indexesOf(
    rows.map(([name, unique, origin, , column]) => ({
      name: name ?? '',
      unique: unique === '1',
      primary: origin === 'pk',
      kind: 'btree',
      column: column ?? '(expression)',
    })),
  );
  const [rowid, ...more] = columns.filter(({ primaryKey }) => primaryKey !== null);
  // An INTEGER PRIMARY KEY is the row's own number; no index is listed for it.
  if (!rowid || more.length > 0 || named.some(({ primary }) => primary)) return named;
  return [{ name: 'rowid', columns: [rowid.name], unique: true, primary: true, kind: 'rowid' }, ...named];
}

function columnStatistics(
  name: string,
  rows: number | undefined,
  indexes: readonly IndexStatistics[],
  figures: ReadonlyMap<string | null, string[]>,
): ColumnStatistics {
  const leading = indexes.find(({ columns }) => columns[0] === name);
  if (rows === undefined || !leading) return { name, distinct_is_ratio: false };
  if (leading.unique && leading.columns.length === 1) return { name, n_distinct: rows, distinct_is_ratio: false };
  const perValue = countOf(figures.get(leading.name)?.[1]);
  if (perValue === undefined || perValue === 0) return { name, distinct_is_ratio: false };
  return { name, n_distinct: Math.max(1, Math.round(rows / perValue)), distinct_is_ratio: false };
}

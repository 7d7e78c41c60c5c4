import type { CatalogColumn, CatalogQuery, CatalogTable } from '../introspection/introspection.js';

/** Where an engine keeps what it knows about a table (06 §9). */
export type StatisticsSource =
  | 'pg_class'
  | 'information_schema.tables'
  | 'h2_information_schema'
  | 'all_tables'
  | 'sys.partitions'
  | 'duckdb_tables'
  | 'sqlite_stat1'
  | 'parquet_metadata'
  | 'iceberg_manifest'
  | 'none';

export interface IndexStatistics {
  name: string;
  /** Names of the columns, or the expression where the index is on one. */
  columns: string[];
  unique: boolean;
  primary: boolean;
  /** The engine's own word, e.g. `btree`. */
  kind: string;
}

/** What is absent is unknown. */
export interface ColumnStatistics {
  name: string;
  /** A count, or with `distinct_is_ratio` a share of the rows (0–1]. */
  n_distinct?: number;
  distinct_is_ratio: boolean;
  /** Share of NULLs, 0–1. */
  null_fraction?: number;
  /** Least and greatest value in the engine's own text form, as far as its sample knows. */
  min?: string;
  max?: string;
}

export interface TableStatisticsView {
  row_estimate?: number;
  /** When the engine gathered it, RFC 3339 UTC. */
  stats_as_of?: string;
  stats_source: StatisticsSource;
  indexes: IndexStatistics[];
  columns: ColumnStatistics[];
  /** Of a lake table, null where it has none; absent in dialects that have none. */
  partition_column?: string | null;
}

/** Reads what an engine has gathered about one listed table; it never counts or scans. */
export type StatisticsReading = (
  query: CatalogQuery,
  table: CatalogTable,
  columns: readonly CatalogColumn[],
) => Promise<TableStatisticsView>;

/** A count that an engine states as text; undefined for none, a negative one, or one beyond exact numbers. */
export function countOf(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined;
  const count = Number(text);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The engine's estimate of a table's rows, and where it is from: nowhere when there is none. */
export function sizeOf(
  rows: number | undefined,
  source: StatisticsSource,
): Pick<TableStatisticsView, 'row_estimate' | 'stats_source'> {
  return rows === undefined ? { stats_source: 'none' } : { row_estimate: rows, stats_source: source };
}

/** A column of which only its name is known. */
export const unknownColumn = ({ name }: Pick<CatalogColumn, 'name'>): ColumnStatistics => ({
  name,
  distinct_is_ratio: false,
});

/** An index and one column of it, as a catalog lists them. */
export interface IndexedColumn extends Omit<IndexStatistics, 'columns'> {
  /** Its name, or the expression in its place. */
  column: string;
}

/** Gathers the columns of each index, both in the order they are listed in. */
export function indexesOf(listed: readonly IndexedColumn[]): IndexStatistics[] {
  const found = new Map<string, IndexStatistics>();
  for (const { column, ...index } of listed) {
    const entry = found.get(index.name) ?? { ...index, columns: [] };
    entry.columns.push(column);
    found.set(index.name, entry);
  }
  return [...found.values()];
}

/** Nothing is known but the names. */
export function unknownStatistics(columns: readonly CatalogColumn[]): TableStatisticsView {
  return {
    stats_source: 'none',
    indexes: [],
    columns: columns.map(unknownColumn),
  };
}

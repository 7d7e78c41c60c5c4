import type {
  CatalogColumn,
  CatalogQuery,
  ColumnStatistics,
  StatisticsReading,
  TableStatisticsView,
} from '#libs/datasources';
import { readJson } from '#libs/kernel';

import { literal } from '../tables/table-scan.js';
import { REGISTRY_COPY } from './view-names.js';

/** Most rows of metadata that are read: a row group has one per column. */
const MOST_ROWS = 65_536;
/** How long what footers said is told again without opening them (06 §9), and of how many tables. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_TABLES = 200;
/** Types whose bounds are compared as values; footers hold them as text. */
const COMPARED =
  /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIMESTAMP.*)$/;

type Told = Pick<TableStatisticsView, 'row_estimate' | 'stats_source' | 'columns'>;

/** What the footers of a table's files say, or the manifests of an Iceberg table. */
export class LakeStatistics {
  /** By the storage, its files and the columns they are read as. */
  readonly #footers = new Map<string, { until: number; told: Told }>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  readonly read: StatisticsReading = async (query, { namespace, name, partitionColumn }, columns) => {
    const [table] = await query(
      `SELECT files, format, statistics, storage FROM ${REGISTRY_COPY} WHERE namespace = CAST($1 AS VARCHAR) AND name = CAST($2 AS VARCHAR)`,
      [JSON.stringify(namespace), name],
    );
    const [files, format, counted, storage] = table ?? [];
    const partition = partitionColumn ?? null;
    const indexes =
      partition === null
        ? []
        : [{ name: 'partition', columns: [partition], unique: false, primary: false, kind: 'partition' }];
    const told = async (): Promise<Told> => {
      if (counted != null) return manifestStatistics(counted, columns);
      if (files == null || files === '[]' || format !== 'parquet') return unknown(columns);
      return await this.#ofFooters(query, storage ?? null, files, columns);
    };
    return { ...(await told()), indexes, partition_column: partition };
  };

  async #ofFooters(
    query: CatalogQuery,
    storage: string | null,
    files: string,
    columns: readonly CatalogColumn[],
  ): Promise<Told> {
    const key = JSON.stringify([storage, files, columns.map(({ name, sourceType }) => [name, sourceType])]);
    const known = this.#footers.get(key);
    if (known && known.until > this.now()) return known.told;
    const told = await footerStatistics(query, files, columns);
    this.#footers.delete(key);
    this.#footers.set(key, { until: this.now() + REMEMBERED_MS, told });
    for (const oldest of this.#footers.keys()) {
      if (this.#footers.size <= REMEMBERED_TABLES) break;
      this.#footers.delete(oldest);
    }
    return told;
  }
}

function unknown(columns: readonly CatalogColumn[]): Told {
  return { stats_source: 'none', columns: columns.map(({ name }) => ({ name, distinct_is_ratio: false })) };
}

async function footerStatistics(query: CatalogQuery, files: string, columns: readonly CatalogColumn[]): Promise<Told> {
  const footers = `(SELECT * FROM parquet_metadata(${files}) LIMIT ${MOST_ROWS + 1})`;
  const [sums] = await query(
    `WITH m AS ${footers}
     SELECT count(*), (SELECT sum(n) FROM (SELECT DISTINCT file_name, row_group_id, row_group_num_rows AS n FROM m)) FROM m`,
    [],
  );
  const rows = Number(sums?.[1] ?? 0);
  if (Number(sums?.[0] ?? 0) > MOST_ROWS) return unknown(columns);
  const counted = { row_estimate: rows, stats_source: 'parquet_metadata' as const };
  if (rows === 0) return { ...unknown(columns), ...counted };
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
  return { ...counted, columns: described };
}

/** An Iceberg table counts its rows and NULLs while it is written; bounds stand there in bytes and are cut short. */
function manifestStatistics(text: string, columns: readonly CatalogColumn[]): Told {
  const counts = readJson(text) as { rows: string; columns: { name: string; nulls: string }[] };
  const rows = Number(counts.rows);
  const nulls = new Map(counts.columns.map(({ name, nulls: count }) => [name, Number(count)]));
  return {
    row_estimate: rows,
    stats_source: 'iceberg_manifest',
    columns: columns.map(({ name }) => {
      const count = nulls.get(name);
      const column = { name, distinct_is_ratio: false };
      return count === undefined || rows === 0 ? column : { ...column, null_fraction: count / rows };
    }),
  };
}

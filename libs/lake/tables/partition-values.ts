import { literal, type ScanSurroundings } from './table-scan.js';

/** A folder that the engine reads as NULL, though its writer meant the word: NULL itself has a folder name of its own. */
const NAMED_NULL = /\/[^/=]+=null\//i;

export function hasNamedNull(paths: readonly string[]): boolean {
  return paths.some((path) => NAMED_NULL.test(`/${path}`));
}

/** The columns that the engine takes out of the folders of a path, whatever the files have under these names. */
export function partitionNames(path: string): string[] {
  const folders = path.split('/').slice(0, -1);
  return [...new Set(folders.flatMap((folder) => /^([^=?\\]+)=[^=?\\\n]*$/.exec(folder)?.[1] ?? []))];
}

/**
 * A query over Parquet files with the names of their folders as text columns: what else a name could be read as, a cast
 * says. The engine decodes percent escapes, as writers make them, and takes `__HIVE_DEFAULT_PARTITION__` for NULL, as
 * writers mean it; it also takes the word null for it, and only tables that have such a folder pay for being told better.
 *
 * @param files a literal, or a list of literals
 * @param sample the path of one of the files
 */
export async function partitionedScan(
  { files, sample, namedNull }: { files: string; sample: string; namedNull: boolean },
  { query }: ScanSurroundings,
): Promise<string> {
  const options = 'hive_partitioning = true, hive_types_autocast = false';
  const plain = `SELECT * FROM read_parquet(${files}, ${options})`;
  if (!namedNull) return plain;
  const columns = (await query(`SELECT column_name FROM (DESCRIBE ${plain})`)).map(([name]) => name ?? '');
  const partitions = partitionNames(sample).filter((name) => columns.includes(name));
  if (partitions.length === 0) return plain;
  let path = '__path';
  while (columns.some((name) => name.toLowerCase() === path)) path = `_${path}`;
  const told = partitions.map((name) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    const pattern = literal(`/${name.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}=([^/]*)/`);
    const folder = `regexp_extract(${path}, ${pattern}, 1)`;
    return `coalesce(${column}, CASE WHEN lower(${folder}) = 'null' THEN ${folder} END) AS ${column}`;
  });
  return `SELECT * EXCLUDE (${path}) REPLACE (${told.join(', ')}) FROM read_parquet(${files}, ${options}, filename = ${literal(path)})`;
}

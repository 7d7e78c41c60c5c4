import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { FileRoots } from '#libs/datasources';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';

import { parseLocation } from '../registry/location.js';
import {
  literal,
  plainPath,
  TableProblem,
  type ScanSurroundings,
  type TableResolver,
  type TableScan,
} from '../tables/table-scan.js';
import { avroRows } from './avro-rows.js';
import { icebergSql, type FileColumns } from './iceberg-sql.js';
import { readTableMetadata } from './table-metadata.js';

/** Read while everybody waits: 64 MiB would hold the process for seconds. */
const MAX_METADATA_MIB = 8;
/** Decoded in a thread of their own. */
const MAX_MANIFEST_MIB = 64;
const MIB = 1024 * 1024;
const DELETED = 2;

/** Iceberg tables of this machine, read by field ids; whatever could make a row wrong is a problem instead. */
export class IcebergFiles implements TableResolver {
  constructor(
    private readonly roots: FileRoots,
    private readonly maxFiles: number,
  ) {}

  async resolve({ location }: { location: string }, surroundings: ScanSurroundings): Promise<TableScan> {
    const { signal } = surroundings;
    const { metadataFile, root } = await this.#found(location);
    const metadata = readTableMetadata((await bounded(metadataFile, MAX_METADATA_MIB)).toString('utf8'));
    const paths = metadata.manifestList === null ? [] : await this.#liveFiles(root, metadata.manifestList, signal);
    const columns = paths.length === 0 ? [] : await fileColumns(paths, surroundings);
    return {
      sql: icebergSql(metadata, columns),
      files: `[${paths.map((path) => literal(plainPath(path))).join(', ')}]`,
      directories: [],
      paths,
    };
  }

  /** A metadata file is that state for ever; a folder is followed to its newest. */
  async #found(location: string): Promise<{ metadataFile: string; root: string }> {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 'file')
      throw new TableProblem('The location is no file location.');
    const pinned = parsed.path.endsWith('.metadata.json');
    const folder = pinned ? dirname(dirname(parsed.path)) : parsed.path.replace(/\/+$/, '');
    const root = await realpath(folder).catch(() => {
      throw new TableProblem('There is no folder at the location.');
    });
    if (!(await this.roots.admits({ path: `${root}/x` })))
      throw new TableProblem('The location lies outside the folders this server may read (datasources.file-roots).');
    const metadataFile = pinned ? parsed.path : join(root, 'metadata', await newestMetadata(join(root, 'metadata')));
    return { metadataFile: await inside(root, metadataFile), root };
  }

  async #liveFiles(root: string, manifestList: string, signal: AbortSignal): Promise<string[]> {
    const rows = async (uri: string, length?: JsonValue): Promise<JsonObject[]> => {
      const bytes = await bounded(await inside(root, pathOf(uri)), MAX_MANIFEST_MIB);
      if (length !== undefined && String(length) !== String(bytes.length))
        throw new TableProblem('A manifest is longer or shorter than its list says.');
      return (await avroRows(bytes, this.maxFiles, signal)).filter((row): row is JsonObject =>
        isJsonObject(row as JsonValue),
      );
    };
    const paths: string[] = [];
    for (const manifest of await rows(manifestList)) {
      for (const entry of await rows(textOf(manifest['manifest_path']), manifest['manifest_length'])) {
        if (Number(entry['status']) === DELETED) continue;
        const file = entry['data_file'];
        if (!isJsonObject(file ?? null)) throw new TableProblem('A manifest entry names no file.');
        const { content, file_path: path, file_format: format } = file as JsonObject;
        if (Number(manifest['content'] ?? 0) !== 0 || Number(content ?? 0) !== 0)
          throw new TableProblem(
            'The table has delete files, which cannot be read here; rewrite its data files first.',
          );
        if (textOf(format).toUpperCase() !== 'PARQUET')
          throw new TableProblem('The table has data files that are not Parquet.');
        if (paths.length >= this.maxFiles) throw new TableProblem(`The table has more than ${this.maxFiles} files.`);
        paths.push(await inside(root, pathOf(textOf(path))));
      }
    }
    return paths;
  }
}

/** By the number in the name; between two of one number the later written. */
async function newestMetadata(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const numbered = names.flatMap((name) => {
    const number = /^v?(\d+)(?:-[^/]*)?\.metadata\.json$/.exec(name)?.[1];
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  const newest = numbered.toSorted((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1)).at(-1);
  if (!newest) throw new TableProblem('The folder holds no Iceberg metadata.');
  return newest.name;
}

function pathOf(uri: string): string {
  if (uri.startsWith('/')) return uri;
  const path = /^file:(?:\/\/)?(\/[^/].*)$/.exec(uri)?.[1];
  if (path === undefined) throw new TableProblem('The table names a file that is not on this machine.');
  return path;
}

/** The real path, if it lies in the table's own folder. */
async function inside(root: string, path: string): Promise<string> {
  const real = await realpath(path).catch(() => {
    throw new TableProblem('A file that the table names is not there.');
  });
  if (!real.startsWith(`${root}/`)) throw new TableProblem('The table names a file outside its own folder.');
  return real;
}

async function bounded(path: string, mostMib: number): Promise<Buffer> {
  const found = await stat(path);
  // A pipe would keep its reader for ever.
  if (!found.isFile()) throw new TableProblem('A metadata file is no plain file.');
  if (found.size > mostMib * MIB)
    throw new TableProblem(`A metadata file is larger than ${mostMib} MiB; expire old snapshots of the table.`);
  return await readFile(path);
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || value === '') throw new TableProblem('A manifest lacks a path or format.');
  return value;
}

/** The top-level columns of each file, from its footer. */
async function fileColumns(paths: readonly string[], { query }: ScanSurroundings): Promise<FileColumns[]> {
  const list = paths.map((path) => literal(plainPath(path))).join(', ');
  const rows = await query(
    `SELECT file_name, name, field_id, num_children FROM parquet_schema([${list}]) ORDER BY file_name, column_id`,
  );
  const files = new Map<string, FileColumns & { skip: number }>();
  for (const [file, name, id, children] of rows) {
    const seen = files.get(file ?? '');
    if (!seen) files.set(file ?? '', { path: file ?? '', columns: [], skip: 0 });
    else if (seen.skip > 0) seen.skip += Number(children ?? 0) - 1;
    else {
      seen.skip = Number(children ?? 0);
      (seen.columns as { name: string; id: number | null }[]).push({
        name: name ?? '',
        id: id == null ? null : Number(id),
      });
    }
  }
  return [...files.values()];
}

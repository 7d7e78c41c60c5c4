import { TableProblem } from '../tables/table-scan.js';
import type { EntryRow } from './metadata-protocol.js';
import type { MetadataProcess } from './metadata-process.js';
import type { TableFiles } from './table-files.js';

/** The files that hold a table's rows, and what the manifests say of them. */
export interface LiveFiles {
  addresses: readonly string[];
  /** Null when a writer did not count. */
  rows: bigint | null;
  /** Of each field id that every file counts. */
  nulls: ReadonlyMap<number, bigint>;
}

const MAX_MANIFEST_MIB = 64;

/** Follows a manifest list. @throws TableProblem for whatever could make a row wrong: deletes, other formats, cut files */
export async function liveFiles(
  files: TableFiles,
  reader: MetadataProcess,
  manifestList: string,
  maxFiles: number,
  signal: AbortSignal,
): Promise<LiveFiles> {
  const found: EntryRow[] = [];
  for (const manifest of await reader.manifestList(
    await files.read(manifestList, MAX_MANIFEST_MIB),
    maxFiles,
    signal,
  )) {
    if (manifest.content !== '0') throw hasDeletes();
    const bytes = await files.read(present(manifest.path), MAX_MANIFEST_MIB);
    if (manifest.length !== null && manifest.length !== String(bytes.length))
      throw new TableProblem('A manifest is longer or shorter than its list says.');
    for (const entry of await reader.manifest(bytes, maxFiles, signal)) {
      if (entry.content !== '0') throw hasDeletes();
      if (present(entry.format).toUpperCase() !== 'PARQUET')
        throw new TableProblem('The table has data files that are not Parquet.');
      if (found.length >= maxFiles) throw new TableProblem(`The table has more than ${maxFiles} files.`);
      found.push(entry);
    }
  }
  return { addresses: found.map(({ path }) => present(path)), rows: totalRows(found), nulls: totalNulls(found) };
}

const COUNT = /^\d{1,19}$/;

function totalRows(entries: readonly EntryRow[]): bigint | null {
  let total = 0n;
  for (const { records } of entries) {
    if (records === null || !COUNT.test(records)) return null;
    total += BigInt(records);
  }
  return total;
}

function totalNulls(entries: readonly EntryRow[]): Map<number, bigint> {
  const totals = new Map<string, { files: number; nulls: bigint }>();
  for (const { nulls } of entries) {
    for (const [id, count] of nulls ?? []) {
      const total = totals.get(id) ?? { files: 0, nulls: 0n };
      if (COUNT.test(count)) totals.set(id, { files: total.files + 1, nulls: total.nulls + BigInt(count) });
    }
  }
  return new Map(
    [...totals].flatMap(([id, { files, nulls }]) => (files === entries.length ? [[Number(id), nulls] as const] : [])),
  );
}

function present(value: string | null): string {
  if (value === null || value === '') throw new TableProblem('A manifest lacks a path or format.');
  return value;
}

function hasDeletes(): TableProblem {
  return new TableProblem('The table has delete files, which cannot be read here; rewrite its data files first.');
}

import { isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';

import { TableProblem } from '../tables/table-scan.js';
import { numberOf, readField, type IcebergField } from './iceberg-type.js';
import type { TableDocument } from './metadata-protocol.js';

/** What reading a table takes from its metadata file. */
export interface TableMetadata {
  columns: readonly IcebergField[];
  /** Null: the table has no rows yet. */
  manifestList: string | null;
  /** Columns whose value may stand in the partition instead of the files. */
  identityColumns: ReadonlySet<number>;
  /** Ids by name, for files that were written without ids. */
  nameMapping: NameMapping | undefined;
}

/** Of one level of a table; the names of a list's and a map's parts are `element`, `key` and `value`. */
export type NameMapping = ReadonlyMap<string, { id: number; inside: NameMapping }>;

const KNOWN_VERSIONS = ['1', '2', '3'];

/** @throws TableProblem for what is no metadata, or says what cannot be read right */
export function readTableMetadata(table: TableDocument): TableMetadata {
  const version = String(table.formatVersion);
  if (table.formatVersion !== null && !KNOWN_VERSIONS.includes(version))
    throw new TableProblem(`The table is of Iceberg format version ${version}, which cannot be read here.`);
  if (table.fields.length === 0) throw new TableProblem('The metadata file has no current schema.');
  const list = table.snapshot?.['manifest-list'];
  if (table.snapshot && typeof list !== 'string') throw new TableProblem('The snapshot has no manifest list.');
  return {
    columns: table.fields.map((field) => readField(field)),
    manifestList: typeof list === 'string' ? list : null,
    identityColumns: new Set(
      objects(table.partitionFields).flatMap(({ transform, 'source-id': id }) =>
        transform === 'identity' ? (numberOf(id) ?? []) : [],
      ),
    ),
    nameMapping: table.nameMapping === null ? undefined : namesOf(table.nameMapping, 0),
  };
}

const MAX_DEPTH = 32;

function namesOf(entries: JsonValue | undefined, depth: number): NameMapping {
  if (depth > MAX_DEPTH) throw new TableProblem(`The name mapping is nested more than ${MAX_DEPTH} deep.`);
  const names = new Map<string, { id: number; inside: NameMapping }>();
  for (const entry of objects(entries)) {
    const id = numberOf(entry['field-id']);
    if (id === undefined || !Array.isArray(entry['names'])) continue;
    const inside = namesOf(entry['fields'], depth + 1);
    for (const name of entry['names']) if (typeof name === 'string') names.set(name, { id, inside });
  }
  return names;
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

import { isJsonObject, readJson, type JsonObject, type JsonValue } from '#libs/kernel';

import { TableProblem } from '../tables/table-scan.js';

export interface IcebergColumn {
  id: number;
  name: string;
  /** Of the engine. */
  type: string;
}

/** What reading a table takes from its metadata file. */
export interface TableMetadata {
  columns: readonly IcebergColumn[];
  /** Null: the table has no rows yet. */
  manifestList: string | null;
  /** Columns whose value may stand in the partition instead of the files. */
  identityColumns: ReadonlySet<number>;
  /** Names by field id, for files that were written without ids. */
  nameMapping: ReadonlyMap<number, readonly string[]> | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMPTZ',
  timestamp_ns: 'TIMESTAMP_NS',
  string: 'VARCHAR',
  uuid: 'UUID',
  binary: 'BLOB',
};

/** @throws TableProblem for what is no metadata, or says what cannot be read right */
export function readTableMetadata(text: string): TableMetadata {
  let metadata: JsonValue;
  try {
    metadata = readJson(text);
  } catch (cause) {
    throw new TableProblem('The metadata file is no JSON.', { cause });
  }
  if (!isJsonObject(metadata)) throw new TableProblem('The metadata file is no Iceberg metadata.');
  const schema = currentSchema(metadata);
  const snapshot = currentSnapshot(metadata);
  const list = snapshot?.['manifest-list'];
  if (snapshot && typeof list !== 'string') throw new TableProblem('The snapshot has no manifest list.');
  return {
    columns: schema.map(columnOf),
    manifestList: typeof list === 'string' ? list : null,
    identityColumns: identityColumns(metadata),
    nameMapping: nameMapping(metadata),
  };
}

function currentSchema(metadata: JsonObject): JsonObject[] {
  const schemas = objects(metadata['schemas']);
  const wanted = numberOf(metadata['current-schema-id']);
  const schema = schemas.find((each) => numberOf(each['schema-id']) === wanted) ?? metadata['schema'];
  const fields = isJsonObject(schema ?? null) ? objects((schema as JsonObject)['fields']) : [];
  if (fields.length === 0) throw new TableProblem('The metadata file has no current schema.');
  return fields;
}

function columnOf(field: JsonObject): IcebergColumn {
  const { name, type } = field;
  const id = numberOf(field['id']);
  if (typeof name !== 'string' || id === undefined) throw new TableProblem('A column has no name or id.');
  const known = typeof type === 'string' ? engineType(type) : undefined;
  if (known === undefined)
    throw new TableProblem(
      `The column "${name}" has a type that cannot be read here: ${typeof type === 'string' ? type : 'nested'}.`,
    );
  if (field['initial-default'] != null)
    throw new TableProblem(`The column "${name}" has a default for older files, which cannot be read here.`);
  return { id, name, type: known };
}

function engineType(type: string): string | undefined {
  if (Object.hasOwn(TYPES, type)) return TYPES[type];
  if (/^fixed\[\d{1,9}\]$/.test(type)) return 'BLOB';
  const decimal = /^decimal\((\d{1,2}),\s?(\d{1,2})\)$/.exec(type);
  return decimal ? `DECIMAL(${decimal[1]}, ${decimal[2]})` : undefined;
}

function currentSnapshot(metadata: JsonObject): JsonObject | undefined {
  const wanted = String(metadata['current-snapshot-id'] ?? '-1');
  if (wanted === '-1') return undefined;
  const found = objects(metadata['snapshots']).find((each) => String(each['snapshot-id']) === wanted);
  if (!found) throw new TableProblem('The metadata file does not hold its current snapshot.');
  return found;
}

function identityColumns(metadata: JsonObject): Set<number> {
  const fields = [
    ...objects(metadata['partition-specs']).flatMap((spec) => objects(spec['fields'])),
    ...objects(metadata['partition-spec']),
  ];
  return new Set(
    fields.flatMap((field) => (field['transform'] === 'identity' ? (numberOf(field['source-id']) ?? []) : [])),
  );
}

function nameMapping(metadata: JsonObject): Map<number, string[]> | undefined {
  const properties = metadata['properties'];
  const text = isJsonObject(properties ?? null) ? (properties as JsonObject)['schema.name-mapping.default'] : undefined;
  if (typeof text !== 'string') return undefined;
  try {
    return new Map(
      objects(readJson(text)).flatMap((entry): [number, string[]][] => {
        const id = numberOf(entry['field-id']);
        const names = Array.isArray(entry['names']) ? entry['names'].filter((name) => typeof name === 'string') : [];
        return id === undefined ? [] : [[id, names]];
      }),
    );
  } catch (cause) {
    throw new TableProblem('The name mapping of the table is no JSON.', { cause });
  }
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const number = Number(String(value ?? ''));
  return value !== undefined && value !== null && Number.isSafeInteger(number) ? number : undefined;
}

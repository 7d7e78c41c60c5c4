import { validationError, type ErrorCode, type Failure, type JsonObject, type JsonValue } from '#libs/kernel';

import { LAKE_FORMATS, type LakeTableFields } from './lake-table.js';
import { parseLocation, type LocationDefect } from './location.js';

const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const MOST_SEGMENTS = 9;
/** Databases that every engine has: a namespace of their name could not be told from them. */
const RESERVED_FIRST = ['memory', 'system', 'temp'];
const PARTITION_COLUMN = /^[A-Za-z_]\w{0,62}$/;
const KEYS = ['namespace', 'name', 'format', 'location', 'partition_column'];

const LOCATION_SENTENCES: Readonly<Record<LocationDefect, string>> = {
  length: 'A location has 1 to 2048 characters.',
  scheme: 'A location begins with s3:// or file:///.',
  character: 'A location has no quotes, backticks, backslashes, semicolons, white space or control characters.',
  climbs: 'A location never contains "..".',
  bucket: 'After s3:// comes the name of a bucket: 3 to 63 of a-z, 0-9, "." and "-".',
  path: 'A file location is file:/// and an absolute path without empty parts.',
};

/** `["a", "b"]` or `"a.b"`; undefined when it is neither or breaks the naming rules. */
export function readNamespace(value: JsonValue | undefined): string[] | undefined {
  const segments = typeof value === 'string' ? value.split('.') : value;
  if (!Array.isArray(segments) || segments.length < 1 || segments.length > MOST_SEGMENTS) return undefined;
  return segments.every((segment): segment is string => typeof segment === 'string' && SEGMENT.test(segment))
    ? segments
    : undefined;
}

export function isTableName(value: unknown): value is string {
  return typeof value === 'string' && SEGMENT.test(value);
}

/**
 * Reads one registration; `path` stands before the names of its members in failures.
 *
 * @throws 400 with every defect in `details.failures` (06 §10)
 */
export function readTableFields(body: JsonObject): LakeTableFields {
  const read = tableFields(body, '');
  if (read.failures.length > 0) throw validationError(read.failures);
  return read.fields;
}

export function tableFields(body: JsonObject, path: string): { fields: LakeTableFields; failures: Failure[] } {
  const failures: Failure[] = [];
  const fail = (code: ErrorCode, key: string, message: string, details: Record<string, unknown> = {}): void =>
    void failures.push({ code, path: `${path}${key}`, message, details });
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key))
      fail('datasource.validation.properties_invalid', key, `A lake table has no field "${key}".`, {
        key,
        fields: KEYS,
      });
  }
  const namespace = readNamespace(body['namespace']);
  if (!namespace)
    fail(
      'datasource.validation.lake_namespace_invalid',
      'namespace',
      'A namespace is a list, or a dotted text, of 1 to 9 segments like "sales" or "eu-west.sales".',
    );
  else if (RESERVED_FIRST.includes(namespace[0] ?? ''))
    fail(
      'datasource.validation.lake_namespace_invalid',
      'namespace',
      `A namespace does not begin with ${RESERVED_FIRST.join(', ')}: these are the engine's own.`,
      { reserved: RESERVED_FIRST },
    );
  const name = body['name'];
  if (!isTableName(name))
    fail('datasource.validation.lake_name_invalid', 'name', 'A table name is one segment, like "orders".');
  const format = LAKE_FORMATS.find((known) => known === body['format']);
  if (!format)
    fail('datasource.validation.lake_format_invalid', 'format', `The format is ${LAKE_FORMATS.join(' or ')}.`, {
      formats: LAKE_FORMATS,
    });
  const location = body['location'];
  const parsed = parseLocation(typeof location === 'string' ? location : '');
  if (typeof parsed === 'string')
    fail('datasource.validation.lake_location_invalid', 'location', LOCATION_SENTENCES[parsed], { reason: parsed });
  const column = body['partition_column'] ?? null;
  if (column !== null && !(typeof column === 'string' && PARTITION_COLUMN.test(column)))
    fail(
      'datasource.validation.properties_invalid',
      'partition_column',
      'A partition column is a letter or "_" and up to 62 letters, digits and "_"; or null.',
      { key: 'partition_column' },
    );
  return {
    fields: {
      namespace: namespace ?? [],
      name: isTableName(name) ? name : '',
      format: format ?? 'parquet',
      location: typeof location === 'string' ? location : '',
      partitionColumn: typeof column === 'string' ? column : null,
    },
    failures,
  };
}

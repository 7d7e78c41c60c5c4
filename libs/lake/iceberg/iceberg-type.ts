import { isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';

import { TableProblem } from '../tables/table-scan.js';

/** A type of a table, with the engine's own for what is not nested. */
export type IcebergType =
  | { kind: 'primitive'; sql: string; name: string }
  | { kind: 'struct'; fields: readonly IcebergField[] }
  | { kind: 'list'; element: IcebergField }
  | { kind: 'map'; key: IcebergField; value: IcebergField };

export interface IcebergField {
  id: number;
  name: string;
  type: IcebergType;
  /** What files say that were written before the field; null = NULL. */
  initialDefault: JsonValue;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  timestamp_ns: 'TIMESTAMP_NS',
  string: 'VARCHAR',
  uuid: 'UUID',
  binary: 'BLOB',
};
const MAX_DEPTH = 32;

/** @throws TableProblem for a field without a name or id, or of a type that cannot be read here */
export function readField(field: JsonValue, depth = 0): IcebergField {
  const { id, name, type, 'initial-default': initialDefault = null } = isJsonObject(field) ? field : ({} as JsonObject);
  const number = numberOf(id);
  if (typeof name !== 'string' || number === undefined) throw new TableProblem('A column has no name or id.');
  return { id: number, name, type: readType(type, name, depth), initialDefault };
}

function readType(type: JsonValue | undefined, name: string, depth: number): IcebergType {
  if (depth > MAX_DEPTH) throw new TableProblem(`The column "${name}" is nested more than ${MAX_DEPTH} deep.`);
  if (typeof type === 'string') return primitive(type, name);
  if (!isJsonObject(type ?? null)) throw unreadable(name, 'no type');
  const nested = type as JsonObject;
  const inner = (part: string): IcebergField =>
    readField({ id: nested[`${part}-id`] ?? null, name: part, type: nested[part] ?? null }, depth + 1);
  if (nested['type'] === 'list') return { kind: 'list', element: inner('element') };
  if (nested['type'] === 'map') return { kind: 'map', key: inner('key'), value: inner('value') };
  const { fields } = nested;
  if (nested['type'] !== 'struct' || !Array.isArray(fields)) throw unreadable(name, 'unknown');
  if (fields.length === 0) throw unreadable(name, 'a struct without fields');
  return { kind: 'struct', fields: fields.map((field) => readField(field, depth + 1)) };
}

function primitive(type: string, name: string): IcebergType {
  if (Object.hasOwn(PRIMITIVES, type)) return { kind: 'primitive', sql: PRIMITIVES[type] as string, name: type };
  if (/^fixed\[\d{1,9}\]$/.test(type)) return { kind: 'primitive', sql: 'BLOB', name: 'fixed' };
  const decimal = /^decimal\((\d{1,2}),\s?(\d{1,2})\)$/.exec(type);
  if (decimal) return { kind: 'primitive', sql: `DECIMAL(${decimal[1]},${decimal[2]})`, name: 'decimal' };
  throw unreadable(name, type);
}

function unreadable(name: string, type: string): TableProblem {
  return new TableProblem(`The column "${name}" has a type that cannot be read here: ${type}.`);
}

/** Numbers of a table's metadata are texts. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

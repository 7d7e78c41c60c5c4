import { isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';

import { literal, TableProblem } from '../tables/table-scan.js';
import { engineType, quoted } from './engine-type.js';
import type { IcebergField, IcebergType } from './iceberg-type.js';

/**
 * What a column is in files that were written before it: NULL, or its default of Iceberg 3.
 *
 * @throws TableProblem for a default that is not of the column's type
 */
export function initialValue({ name, type, initialDefault }: IcebergField): string {
  if (initialDefault === null) return `CAST(NULL AS ${engineType(type)})`;
  const value = valueOf(type, initialDefault);
  if (value === undefined) throw new TableProblem(`The column "${name}" has a default that is none of its type.`);
  return value;
}

/** As the format writes single values; numbers are texts here. */
const FORMS: Readonly<Record<string, RegExp>> = {
  int: /^-?\d{1,10}$/,
  long: /^-?\d{1,19}$/,
  float: /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/,
  double: /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/,
  decimal: /^-?\d+(\.\d+)?(E-?\d+)?$/,
  date: /^-?\d{4,6}-\d{2}-\d{2}$/,
  time: /^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$/,
  timestamp: /^-?\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?$/,
  timestamptz: /^-?\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00:00$/,
  timestamp_ns: /^-?\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?$/,
  uuid: /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
};
const HEX = /^([0-9a-fA-F]{2})*$/;

function valueOf(type: IcebergType, value: JsonValue): string | undefined {
  if (type.kind === 'struct') {
    // The members of a struct bring their own.
    if (!isJsonObject(value) || Object.keys(value as JsonObject).length > 0) return undefined;
    return `struct_pack(${type.fields.map((field) => `${quoted(field.name)} := ${initialValue(field)}`).join(', ')})`;
  }
  if (type.kind !== 'primitive') return undefined;
  if (type.name === 'boolean') return typeof value === 'boolean' ? `CAST(${value} AS BOOLEAN)` : undefined;
  if (typeof value !== 'string' || value.includes('\0')) return undefined;
  if (type.name === 'string') return literal(value);
  if (type.sql === 'BLOB') return HEX.test(value) ? `unhex(${literal(value)})` : undefined;
  return FORMS[type.name]?.test(value) === true ? `CAST(${literal(value)} AS ${type.sql})` : undefined;
}

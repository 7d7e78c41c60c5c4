import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

/** A DuckDB type as plain data: the name of its type id or its SQL name, and the size of a DECIMAL. */
export interface DuckdbTypeDescription {
  name: string;
  width?: number;
  scale?: number;
}

const TYPES: Readonly<Record<string, MappedType>> = {
  BOOLEAN: mapped('BOOLEAN'),
  TINYINT: mapped('INTEGER'),
  UTINYINT: mapped('INTEGER'),
  SMALLINT: mapped('INTEGER'),
  USMALLINT: mapped('INTEGER'),
  INTEGER: mapped('INTEGER'),
  INTEGER_LITERAL: mapped('INTEGER'),
  UINTEGER: mapped('BIGINTEGER'),
  BIGINT: mapped('BIGINTEGER'),
  UBIGINT: mapped('BIGDECIMAL', 20, 0),
  HUGEINT: mapped('BIGDECIMAL', undefined, 0),
  UHUGEINT: mapped('BIGDECIMAL', undefined, 0),
  BIGNUM: mapped('BIGDECIMAL', undefined, 0),
  VARINT: mapped('BIGDECIMAL', undefined, 0),
  FLOAT: mapped('DECIMAL', 7),
  DOUBLE: mapped('DECIMAL', 15),
  VARCHAR: mapped('STRING'),
  STRING_LITERAL: mapped('STRING'),
  UUID: mapped('STRING'),
  JSON: mapped('STRING'),
  ENUM: mapped('STRING'),
  INTERVAL: mapped('STRING'),
  BIT: mapped('STRING'),
  LIST: mapped('STRING'),
  STRUCT: mapped('STRING'),
  MAP: mapped('STRING'),
  UNION: mapped('STRING'),
  ARRAY: mapped('STRING'),
  BLOB: mapped('BINARY'),
  DATE: mapped('DATE'),
  TIME: mapped('TIME'),
  TIME_NS: mapped('TIME'),
  TIME_TZ: mapped('TIME'),
  'TIME WITH TIME ZONE': mapped('TIME'),
  TIMESTAMP: mapped('TIMESTAMP'),
  TIMESTAMP_S: mapped('TIMESTAMP'),
  TIMESTAMP_MS: mapped('TIMESTAMP'),
  TIMESTAMP_NS: mapped('TIMESTAMP'),
  TIMESTAMP_TZ: mapped('TIMESTAMP'),
  TIMESTAMPTZ: mapped('TIMESTAMP'),
  'TIMESTAMP WITH TIME ZONE': mapped('TIMESTAMP'),
  SQLNULL: mapped('NULL'),
  '"NULL"': mapped('NULL'),
};

const KNOWN: ReadonlyMap<string, MappedType> = new Map(Object.entries(TYPES));

/** DuckDB type of a result column (contract 01 §6.4); LAKE reads through the same engine. */
export function mapDuckdbType({ name, width, scale }: DuckdbTypeDescription): MappedType {
  const full = name.trim().toUpperCase();
  // `INTEGER[]`, `STRUCT(a DECIMAL(4,2))[3]`: whatever the elements, a list.
  if (full.endsWith(']')) return mapped('STRING');
  const open = full.indexOf('(');
  const base = open < 0 ? full : full.slice(0, open).trimEnd();
  if (base === 'DECIMAL' || base === 'NUMERIC') {
    const size = /^\(([0-9]{1,2}),([0-9]{1,2})\)$/.exec(full.slice(base.length).replaceAll(' ', ''));
    return exactNumeric(width ?? Number(size?.[1] ?? 18), scale ?? Number(size?.[2] ?? 3));
  }
  return KNOWN.get(base) ?? unknownType();
}

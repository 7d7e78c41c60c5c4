import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

/** Protocol numbers of MySQL's column types. */
export const MYSQL_TYPE = {
  DECIMAL: 0,
  TINY: 1,
  SHORT: 2,
  LONG: 3,
  FLOAT: 4,
  DOUBLE: 5,
  NULL: 6,
  TIMESTAMP: 7,
  LONGLONG: 8,
  INT24: 9,
  DATE: 10,
  TIME: 11,
  DATETIME: 12,
  YEAR: 13,
  NEWDATE: 14,
  VARCHAR: 15,
  BIT: 16,
  VECTOR: 242,
  JSON: 245,
  NEWDECIMAL: 246,
  ENUM: 247,
  SET: 248,
  TINY_BLOB: 249,
  MEDIUM_BLOB: 250,
  LONG_BLOB: 251,
  BLOB: 252,
  VAR_STRING: 253,
  STRING: 254,
  GEOMETRY: 255,
} as const;

const T = MYSQL_TYPE;

/** A result column as the protocol describes it. */
export interface MysqlFieldDescription {
  /** One of {@link MYSQL_TYPE}. */
  type: number;
  /** Display length, as the server states it. */
  length: number;
  decimals: number;
  unsigned: boolean;
  /** Character set 63: bytes, not text. */
  binary: boolean;
  /** ENUM and SET arrive as strings with a flag. */
  enumerated: boolean;
}

const NUMERIC: ReadonlyMap<number, MappedType> = new Map([
  [T.SHORT, mapped('INTEGER')],
  [T.INT24, mapped('INTEGER')],
  [T.YEAR, mapped('INTEGER')],
  [T.FLOAT, mapped('DECIMAL', 7)],
  [T.DOUBLE, mapped('DECIMAL', 15)],
  [T.NULL, mapped('NULL')],
  [T.DATE, mapped('DATE')],
  [T.NEWDATE, mapped('DATE')],
  [T.TIME, mapped('TIME')],
  [T.DATETIME, mapped('TIMESTAMP')],
  [T.TIMESTAMP, mapped('TIMESTAMP')],
  [T.JSON, mapped('STRING')],
  [T.ENUM, mapped('STRING')],
  [T.SET, mapped('STRING')],
]);

const CHARACTERS: ReadonlySet<number> = new Set([
  T.VARCHAR,
  T.TINY_BLOB,
  T.MEDIUM_BLOB,
  T.LONG_BLOB,
  T.BLOB,
  T.VAR_STRING,
  T.STRING,
]);

/** Type of a MySQL or MariaDB result column (contract 01 §6.2). `tinyIsBoolean` = the driver's `tinyInt1isBit`. */
export function mapMysqlField(field: MysqlFieldDescription, tinyIsBoolean = true): MappedType {
  const { type, length, decimals, unsigned } = field;
  const fixed = NUMERIC.get(type);
  if (fixed) return fixed;
  switch (type) {
    case T.TINY:
      return mapped(length === 1 && !unsigned && tinyIsBoolean ? 'BOOLEAN' : 'INTEGER');
    case T.LONG:
      return mapped(unsigned ? 'BIGINTEGER' : 'INTEGER');
    case T.LONGLONG:
      return unsigned ? mapped('BIGDECIMAL', 20, 0) : mapped('BIGINTEGER');
    case T.DECIMAL:
    case T.NEWDECIMAL:
      return exactNumeric(length - (decimals > 0 ? 1 : 0) - (unsigned ? 0 : 1), decimals);
    case T.BIT:
      return mapped(length === 1 ? 'BOOLEAN' : 'BINARY');
    default:
      if (!CHARACTERS.has(type)) return unknownType();
      return mapped(field.binary && !field.enumerated ? 'BINARY' : 'STRING');
  }
}

/** A column as `information_schema.COLUMNS` describes it. */
export interface MysqlCatalogType {
  /** `DATA_TYPE`, e.g. `tinyint`. */
  dataType: string;
  /** `COLUMN_TYPE`, e.g. `tinyint(1) unsigned`. */
  columnType: string;
  precision: number | null;
  scale: number | null;
}

const CATALOG: ReadonlyMap<string, MappedType> = new Map(
  Object.entries({
    bool: mapped('BOOLEAN'),
    boolean: mapped('BOOLEAN'),
    smallint: mapped('INTEGER'),
    mediumint: mapped('INTEGER'),
    year: mapped('INTEGER'),
    float: mapped('DECIMAL', 7),
    double: mapped('DECIMAL', 15),
    date: mapped('DATE'),
    time: mapped('TIME'),
    datetime: mapped('TIMESTAMP'),
    timestamp: mapped('TIMESTAMP'),
    binary: mapped('BINARY'),
    varbinary: mapped('BINARY'),
    tinyblob: mapped('BINARY'),
    blob: mapped('BINARY'),
    mediumblob: mapped('BINARY'),
    longblob: mapped('BINARY'),
  }),
);

const CATALOG_TEXTS = /^(?:char|varchar|tinytext|text|mediumtext|longtext|json|enum|set|uuid|inet4|inet6)$/;

/** Type of a column that has not been read: what {@link mapMysqlField} will say of it. */
export function mapMysqlCatalogType(column: MysqlCatalogType, tinyIsBoolean = true): MappedType {
  const dataType = column.dataType.toLowerCase();
  const columnType = column.columnType.toLowerCase();
  const unsigned = /\bunsigned\b/.test(columnType);
  const size = Number(/\((\d+)/.exec(columnType)?.[1] ?? Number.NaN);
  switch (dataType) {
    case 'tinyint':
      return mapped(size === 1 && !unsigned && tinyIsBoolean ? 'BOOLEAN' : 'INTEGER');
    case 'int':
    case 'integer':
      return mapped(unsigned ? 'BIGINTEGER' : 'INTEGER');
    case 'bigint':
      return unsigned ? mapped('BIGDECIMAL', 20, 0) : mapped('BIGINTEGER');
    case 'decimal':
    case 'numeric':
      return exactNumeric(column.precision ?? 10, column.scale ?? 0);
    case 'bit':
      return mapped(size === 1 ? 'BOOLEAN' : 'BINARY');
    default:
      return CATALOG.get(dataType) ?? (CATALOG_TEXTS.test(dataType) ? mapped('STRING') : unknownType());
  }
}

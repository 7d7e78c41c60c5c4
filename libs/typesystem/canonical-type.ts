/** The eleven canonical types, by their wire names (contract 01 §5.1). */
export const LOGICAL_TYPES = [
  'NULL',
  'BOOLEAN',
  'INTEGER',
  'BIGINTEGER',
  'DECIMAL',
  'BIGDECIMAL',
  'STRING',
  'BINARY',
  'DATE',
  'TIME',
  'TIMESTAMP',
] as const;

export type LogicalType = (typeof LOGICAL_TYPES)[number];

/**
 * A canonical type with its size.
 * DECIMAL always has a precision; without a scale it is approximate (7 = float32, else float64).
 * BIGDECIMAL without a precision is unbounded; without a scale its scale is unknown until the values are seen.
 */
export interface ColumnType {
  type: LogicalType;
  precision?: number;
  scale?: number;
}

/** A column descriptor as every door shows it (contract 01 §5.2). */
export interface Column extends ColumnType {
  name: string;
  /** Present only when the driver states it. */
  nullable?: boolean;
  /** The driver's own name of the type, for warnings and introspection. */
  sourceType?: string;
}

/** An exact number: `unscaled × 10^-scale`. `scale` is never negative. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/**
 * A value in memory (contract 01 §5.1): BOOLEAN boolean; INTEGER, approximate DECIMAL number; BIGINTEGER bigint;
 * exact DECIMAL, BIGDECIMAL `Decimal`; STRING string; BINARY bytes; DATE `YYYY-MM-DD`; TIME microseconds of the day;
 * TIMESTAMP bigint microseconds since 1970-01-01T00:00:00Z.
 */
export type CanonicalValue = null | boolean | number | bigint | string | Uint8Array | Decimal;

/** A value with the type it is bound, stored and printed as. */
export interface TypedValue {
  type: ColumnType;
  value: CanonicalValue;
}

export const DIALECTS = ['POSTGRES', 'ORACLE', 'MSSQL', 'MYSQL', 'H2', 'DUCKDB', 'SQLITE', 'LAKE'] as const;

export type Dialect = (typeof DIALECTS)[number];

/** DECIMAL without a scale: a binary float at its origin. */
export function isApproximate(type: ColumnType): boolean {
  return type.type === 'DECIMAL' && type.scale === undefined;
}

/** DECIMAL(7) without a scale: a float32 at its origin, printed with the fewest digits that give it back. */
export function isFloat32(type: ColumnType): boolean {
  return isApproximate(type) && type.precision === 7;
}

/** DECIMAL with a scale, or BIGDECIMAL: values are `Decimal`. */
export function isExactDecimal(type: ColumnType): boolean {
  return type.type === 'BIGDECIMAL' || (type.type === 'DECIMAL' && type.scale !== undefined);
}

export function isDecimal(value: CanonicalValue): value is Decimal {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** `DECIMAL(12,2)`, `BIGDECIMAL`, `DATE`: for messages. */
export function describeType({ type, precision, scale }: ColumnType): string {
  if (precision === undefined) return scale === undefined ? type : `${type}(*,${scale})`;
  return scale === undefined ? `${type}(${precision})` : `${type}(${precision},${scale})`;
}

/** Whether a value has the in-memory form of its type; null belongs to every type. */
export function hasFormOf({ type, scale }: ColumnType, value: CanonicalValue): boolean {
  if (value === null) return true;
  switch (type) {
    case 'NULL':
      return false;
    case 'BOOLEAN':
      return typeof value === 'boolean';
    case 'INTEGER':
      return typeof value === 'number' && (value | 0) === value;
    case 'TIME':
      return typeof value === 'number' && Number.isInteger(value);
    case 'BIGINTEGER':
    case 'TIMESTAMP':
      return typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
    case 'DECIMAL':
      return scale === undefined ? typeof value === 'number' : isDecimal(value);
    case 'BIGDECIMAL':
      return isDecimal(value);
    case 'STRING':
    case 'DATE':
      return typeof value === 'string';
    case 'BINARY':
      return value instanceof Uint8Array;
  }
}

import { isApproximate, isFloat32, type ColumnType } from '../canonical-type.js';
import type { Utf8Texts } from './utf8-texts.js';

/** A DuckDB chunk over this many rows crashes the process, so no batch is larger (contract 00 §9). */
export const MAX_BATCH_ROWS = 2048;

interface Vector<Layout extends string, Data> {
  readonly layout: Layout;
  readonly type: ColumnType;
  readonly data: Data;
  /** 1 where the row is NULL; the data there means nothing. */
  readonly nulls: Uint8Array;
}

export type NullVector = Vector<'null', null>;
/** 0 or 1. */
export type BooleanVector = Vector<'boolean', Uint8Array>;
/** INTEGER, or DATE as days since 1970-01-01. */
export type Int32Vector = Vector<'int32' | 'date', Int32Array>;
/** BIGINTEGER, or TIME as microseconds of the day, TIMESTAMP as epoch microseconds. */
export type Int64Vector = Vector<'int64' | 'time' | 'timestamp', BigInt64Array>;
/** Unscaled value of a width up to 18, at the type's scale. */
export type Decimal64Vector = Vector<'decimal64', BigInt64Array>;
/** Any other exact decimal, as plain text without exponent. */
export type DecimalTextVector = Vector<'decimal_text', string[]>;
export type Float32Vector = Vector<'float32', Float32Array>;
export type Float64Vector = Vector<'float64', Float64Array>;
export type StringVector = Vector<'string', string[]>;
/** STRING as bytes: a source that sends UTF-8 gives it on as it came. */
export type Utf8Vector = Vector<'utf8', Utf8Texts>;
export type BinaryVector = Vector<'binary', Uint8Array[]>;

/** One column of a batch; `layout` follows from the type (`layoutOf`), but a STRING may also lie as UTF-8. */
export type ColumnVector =
  | NullVector
  | BooleanVector
  | Int32Vector
  | Int64Vector
  | Decimal64Vector
  | DecimalTextVector
  | Float32Vector
  | Float64Vector
  | StringVector
  | Utf8Vector
  | BinaryVector;

export type VectorLayout = ColumnVector['layout'];

/** Up to 2,048 rows, column by column; every vector holds at least `rowCount` rows. */
export interface ColumnBatch {
  readonly rowCount: number;
  readonly vectors: readonly ColumnVector[];
}

/**
 * Stands in a `decimal64` vector for a value that is no number (NUMERIC NaN, infinities): no decimal of up to 18
 * digits reaches it. On the wire it is null and counted.
 */
export const NOT_A_DECIMAL = -(2n ** 63n);

/** How values of a type lie in a batch. */
export function layoutOf(type: ColumnType): Exclude<VectorLayout, 'utf8'> {
  switch (type.type) {
    case 'NULL':
      return 'null';
    case 'BOOLEAN':
      return 'boolean';
    case 'INTEGER':
      return 'int32';
    case 'BIGINTEGER':
      return 'int64';
    case 'DECIMAL':
      if (isApproximate(type)) return isFloat32(type) ? 'float32' : 'float64';
      return decimalLayout(type);
    case 'BIGDECIMAL':
      return decimalLayout(type);
    case 'STRING':
      return 'string';
    case 'BINARY':
      return 'binary';
    case 'DATE':
      return 'date';
    case 'TIME':
      return 'time';
    case 'TIMESTAMP':
      return 'timestamp';
  }
}

function decimalLayout({ precision, scale }: ColumnType): 'decimal64' | 'decimal_text' {
  return precision !== undefined && precision <= 18 && scale !== undefined ? 'decimal64' : 'decimal_text';
}

/** An empty vector for up to `capacity` rows. */
export function createVector(type: ColumnType, capacity: number = MAX_BATCH_ROWS): ColumnVector {
  const layout = layoutOf(type);
  const nulls = new Uint8Array(capacity);
  switch (layout) {
    case 'null':
      return { layout, type, data: null, nulls: nulls.fill(1) };
    case 'boolean':
      return { layout, type, data: new Uint8Array(capacity), nulls };
    case 'int32':
    case 'date':
      return { layout, type, data: new Int32Array(capacity), nulls };
    case 'int64':
    case 'time':
    case 'timestamp':
      return { layout, type, data: new BigInt64Array(capacity), nulls };
    case 'decimal64':
      return { layout, type, data: new BigInt64Array(capacity), nulls };
    case 'float32':
      return { layout, type, data: new Float32Array(capacity), nulls };
    case 'float64':
      return { layout, type, data: new Float64Array(capacity), nulls };
    case 'decimal_text':
      return { layout, type, data: new Array<string>(capacity).fill(''), nulls };
    case 'string':
      return { layout, type, data: new Array<string>(capacity).fill(''), nulls };
    case 'binary':
      return { layout, type, data: new Array<Uint8Array>(capacity).fill(EMPTY), nulls };
  }
}

const EMPTY = new Uint8Array(0);

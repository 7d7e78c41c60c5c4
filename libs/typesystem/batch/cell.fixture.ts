import { PenstockError } from '#libs/kernel/pure';
import { formatDate, parseDateText } from '../calendar.js';
import { describeType, isDecimal, type CanonicalValue, type ColumnType, type Decimal } from '../canonical-type.js';
import { completeDecimalText, formatDecimal, parseDecimal, rescaleDecimal } from '../decimal.js';
import {
  createVector,
  NOT_A_DECIMAL,
  type BinaryVector,
  type BooleanVector,
  type ColumnBatch,
  type ColumnVector,
  type Decimal64Vector,
  type DecimalTextVector,
  type Float32Vector,
  type Float64Vector,
  type Int32Vector,
  type Int64Vector,
  type StringVector,
} from './column-batch.js';

/** A batch of empty vectors, one per column. */
export function createBatch(columns: readonly ColumnType[], rowCount: number): ColumnBatch {
  return { rowCount, vectors: columns.map((type) => createVector(type, rowCount)) };
}

export function setNull(vector: ColumnVector, row: number): void {
  vector.nulls[row] = 1;
}

export function setBoolean(vector: BooleanVector, row: number, value: boolean): void {
  vector.data[row] = value ? 1 : 0;
  vector.nulls[row] = 0;
}

/** INTEGER, or DATE as days since 1970-01-01. */
export function setInt32(vector: Int32Vector, row: number, value: number): void {
  vector.data[row] = value;
  vector.nulls[row] = 0;
}

/** BIGINTEGER, or TIME, TIMESTAMP in microseconds. */
export function setInt64(vector: Int64Vector, row: number, value: bigint): void {
  vector.data[row] = value;
  vector.nulls[row] = 0;
}

/** An exact decimal. False, and the row unchanged, when the column's scale or width cannot hold it without rounding. */
export function setDecimal(vector: Decimal64Vector | DecimalTextVector, row: number, value: Decimal): boolean {
  if (vector.layout === 'decimal64') {
    const scaled = rescaleDecimal(value, vector.type.scale ?? 0);
    if (scaled === null || BigInt.asIntN(64, scaled.unscaled) !== scaled.unscaled) return false;
    vector.data[row] = scaled.unscaled;
  } else {
    vector.data[row] = formatDecimal(value);
  }
  vector.nulls[row] = 0;
  return true;
}

/** NaN or an infinity of a decimal column: null on the wire, counted as unrepresentable. */
export function setNotADecimal(vector: Decimal64Vector | DecimalTextVector, row: number): void {
  if (vector.layout === 'decimal64') vector.data[row] = NOT_A_DECIMAL;
  else vector.data[row] = 'NaN';
  vector.nulls[row] = 0;
}

export function setFloat(vector: Float32Vector | Float64Vector, row: number, value: number): void {
  vector.data[row] = value;
  vector.nulls[row] = 0;
}

export function setString(vector: StringVector, row: number, value: string): void {
  vector.data[row] = value;
  vector.nulls[row] = 0;
}

export function setBinary(vector: BinaryVector, row: number, value: Uint8Array): void {
  vector.data[row] = value;
  vector.nulls[row] = 0;
}

/**
 * Puts a canonical value into a vector of its type. A value the column cannot hold is
 * `pipeline.staging.value_overflow`; drivers that know their layout use the setters above.
 */
export function setCell(vector: ColumnVector, row: number, value: CanonicalValue): void {
  if (value === null) return setNull(vector, row);
  if (!trySetCell(vector, row, value)) {
    throw new PenstockError('pipeline.staging.value_overflow', {
      message: `Row ${row} holds a value that ${describeType(vector.type)} cannot hold.`,
      details: { type: describeType(vector.type), row },
    });
  }
}

function trySetCell(vector: ColumnVector, row: number, value: NonNullable<CanonicalValue>): boolean {
  switch (vector.layout) {
    case 'boolean':
      return typeof value === 'boolean' && done(setBoolean(vector, row, value));
    case 'int32':
      return typeof value === 'number' && (value | 0) === value && done(setInt32(vector, row, value));
    case 'date': {
      const days = typeof value === 'string' ? parseDateText(value) : null;
      return days !== null && done(setInt32(vector, row, days));
    }
    case 'time':
      return typeof value === 'number' && Number.isInteger(value) && done(setInt64(vector, row, BigInt(value)));
    case 'int64':
    case 'timestamp':
      return typeof value === 'bigint' && BigInt.asIntN(64, value) === value && done(setInt64(vector, row, value));
    case 'decimal64':
    case 'decimal_text':
      return isDecimal(value) && setDecimal(vector, row, value);
    case 'float32':
    case 'float64':
      return typeof value === 'number' && done(setFloat(vector, row, value));
    case 'string':
      return typeof value === 'string' && done(setString(vector, row, value));
    case 'binary':
      return value instanceof Uint8Array && done(setBinary(vector, row, value));
    case 'null':
    case 'utf8':
      return false;
  }
}

function done(_written: void): true {
  return true;
}

/**
 * The canonical value of a cell; null for SQL NULL and for a decimal that is no number. A DATE is text only within
 * what `formatDate` shows, which the wire encoder checks on the vector itself.
 */
export function getCell(vector: ColumnVector, row: number): CanonicalValue {
  if (vector.nulls[row] === 1) return null;
  switch (vector.layout) {
    case 'null':
      return null;
    case 'boolean':
      return vector.data[row] === 1;
    case 'date':
      return formatDate(vector.data[row] ?? 0);
    case 'time':
      return Number(vector.data[row]);
    case 'decimal64': {
      const unscaled = vector.data[row] ?? 0n;
      return unscaled === NOT_A_DECIMAL ? null : { unscaled, scale: vector.type.scale ?? 0 };
    }
    case 'decimal_text':
      return parseDecimal(completeDecimalText(vector.data[row] ?? ''));
    case 'utf8':
      return vector.data.text(row);
    default:
      return vector.data[row] ?? null;
  }
}

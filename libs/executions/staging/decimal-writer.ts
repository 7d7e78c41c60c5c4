import type duckdb from '@duckdb/node-bindings';
import { DuckDBDecimalType, type DuckDBType } from '@duckdb/node-api';
import {
  MAX_BATCH_ROWS,
  parseDecimal,
  rescaleDecimal,
  type Decimal64Vector,
  type DecimalTextVector,
} from '#libs/typesystem';
import { PenstockError } from '#libs/kernel';
import { copyItems } from './copy-items.js';
import type { StagedColumn } from './staged-column.js';
import { writeTexts } from './text-writer.js';

/** Digits that fit the integers the engine keeps unscaled values in; more take 16 bytes. */
const INT16_DIGITS = 4;
const INT32_DIGITS = 9;
const INT64_DIGITS = 18;
const HUGEINT_DIGITS = 39;

/** The upper half of NOT_A_DECIMAL, which no decimal of up to 18 digits reaches. */
const NOT_A_DECIMAL_HIGH = -2_147_483_648;

/** Used within one call: the engine copies them. */
const shorts = new Int16Array(MAX_BATCH_ROWS);
const words = new Int32Array(MAX_BATCH_ROWS);
const huge = new BigInt64Array(MAX_BATCH_ROWS * 2);

/** Unscaled values in the width the engine chose for the precision. Returns which rows are to be NULL. */
export function writeDecimals(
  target: duckdb.Vector,
  source: Decimal64Vector,
  rows: number,
  { type }: StagedColumn,
): Uint8Array {
  const { data } = source;
  const halves = halvesOf(data);
  copyUnscaled(target, data, 1, rows, type);
  return nullsAnd(source.nulls, rows, (row) => halves[row * 2 + 1] === NOT_A_DECIMAL_HIGH);
}

/**
 * Text to the column's own scale, exactly: a value that needs more digits than it has is an error, never rounded.
 * Returns which rows are to be NULL.
 */
export function writeDecimalTexts(
  target: duckdb.Vector,
  source: DecimalTextVector,
  rows: number,
  column: StagedColumn,
): Uint8Array {
  const { data } = source;
  if (column.sizedAtEnd) {
    const nulls = nullsAnd(source.nulls, rows, (row) => !parseDecimal(data[row]!));
    writeTexts(target, { layout: 'string', type: source.type, data, nulls }, rows);
    return nulls;
  }
  const { type } = column;
  const scale = type instanceof DuckDBDecimalType ? type.scale : 0;
  const nulls = nullsAnd(source.nulls, rows, (row) => {
    const value = parseDecimal(data[row]!);
    if (!value) return true;
    const scaled = rescaleDecimal(value, scale);
    if (!scaled || BigInt.asIntN(128, scaled.unscaled) !== scaled.unscaled) throw overflow(column.name, row);
    huge[row * 2] = BigInt.asIntN(64, scaled.unscaled);
    huge[row * 2 + 1] = scaled.unscaled >> 64n;
    return false;
  });
  copyUnscaled(target, huge, 2, rows, type);
  return nulls;
}

/** Integers of `longs` × 8 bytes each, of which the column's own width is taken. */
function copyUnscaled(target: duckdb.Vector, from: BigInt64Array, longs: 1 | 2, rows: number, type: DuckDBType): void {
  const width = type instanceof DuckDBDecimalType ? type.width : HUGEINT_DIGITS;
  if (width > INT64_DIGITS) return copyItems(target, from, rows * longs);
  if (width > INT32_DIGITS) {
    if (longs > 1) for (let row = 0; row < rows; row++) from[row] = from[row * longs]!;
    return copyItems(target, from, rows);
  }
  // The lower half of a number that fits 32 bits is that number.
  const halves = halvesOf(from);
  const narrow = width > INT16_DIGITS ? words : shorts;
  for (let row = 0; row < rows; row++) narrow[row] = halves[row * longs * 2]!;
  copyItems(target, narrow, rows);
}

function halvesOf(data: BigInt64Array): Int32Array {
  return new Int32Array(data.buffer, data.byteOffset, data.length * 2);
}

/** The rows that are NULL, and with them those that `isNone` names of the others; the same array where it names none. */
function nullsAnd(nulls: Uint8Array, rows: number, isNone: (row: number) => boolean): Uint8Array {
  let all = nulls;
  for (let row = 0; row < rows; row++) {
    if (nulls[row] || !isNone(row)) continue;
    if (all === nulls) all = nulls.slice();
    all[row] = 1;
  }
  return all;
}

function overflow(column: string, row: number): PenstockError {
  return new PenstockError('pipeline.staging.precision_overflow', {
    message: `A value of column "${column}" has more digits than the column declares. CAST it in the query.`,
    details: { column, batch_row: row },
  });
}

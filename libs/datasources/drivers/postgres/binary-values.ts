import { isUtf8 } from 'node:buffer';
import { endianness } from 'node:os';

import { NOT_A_DECIMAL, type ColumnVector, type Utf8Vector } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { numericText, readNumericInto } from './numeric.js';

/**
 * Where the values of a run of rows lie: `starts` and `lengths` are indexed `(row - from) * width + column`; length −1 =
 * NULL.
 */
export interface RowRun {
  buffer: Buffer;
  starts: Int32Array;
  lengths: Int32Array;
  width: number;
  /** Rows `from` (inclusive) to `to` (exclusive) of the batch lie in `buffer`. */
  from: number;
  to: number;
}

/** Copies one column's values of a run into its vector. Column by column, so that each loop sees one type only. */
export type ColumnReader = (run: RowRun, column: number, vector: ColumnVector) => void;

const LOW = endianness() === 'LE' ? 0 : 1;
const HIGH = 1 - LOW;

/** 2000-01-01 in days and microseconds since 1970-01-01: PostgreSQL's own epoch. */
const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = 946_684_800_000_000;
const EPOCH_HIGH = Math.floor(EPOCH_MICROS / 2 ** 32);
const EPOCH_LOW = EPOCH_MICROS % 2 ** 32;

/** Infinite dates and timestamps as the staging engine has them; no door shows them (01 §5.2). */
const INFINITE_DAY = 2_147_483_647;

function dataOf<T>(vector: ColumnVector, kind: new (...args: never[]) => T): T {
  if (!(vector.data instanceof kind)) throw new TypeError(`a ${vector.layout} vector cannot take this column`);
  return vector.data;
}

function int32At(buffer: Buffer, at: number): number {
  return (buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!;
}

function expectLength(actual: number, expected: number): void {
  if (actual !== expected) {
    throw new DriverFailure('other', `The server sent a value of ${actual} bytes where ${expected} were due.`);
  }
}

/** Calls `take` for each value that is not NULL, and marks the others. */
function eachValue(
  { starts, lengths, width, from, to }: RowRun,
  column: number,
  nulls: Uint8Array,
  take: (row: number, start: number, length: number) => void,
): void {
  for (let row = from, at = column; row < to; row += 1, at += width) {
    const length = lengths[at]!;
    if (length < 0) nulls[row] = 1;
    else take(row, starts[at]!, length);
  }
}

const readBool: ColumnReader = (run, column, vector) => {
  const data = dataOf(vector, Uint8Array);
  eachValue(run, column, vector.nulls, (row, start) => (data[row] = run.buffer[start]!));
};

const readInt2: ColumnReader = (run, column, vector) => {
  const data = dataOf(vector, Int32Array);
  eachValue(run, column, vector.nulls, (row, start) => (data[row] = run.buffer.readInt16BE(start)));
};

const readInt4: ColumnReader = ({ buffer, starts, lengths, width, from, to }, column, vector) => {
  const data = dataOf(vector, Int32Array);
  for (let row = from, at = column; row < to; row += 1, at += width) {
    if (lengths[at]! < 0) vector.nulls[row] = 1;
    else data[row] = int32At(buffer, starts[at]!);
  }
};

/** Eight bytes moved as two halves: no bigint is made for a value that is only passed on. */
const readInt8: ColumnReader = ({ buffer, starts, lengths, width, from, to }, column, vector) => {
  const data = dataOf(vector, BigInt64Array);
  const halves = new Int32Array(data.buffer, data.byteOffset, data.length * 2);
  for (let row = from, at = column; row < to; row += 1, at += width) {
    if (lengths[at]! < 0) vector.nulls[row] = 1;
    else {
      const start = starts[at]!;
      halves[row * 2 + HIGH] = int32At(buffer, start);
      halves[row * 2 + LOW] = int32At(buffer, start + 4);
    }
  }
};

const readUint4: ColumnReader = (run, column, vector) => {
  const data = dataOf(vector, BigInt64Array);
  eachValue(run, column, vector.nulls, (row, start) => (data[row] = BigInt(run.buffer.readUInt32BE(start))));
};

const readFloat4: ColumnReader = (run, column, vector) => {
  const data = dataOf(vector, Float32Array);
  const words = new Int32Array(data.buffer, data.byteOffset, data.length);
  eachValue(run, column, vector.nulls, (row, start) => (words[row] = int32At(run.buffer, start)));
};

const readFloat8: ColumnReader = ({ buffer, starts, lengths, width, from, to }, column, vector) => {
  const data = dataOf(vector, Float64Array);
  const halves = new Int32Array(data.buffer, data.byteOffset, data.length * 2);
  for (let row = from, at = column; row < to; row += 1, at += width) {
    if (lengths[at]! < 0) vector.nulls[row] = 1;
    else {
      const start = starts[at]!;
      halves[row * 2 + HIGH] = int32At(buffer, start);
      halves[row * 2 + LOW] = int32At(buffer, start + 4);
    }
  }
};

const readDate: ColumnReader = (run, column, vector) => {
  const data = dataOf(vector, Int32Array);
  eachValue(run, column, vector.nulls, (row, start) => {
    const days = int32At(run.buffer, start);
    if (days === INFINITE_DAY) data[row] = INFINITE_DAY;
    else if (days === -INFINITE_DAY - 1) data[row] = -INFINITE_DAY;
    else data[row] = days + EPOCH_DAYS;
  });
};

/** Shifts the epoch in halves; a sum past int64 (years after 294246) and the infinities become ±(2^63 − 1). */
const readTimestamp: ColumnReader = ({ buffer, starts, lengths, width, from, to }, column, vector) => {
  const data = dataOf(vector, BigInt64Array);
  const halves = new Int32Array(data.buffer, data.byteOffset, data.length * 2);
  for (let row = from, at = column; row < to; row += 1, at += width) {
    if (lengths[at]! < 0) {
      vector.nulls[row] = 1;
      continue;
    }
    const start = starts[at]!;
    const high = int32At(buffer, start);
    const low = (int32At(buffer, start + 4) >>> 0) + EPOCH_LOW;
    const sum = high + EPOCH_HIGH + (low >= 2 ** 32 ? 1 : 0);
    if (high === -2_147_483_648 && low === EPOCH_LOW) data[row] = -(2n ** 63n - 1n);
    else if (sum > 2_147_483_647) data[row] = 2n ** 63n - 1n;
    else {
      halves[row * 2 + HIGH] = sum;
      halves[row * 2 + LOW] = low;
    }
  }
};

const readMoney: ColumnReader = (run, column, vector) => {
  const data = vector.data as string[];
  eachValue(run, column, vector.nulls, (row, start) => {
    const cents = run.buffer.readBigInt64BE(start);
    const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
    data[row] = `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  });
};

const readNumeric: ColumnReader = (run, column, vector) => {
  if (vector.layout === 'decimal64') {
    const scale = vector.type.scale ?? 0;
    const halves = new Int32Array(vector.data.buffer, vector.data.byteOffset, vector.data.length * 2);
    eachValue(run, column, vector.nulls, (row, start) => {
      if (!readNumericInto(run.buffer, start, scale, vector.data, halves, row)) vector.data[row] = NOT_A_DECIMAL;
    });
  } else {
    const data = vector.data as string[];
    eachValue(run, column, vector.nulls, (row, start) => (data[row] = numericText(run.buffer, start) ?? 'NaN'));
  }
};

/** Bytes are copied: a slice would keep the whole network chunk alive. */
const readBytea: ColumnReader = (run, column, vector) => {
  const data = vector.data as Uint8Array[];
  eachValue(run, column, vector.nulls, (row, start, length) => {
    data[row] = Uint8Array.prototype.slice.call(run.buffer, start, start + length);
  });
};

/**
 * Text in either format: types whose binary form is their text, and all others in text format. The bytes go on as they
 * came; a database without an encoding (SQL_ASCII) may send some that are no UTF-8, and those are shown as U+FFFD.
 */
export const readText: ColumnReader = (run, column, vector) => {
  if (vector.layout !== 'utf8') return readStrings(run, column, vector);
  const texts = vector.data;
  const before = texts.size;
  let wellFormed = true;
  const { buffer, starts, lengths, width, from, to } = run;
  for (let row = from, at = column; row < to; row += 1, at += width) {
    const length = lengths[at]!;
    if (length > 0) {
      const start = starts[at]!;
      // A value that begins within a character could be hidden by the end of the one before it.
      if ((buffer[start]! & 0xc0) === 0x80) wellFormed = false;
      texts.put(row, buffer, start, length);
    } else {
      if (length < 0) vector.nulls[row] = 1;
      texts.skip(row);
    }
  }
  if (!wellFormed || !isUtf8(texts.bytes.subarray(before, texts.size))) replaceIllFormed(run, column, vector);
};

function replaceIllFormed({ buffer, starts, lengths, width, from, to }: RowRun, column: number, { data }: Utf8Vector) {
  data.rewind(from);
  for (let row = from, at = column; row < to; row += 1, at += width) {
    const start = starts[at]!;
    const shown = Buffer.from(buffer.toString('utf8', start, start + Math.max(lengths[at]!, 0)));
    data.put(row, shown, 0, shown.length);
  }
}

/** A text column that is not a STRING: digits of a decimal, say. */
function readStrings(run: RowRun, column: number, vector: ColumnVector): void {
  const data = vector.data as string[];
  eachValue(run, column, vector.nulls, (row, start, length) => {
    data[row] = run.buffer.toString('utf8', start, start + length);
  });
}

const readVoid: ColumnReader = ({ from, to }, _column, vector) => {
  vector.nulls.fill(1, from, to);
};

/** A reader that first makes sure every value has the length its type says. */
function fixed(length: number, read: ColumnReader): ColumnReader {
  return (run, column, vector) => {
    for (let row = run.from, at = column; row < run.to; row += 1, at += run.width) {
      if (run.lengths[at]! >= 0) expectLength(run.lengths[at]!, length);
    }
    read(run, column, vector);
  };
}

/** Types read in binary; every other type is asked for in text format (02 §15). */
export const BINARY_READERS: ReadonlyMap<number, ColumnReader> = new Map([
  [16, fixed(1, readBool)],
  [17, readBytea],
  [20, fixed(8, readInt8)],
  [21, fixed(2, readInt2)],
  [23, fixed(4, readInt4)],
  [26, fixed(4, readUint4)], // oid
  [28, fixed(4, readUint4)], // xid
  [700, fixed(4, readFloat4)],
  [701, fixed(8, readFloat8)],
  [790, fixed(8, readMoney)],
  [1082, fixed(4, readDate)],
  [1083, fixed(8, readInt8)], // time: microseconds of the day
  [1114, fixed(8, readTimestamp)],
  [1184, fixed(8, readTimestamp)],
  [1266, fixed(12, readInt8)], // timetz: the offset behind the time is dropped (01 §6.1)
  [1700, readNumeric],
  [2278, readVoid],
]);

import {
  daysFromCivil,
  daysInMonth,
  isTimeOfDay,
  MICROS_PER_DAY,
  MYSQL_TYPE as T,
  parseDecimal,
  rescaleDecimal,
  type ColumnVector,
} from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { wellKnownText, vectorText } from './geometry.js';

/** Puts the value at `at` into a row of its vector and gives the offset behind it. */
export type CellReader = (buffer: Buffer, at: number, vector: ColumnVector, row: number) => number;

export interface CellForm {
  type: number;
  unsigned: boolean;
  /** Called for a value that no canonical value stands for: zero dates, times outside the day (01 §5.2). */
  onUnrepresentable: () => void;
}

type Sized = { start: number; end: number };

/** A length-coded value: where its bytes lie. */
function sized(buffer: Buffer, at: number): Sized {
  const first = buffer[at]!;
  if (first < 0xfb) return { start: at + 1, end: at + 1 + first };
  if (first === 0xfc) return { start: at + 3, end: at + 3 + buffer.readUInt16LE(at + 1) };
  if (first === 0xfd) return { start: at + 4, end: at + 4 + buffer.readUIntLE(at + 1, 3) };
  return { start: at + 9, end: at + 9 + Number(buffer.readBigUInt64LE(at + 1)) };
}

/** How a column's values lie in a row of the binary protocol. The vector's layout follows from the same column. */
export function cellReader({ type, unsigned, onUnrepresentable }: CellForm): CellReader {
  const none = (vector: ColumnVector, row: number): void => {
    vector.nulls[row] = 1;
    onUnrepresentable();
  };
  switch (type) {
    case T.TINY:
      return (buffer, at, vector, row) => {
        const value = unsigned ? buffer.readUInt8(at) : buffer.readInt8(at);
        if (vector.layout === 'boolean') vector.data[row] = value === 0 ? 0 : 1;
        else if (vector.layout === 'int32') vector.data[row] = value;
        return at + 1;
      };
    case T.SHORT:
    case T.YEAR:
      return (buffer, at, vector, row) => {
        if (vector.layout === 'int32') vector.data[row] = unsigned ? buffer.readUInt16LE(at) : buffer.readInt16LE(at);
        return at + 2;
      };
    case T.LONG:
    case T.INT24:
      return (buffer, at, vector, row) => {
        if (vector.layout === 'int32') vector.data[row] = unsigned ? buffer.readUInt32LE(at) : buffer.readInt32LE(at);
        else if (vector.layout === 'int64') vector.data[row] = BigInt(buffer.readUInt32LE(at));
        return at + 4;
      };
    case T.LONGLONG:
      return (buffer, at, vector, row) => {
        if (vector.layout === 'int64') vector.data[row] = buffer.readBigInt64LE(at);
        else if (vector.layout === 'decimal_text') vector.data[row] = buffer.readBigUInt64LE(at).toString();
        return at + 8;
      };
    case T.FLOAT:
      return (buffer, at, vector, row) => {
        if (vector.layout === 'float32') vector.data[row] = buffer.readFloatLE(at);
        return at + 4;
      };
    case T.DOUBLE:
      return (buffer, at, vector, row) => {
        if (vector.layout === 'float64') vector.data[row] = buffer.readDoubleLE(at);
        return at + 8;
      };
    case T.DECIMAL:
    case T.NEWDECIMAL:
      return readDecimal;
    case T.DATE:
    case T.NEWDATE:
      return (buffer, at, vector, row) => {
        const days = daysAt(buffer, at);
        if (days === null) none(vector, row);
        else if (vector.layout === 'date') vector.data[row] = days;
        return at + 1 + buffer[at]!;
      };
    case T.DATETIME:
    case T.TIMESTAMP:
      return (buffer, at, vector, row) => {
        const days = daysAt(buffer, at);
        if (days === null) none(vector, row);
        else if (vector.layout === 'timestamp') {
          vector.data[row] = BigInt(days) * BigInt(MICROS_PER_DAY) + BigInt(clockAt(buffer, at + 5, buffer[at]! - 4));
        }
        return at + 1 + buffer[at]!;
      };
    case T.TIME:
      return (buffer, at, vector, row) => {
        const micros = timeAt(buffer, at);
        if (!isTimeOfDay(micros)) none(vector, row);
        else if (vector.layout === 'time') vector.data[row] = BigInt(micros);
        return at + 1 + buffer[at]!;
      };
    case T.BIT:
    case T.GEOMETRY:
    case T.VECTOR:
      return bytesReader(type);
    default:
      return readCharacters;
  }
}

function readDecimal(buffer: Buffer, at: number, vector: ColumnVector, row: number): number {
  const { start, end } = sized(buffer, at);
  const text = buffer.toString('latin1', start, end);
  if (vector.layout === 'decimal_text') vector.data[row] = text;
  else if (vector.layout === 'decimal64') {
    const value = parseDecimal(text);
    const scaled = value && rescaleDecimal(value, vector.type.scale ?? 0);
    if (!scaled) throw new DriverFailure('other', 'The server sent a decimal that its column does not declare.');
    vector.data[row] = scaled.unscaled;
  }
  return end;
}

function readCharacters(buffer: Buffer, at: number, vector: ColumnVector, row: number): number {
  const { start, end } = sized(buffer, at);
  if (vector.layout === 'string') vector.data[row] = buffer.toString('utf8', start, end);
  // A copy: the network chunk is used again.
  else if (vector.layout === 'binary') vector.data[row] = new Uint8Array(buffer.subarray(start, end));
  return end;
}

function bytesReader(type: number): CellReader {
  return (buffer, at, vector, row) => {
    const { start, end } = sized(buffer, at);
    if (vector.layout === 'boolean') vector.data[row] = buffer.subarray(start, end).some((byte) => byte !== 0) ? 1 : 0;
    else if (vector.layout === 'string') {
      const bytes = buffer.subarray(start, end);
      vector.data[row] = type === T.VECTOR ? vectorText(bytes) : wellKnownText(bytes);
    } else return readCharacters(buffer, at, vector, row);
    return end;
  };
}

/** Days of a date; null for a zero date and for one that no calendar has (`2026-02-00`). */
function daysAt(buffer: Buffer, at: number): number | null {
  if (buffer[at]! < 4) return null;
  const year = buffer.readUInt16LE(at + 1);
  const month = buffer[at + 3]!;
  const day = buffer[at + 4]!;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return daysFromCivil(year, month, day);
}

/** Microseconds of hour, minute, second and, of seven bytes, fraction. */
function clockAt(buffer: Buffer, at: number, length: number): number {
  if (length < 3) return 0;
  const seconds = (buffer[at]! * 60 + buffer[at + 1]!) * 60 + buffer[at + 2]!;
  return seconds * 1_000_000 + (length >= 7 ? buffer.readUInt32LE(at + 3) : 0);
}

/** Microseconds of a TIME, which may be negative or longer than a day. */
function timeAt(buffer: Buffer, at: number): number {
  const length = buffer[at]!;
  if (length < 8) return 0;
  const micros = buffer.readUInt32LE(at + 2) * MICROS_PER_DAY + clockAt(buffer, at + 6, length - 5);
  return buffer[at + 1] === 1 ? -micros : micros;
}

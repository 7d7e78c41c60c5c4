import { encodeBase64 } from '../base64.js';
import { MAX_DAY, MICROS_PER_DAY, MIN_DAY, formatTimestamp, isShowableTimestamp } from '../calendar.js';
import { completeDecimalText, formatUnscaled } from '../decimal.js';
import { float32Text } from '../wire/float-text.js';
import type { ByteWriter } from './byte-writer.js';
import {
  NOT_A_DECIMAL,
  type ColumnVector,
  type Decimal64Vector,
  type DecimalTextVector,
  type Int64Vector,
} from './column-batch.js';
import { DayBytes, writeTime } from './time-bytes.js';

/** Writes the JSON token of a row that is not NULL; false, and nothing written, when the value has no wire form. */
export type CellBytes = (row: number) => boolean;

/** Longest token of a type of fixed size, quotes included. */
const FIXED_TOKEN = 40;
const QUOTE = 34;
const MINUS = 45;

/** The cell encoder of one vector: the same bytes as `encodeWire`, with the type decided once per column. */
export function cellBytes(vector: ColumnVector, out: ByteWriter): CellBytes {
  switch (vector.layout) {
    case 'null':
      return () => false;
    case 'boolean':
      return (row) => done(out.ascii(vector.data[row] === 1 ? 'true' : 'false'));
    case 'int32':
      return (row) => {
        out.reserve(FIXED_TOKEN);
        return done(signed(out, vector.data[row]!));
      };
    case 'int64':
      return int64Bytes(vector, out);
    case 'decimal64':
      return decimal64Bytes(vector, out);
    case 'decimal_text':
      return decimalTextBytes(vector, out);
    case 'float32':
      return (row) => Number.isFinite(vector.data[row]) && done(out.ascii(float32Text(vector.data[row]!)));
    case 'float64':
      return (row) => Number.isFinite(vector.data[row]) && done(out.ascii(String(vector.data[row])));
    case 'string':
      return (row) => done(out.jsonString(vector.data[row]!));
    case 'utf8': {
      const texts = vector.data;
      return (row) => done(out.jsonUtf8(texts.bytes, texts.startOf(row), texts.ends[row]!));
    }
    case 'binary':
      return (row) => done(out.ascii(`"${encodeBase64(vector.data[row]!)}"`));
    case 'date': {
      const day = new DayBytes();
      return (row) => {
        const days = vector.data[row]!;
        if (days < MIN_DAY || days > MAX_DAY) return false;
        out.reserve(FIXED_TOKEN);
        out.byte(QUOTE);
        day.write(out, days);
        return done(out.byte(QUOTE));
      };
    }
    case 'time':
      return timeBytes(vector, out);
    case 'timestamp':
      return timestampBytes(vector, out);
  }
}

function done(_written: void): true {
  return true;
}

function signed(out: ByteWriter, value: number): void {
  if (value < 0) out.byte(MINUS);
  out.whole(Math.abs(value));
}

/**
 * An int64 by its halves as a double, exact within ±2^53, or NaN beyond, where the BigInt itself is printed: making a
 * BigInt of each row costs more than writing it.
 */
function exactDoubles(data: BigInt64Array): (row: number) => number {
  const words = new Int32Array(data.buffer, data.byteOffset, data.length * 2);
  return (row) => {
    const high = words[row * 2 + HIGH]!;
    return high > -SAFE_HIGH && high < SAFE_HIGH
      ? high * 4_294_967_296 + (words[row * 2 + 1 - HIGH]! >>> 0)
      : Number.NaN;
  };
}

/** Which half comes second depends on the machine. */
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;
const SAFE_HIGH = 2_097_151;

function int64Bytes(vector: Int64Vector, out: ByteWriter): CellBytes {
  const exact = exactDoubles(vector.data);
  return (row) => {
    const value = exact(row);
    out.reserve(FIXED_TOKEN);
    out.byte(QUOTE);
    if (Number.isNaN(value)) out.ascii(String(vector.data[row]));
    else signed(out, value);
    return done(out.byte(QUOTE));
  };
}

function decimal64Bytes(vector: Decimal64Vector, out: ByteWriter): CellBytes {
  const { type, scale = 0 } = vector.type;
  const exact = exactDoubles(vector.data);
  const quoted = type === 'BIGDECIMAL';
  const unit = 10 ** scale;
  return (row) => {
    const value = exact(row);
    out.reserve(FIXED_TOKEN);
    if (Number.isNaN(value) || scale > 15) {
      const unscaled = vector.data[row]!;
      if (unscaled === NOT_A_DECIMAL) return false;
      const text = formatUnscaled(unscaled, scale);
      return done(out.ascii(quoted ? `"${text}"` : text));
    }
    if (quoted) out.byte(QUOTE);
    if (value < 0) out.byte(MINUS);
    const size = Math.abs(value);
    if (scale === 0) out.whole(size);
    else {
      const fraction = size % unit;
      out.whole((size - fraction) / unit);
      out.byte(46);
      out.padded(fraction, scale);
    }
    if (quoted) out.byte(QUOTE);
    return true;
  };
}

const PLAIN_DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/;

function decimalTextBytes(vector: DecimalTextVector, out: ByteWriter): CellBytes {
  const { type, scale } = vector.type;
  const quote = type === 'BIGDECIMAL' ? '"' : '';
  return (row) => {
    const text = completeDecimalText(vector.data[row]!);
    return PLAIN_DECIMAL.test(text) && done(out.ascii(`${quote}${padFraction(text, scale)}${quote}`));
  };
}

/** Zeros up to a declared scale; digits are never cut. */
function padFraction(text: string, scale: number | undefined): string {
  if (scale === undefined || scale === 0) return text;
  const point = text.indexOf('.');
  if (point < 0) return `${text}.${'0'.repeat(scale)}`;
  return text.padEnd(point + 1 + scale, '0');
}

function timeBytes(vector: Int64Vector, out: ByteWriter): CellBytes {
  const exact = exactDoubles(vector.data);
  return (row) => {
    const micros = exact(row);
    if (!(micros >= 0 && micros < MICROS_PER_DAY)) return false;
    out.reserve(FIXED_TOKEN);
    out.byte(QUOTE);
    writeTime(out, micros);
    return done(out.byte(QUOTE));
  };
}

function timestampBytes(vector: Int64Vector, out: ByteWriter): CellBytes {
  const exact = exactDoubles(vector.data);
  const day = new DayBytes();
  return (row) => {
    const micros = exact(row);
    if (Number.isNaN(micros)) {
      const beyond = vector.data[row]!;
      return isShowableTimestamp(beyond) && done(out.ascii(`"${formatTimestamp(beyond)}"`));
    }
    const days = Math.floor(micros / MICROS_PER_DAY);
    out.reserve(FIXED_TOKEN);
    out.byte(QUOTE);
    day.write(out, days);
    out.byte(84);
    writeTime(out, micros - days * MICROS_PER_DAY);
    out.byte(90);
    return done(out.byte(QUOTE));
  };
}

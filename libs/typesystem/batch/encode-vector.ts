import { encodeBase64 } from '../base64.js';
import {
  MAX_DAY,
  MICROS_PER_DAY,
  MIN_DAY,
  formatDate,
  formatTime,
  formatTimestamp,
  isShowableTimestamp,
} from '../calendar.js';
import { completeDecimalText, formatUnscaled } from '../decimal.js';
import { NULL_TOKEN } from '../wire/encode-wire.js';
import { float32Text } from '../wire/float-text.js';
import {
  NOT_A_DECIMAL,
  type ColumnVector,
  type DecimalTextVector,
  type Float32Vector,
  type Float64Vector,
} from './column-batch.js';

/**
 * Writes the JSON tokens of one vector into `tokens` and returns how many values had no wire form. The same bytes as
 * `encodeWire`, one type decision per column instead of one per cell: storing results is bounded by this.
 */
export function encodeVector(vector: ColumnVector, rowCount: number, tokens: string[]): number {
  switch (vector.layout) {
    case 'null':
      tokens.fill(NULL_TOKEN, 0, rowCount);
      return 0;
    case 'boolean':
      return encodeEach(vector, rowCount, tokens, (row) => (vector.data[row] === 1 ? 'true' : 'false'));
    case 'int32':
      return encodeEach(vector, rowCount, tokens, (row) => String(vector.data[row]));
    case 'int64':
      return encodeInt64(vector.data, vector.nulls, rowCount, tokens);
    case 'decimal64':
      return encodeDecimal64(vector.data, vector.nulls, rowCount, tokens, vector.type.scale ?? 0, isText(vector));
    case 'decimal_text':
      return encodeDecimalText(vector, rowCount, tokens);
    case 'float32':
      return encodeFloats(vector, rowCount, tokens, float32Text);
    case 'float64':
      return encodeFloats(vector, rowCount, tokens, String);
    case 'string':
      return encodeEach(vector, rowCount, tokens, (row) => JSON.stringify(vector.data[row]));
    case 'binary':
      return encodeEach(vector, rowCount, tokens, (row) => `"${encodeBase64(vector.data[row]!)}"`);
    case 'date':
      return encodeEach(vector, rowCount, tokens, (row) => {
        const days = vector.data[row]!;
        return days >= MIN_DAY && days <= MAX_DAY ? `"${formatDate(days)}"` : null;
      });
    case 'time':
      return encodeEach(vector, rowCount, tokens, (row) => {
        const micros = Number(vector.data[row]);
        return micros >= 0 && micros < MICROS_PER_DAY ? `"${formatTime(micros)}"` : null;
      });
    case 'timestamp':
      return encodeTimestamps(vector.data, vector.nulls, rowCount, tokens);
  }
}

function isText({ type }: ColumnVector): boolean {
  return type.type === 'BIGDECIMAL';
}

/** `encode` gives null for a value without a wire form. */
function encodeEach(
  { nulls }: ColumnVector,
  rowCount: number,
  tokens: string[],
  encode: (row: number) => string | null,
): number {
  let lost = 0;
  for (let row = 0; row < rowCount; row++) {
    const token = nulls[row] === 1 ? NULL_TOKEN : encode(row);
    if (token === null) lost++;
    tokens[row] = token ?? NULL_TOKEN;
  }
  return lost;
}

function encodeFloats(
  { data, nulls }: Float32Vector | Float64Vector,
  rowCount: number,
  tokens: string[],
  text: (value: number) => string,
): number {
  let lost = 0;
  for (let row = 0; row < rowCount; row++) {
    const value = data[row]!;
    if (nulls[row] === 1) tokens[row] = NULL_TOKEN;
    else if (Number.isFinite(value)) tokens[row] = text(value);
    else {
      tokens[row] = NULL_TOKEN;
      lost++;
    }
  }
  return lost;
}

/** The two halves of an int64 as a double are exact within ±2^53; beyond, the BigInt itself is printed. */
function halves(data: BigInt64Array): Int32Array {
  return new Int32Array(data.buffer, data.byteOffset, data.length * 2);
}

const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;
const TWO_32 = 4_294_967_296;
/** |high half| below this keeps the whole within ±2^53. */
const SAFE_HIGH = 2_097_151;

function encodeInt64(data: BigInt64Array, nulls: Uint8Array, rowCount: number, tokens: string[]): number {
  const words = halves(data);
  for (let row = 0; row < rowCount; row++) {
    const high = words[row * 2 + 1 - LOW]!;
    if (nulls[row] === 1) tokens[row] = NULL_TOKEN;
    else if (high > -SAFE_HIGH && high < SAFE_HIGH) {
      tokens[row] = `"${high * TWO_32 + (words[row * 2 + LOW]! >>> 0)}"`;
    } else tokens[row] = `"${data[row]}"`;
  }
  return 0;
}

function encodeDecimal64(
  data: BigInt64Array,
  nulls: Uint8Array,
  rowCount: number,
  tokens: string[],
  scale: number,
  quoted: boolean,
): number {
  const words = halves(data);
  const unit = 10 ** scale;
  const quote = quoted ? '"' : '';
  let lost = 0;
  for (let row = 0; row < rowCount; row++) {
    const high = words[row * 2 + 1 - LOW]!;
    if (nulls[row] === 1) tokens[row] = NULL_TOKEN;
    else if (high > -SAFE_HIGH && high < SAFE_HIGH && scale > 0 && scale <= 15) {
      const value = high * TWO_32 + (words[row * 2 + LOW]! >>> 0);
      const size = Math.abs(value);
      const fraction = size % unit;
      // unit + fraction has one digit more than the fraction may have: its tail is the padded fraction.
      const tail = String(unit + fraction);
      tokens[row] = `${quote}${value < 0 ? '-' : ''}${(size - fraction) / unit}.${tail.slice(1)}${quote}`;
    } else if (data[row] === NOT_A_DECIMAL) {
      tokens[row] = NULL_TOKEN;
      lost++;
    } else tokens[row] = `${quote}${formatUnscaled(data[row]!, scale)}${quote}`;
  }
  return lost;
}

const PLAIN_DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/;

function encodeDecimalText(vector: DecimalTextVector, rowCount: number, tokens: string[]): number {
  const { scale } = vector.type;
  const quote = isText(vector) ? '"' : '';
  return encodeEach(vector, rowCount, tokens, (row) => {
    const text = completeDecimalText(vector.data[row]!);
    return PLAIN_DECIMAL.test(text) ? `${quote}${padFraction(text, scale)}${quote}` : null;
  });
}

/** Zeros up to a declared scale; digits are never cut. */
function padFraction(text: string, scale: number | undefined): string {
  if (scale === undefined || scale === 0) return text;
  const point = text.indexOf('.');
  if (point < 0) return `${text}.${'0'.repeat(scale)}`;
  return text.padEnd(point + 1 + scale, '0');
}

function encodeTimestamps(data: BigInt64Array, nulls: Uint8Array, rowCount: number, tokens: string[]): number {
  const words = halves(data);
  let shownDay = Number.NaN;
  let dayText = '';
  let lost = 0;
  for (let row = 0; row < rowCount; row++) {
    const high = words[row * 2 + 1 - LOW]!;
    if (nulls[row] === 1) tokens[row] = NULL_TOKEN;
    else if (high > -SAFE_HIGH && high < SAFE_HIGH) {
      const micros = high * TWO_32 + (words[row * 2 + LOW]! >>> 0);
      const day = Math.floor(micros / MICROS_PER_DAY);
      // Neighbours often share their day.
      if (day !== shownDay) {
        shownDay = day;
        dayText = `"${formatDate(day)}T`;
      }
      tokens[row] = `${dayText}${formatTime(micros - day * MICROS_PER_DAY)}Z"`;
    } else if (isShowableTimestamp(data[row]!)) tokens[row] = `"${formatTimestamp(data[row]!)}"`;
    else {
      tokens[row] = NULL_TOKEN;
      lost++;
    }
  }
  return lost;
}

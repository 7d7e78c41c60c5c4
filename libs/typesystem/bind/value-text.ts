import { PenstockError } from '#libs/kernel/pure';
import { formatTime, formatTimestamp, isTimeOfDay, isShowableTimestamp } from '../calendar.js';
import {
  describeType,
  isApproximate,
  isDecimal,
  isFloat32,
  type ColumnType,
  type Decimal,
  type TypedValue,
} from '../canonical-type.js';
import { countDigits, formatDecimal, measureDecimal, rescaleDecimal, trimDecimal } from '../decimal.js';
import { float64Text, shortestFloat32 } from '../wire/float-text.js';

/** A value that the dialect cannot take as it is; never shows the value. */
export function bindOverflow(type: ColumnType, limit: string): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: `A bound ${describeType(type)} value does not fit: ${limit}.`,
    details: { reason: 'bind_overflow', type: describeType(type) },
  });
}

/** The double of an approximate value; a float32 gives the double its shortest text names, so 1.1 stays 1.1. */
export function approximateNumber({ type, value }: TypedValue): number {
  if (typeof value !== 'number') throw bindOverflow(type, 'it is not a number');
  return isFloat32(type) && Number.isFinite(value) ? shortestFloat32(value) : value;
}

/** The exact value at the scale of its type; a type it does not fit is an overflow, nothing is rounded. */
export function exactDecimal({ type, value }: TypedValue): Decimal {
  if (!isDecimal(value)) throw bindOverflow(type, 'it is not an exact number');
  const { precision, scale } = type;
  const scaled = scale === undefined ? trimDecimal(value) : rescaleDecimal(value, scale);
  if (scaled === null || (precision !== undefined && measureDecimal(scaled).integer > precision - scaled.scale)) {
    throw bindOverflow(type, 'it exceeds its declared precision or scale');
  }
  return scaled;
}

/** Size of the narrowest decimal column of at most `width` digits that holds the value exactly. */
export function sizeWithin(width: number, type: ColumnType, value: Decimal): { precision: number; scale: number } {
  const { scale } = value;
  const digits = Math.max(value.unscaled === 0n ? 0 : countDigits(value.unscaled), scale);
  if (digits > width) throw bindOverflow(type, `the engine's decimals hold ${width} digits`);
  const { precision } = type;
  return { precision: precision !== undefined && precision <= width ? precision : width, scale };
}

/** Text that every dialect's CAST reads back as the same value. */
export function valueText(typed: TypedValue): string | null {
  const { type, value } = typed;
  if (value === null) return null;
  switch (type.type) {
    case 'BOOLEAN':
      return value === true ? 'true' : 'false';
    case 'DECIMAL':
      return isApproximate(type) ? float64Text(approximateNumber(typed)) : formatDecimal(exactDecimal(typed));
    case 'BIGDECIMAL':
      return formatDecimal(exactDecimal(typed));
    case 'TIME':
      if (typeof value !== 'number' || !isTimeOfDay(value)) throw bindOverflow(type, 'it is outside the day');
      return formatTime(value);
    case 'TIMESTAMP':
      return timestampText(typed);
    default:
      return String(value);
  }
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export function timestampText({ type, value }: TypedValue): string {
  if (typeof value !== 'bigint' || !isShowableTimestamp(value))
    throw bindOverflow(type, 'it is outside years 0001–9999');
  return formatTimestamp(value);
}

/** `YYYY-MM-DD HH:MM:SS.ffffff`, for dialects without an offset in their timestamp text. */
export function plainTimestampText(typed: TypedValue): string {
  return timestampText(typed).slice(0, -1).replace('T', ' ');
}

/** Bytes as lower-case hexadecimal. */
export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte]!;
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

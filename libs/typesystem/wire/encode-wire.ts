import { encodeBase64 } from '../base64.js';
import {
  formatTime,
  formatTimestamp,
  isShowableDay,
  isShowableTimestamp,
  isTimeOfDay,
  parseDateText,
} from '../calendar.js';
import { isDecimal, isFloat32, type CanonicalValue, type ColumnType, type Decimal } from '../canonical-type.js';
import { formatDecimal, rescaleDecimal } from '../decimal.js';
import { float32Text, float64Text } from './float-text.js';

/** JSON null: SQL NULL, and what a value without a wire form becomes. */
export const NULL_TOKEN = 'null';

/**
 * The JSON token of a value by its declared type (contract 01 §5.2); the same bytes on every door. A value with no
 * wire form (NaN, infinities, dates outside 0001–9999, times outside the day) is `null`, and `onUnrepresentable` is
 * called once for it.
 */
export function encodeWire(type: ColumnType, value: CanonicalValue, onUnrepresentable?: () => void): string {
  if (value === null) return NULL_TOKEN;
  const token = tokenOf(type, value);
  if (token === null) onUnrepresentable?.();
  return token ?? NULL_TOKEN;
}

function tokenOf(type: ColumnType, value: NonNullable<CanonicalValue>): string | null {
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      if (type.type !== 'TIMESTAMP') return `"${value}"`;
      return isShowableTimestamp(value) ? `"${formatTimestamp(value)}"` : null;
    case 'number':
      if (type.type === 'TIME') return isTimeOfDay(value) ? `"${formatTime(value)}"` : null;
      if (!Number.isFinite(value)) return null;
      return isFloat32(type) ? float32Text(value) : float64Text(value);
    case 'string':
      if (type.type !== 'DATE') return JSON.stringify(value);
      return isShowableDay(parseDateText(value) ?? Number.NaN) ? `"${value}"` : null;
    default: {
      if (!isDecimal(value)) return `"${encodeBase64(value)}"`;
      const text = formatDecimal(paddedTo(type.scale, value));
      return type.type === 'BIGDECIMAL' ? `"${text}"` : text;
    }
  }
}

/** Zeros are added up to a declared scale; digits are never cut. */
function paddedTo(scale: number | undefined, value: Decimal): Decimal {
  return scale === undefined ? value : (rescaleDecimal(value, scale) ?? value);
}

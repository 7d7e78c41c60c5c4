import {
  encodeBase64,
  formatDate,
  formatDecimal,
  formatTime,
  formatTimestamp,
  isDecimal,
  isFloat32,
  type CanonicalValue,
  type ColumnType,
} from '#libs/typesystem';
import { fromInteger, type Decimal } from '../decimal.js';
import type { ContextOrigin, Taint } from './taint.js';
import { hash, number, sequence, string, type Value } from './values.js';

/** A Context key's value: what `:key` and `${key}` bind (contract 01 §3.3). */
export interface ContextValue {
  type: ColumnType;
  value: CanonicalValue;
  origin: ContextOrigin;
  /** A dry-render sample: checked built-ins accept it by taking their first listed item. */
  sample?: boolean;
}

/** Arrays and objects a preview may pass (contract 05 §9); what they hold is tainted, and bound as computed. */
export type ContextStructure =
  | { origin: ContextOrigin; items: readonly ContextEntry[] }
  | { origin: ContextOrigin; fields: ReadonlyMap<string, ContextEntry> };

export type ContextEntry = ContextValue | ContextStructure;

export function isContextValue(entry: ContextEntry): entry is ContextValue {
  return 'type' in entry;
}

/** The value as the expression language sees it; undefined for null. */
export function contextValue(key: string | null, entry: ContextEntry): Value | undefined {
  if ('items' in entry) return sequence(entry.items.map((item) => contextValue(null, item)));
  if ('fields' in entry) {
    const { origin } = entry;
    const taint: Taint = { key: null, type: { type: 'STRING' }, own: null, origin, sample: false };
    return hash(
      [...entry.fields].map(([name, field]) => ({ key: string(name, taint), value: contextValue(null, field) })),
    );
  }
  const { type, value, origin, sample } = entry;
  if (value === null) return undefined;
  return scalar(type, value, { key, type, own: value, origin, sample: sample ?? false });
}

function scalar(type: ColumnType, value: CanonicalValue, taint: Taint): Value {
  switch (type.type) {
    case 'BOOLEAN':
      return { kind: 'boolean', truth: value === true, taint };
    case 'INTEGER':
    case 'BIGINTEGER':
    case 'DECIMAL':
    case 'BIGDECIMAL':
      return number(numeric(type, value), taint);
    default:
      return string(contextText(type, value), taint);
  }
}

function numeric(type: ColumnType, value: CanonicalValue): Decimal | number {
  if (isDecimal(value)) return value;
  if (typeof value === 'bigint') return fromInteger(value);
  if (typeof value !== 'number') return NaN;
  if (type.type === 'INTEGER') return fromInteger(value);
  return isFloat32(type) ? Number(Math.fround(value).toPrecision(8)) : value;
}

/** Dates arrive as strings, bytes as base64 (contract 05 §4.5); fraction zeros of seconds are not printed. */
function contextText(type: ColumnType, value: CanonicalValue): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return encodeBase64(value);
  if (type.type === 'TIME' && typeof value === 'number') return shortSeconds(formatTime(value));
  if (type.type === 'TIMESTAMP' && typeof value === 'bigint') return shortTimestamp(formatTimestamp(value));
  if (type.type === 'DATE' && typeof value === 'number') return formatDate(value);
  return isDecimal(value) ? formatDecimal(value) : String(value);
}

/** `14:30:00.120000` → `14:30:00.12`; a whole second loses its fraction. */
function shortSeconds(text: string): string {
  return text.slice(0, 8) + text.slice(8).replace(/\.?0+$/, '');
}

function shortTimestamp(text: string): string {
  return `${text.slice(0, 11)}${shortSeconds(text.slice(11, -1))}Z`;
}

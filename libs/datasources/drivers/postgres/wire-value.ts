import type { WireValue } from './messages.js';

/** Bound values as the wire takes them: text for everything but bytes. Placeholders carry the type (01 §4.4). */
export function wireValue(value: unknown): WireValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  throw new TypeError('a bound value must be text, bytes, a number or a boolean');
}

import { quoteForMessage } from './coercion.js';

/**
 * The exact text of a JSON number, or null when the value is no number. Bodies arrive with their numbers as exact
 * tokens; values that came through a double (MCP arguments, contract 01 §1) are taken by their shortest text.
 * A plain JSON object that merely has such members is not a number.
 */
export function numberTokenText(json: unknown): string | null {
  if (typeof json === 'bigint') return json.toString();
  if (typeof json === 'number') return Number.isFinite(json) ? doubleText(json) : null;
  if (typeof json !== 'object' || json === null) return null;
  const prototype: unknown = Object.getPrototypeOf(json);
  if (prototype === null || prototype === Object.prototype) return null;
  const token = json as { isLosslessNumber?: unknown; value?: unknown };
  return token.isLosslessNumber === true && typeof token.value === 'string' ? token.value : null;
}

/** A whole double is written without point and exponent, so `5.0` and `1e21` count as integers there. */
function doubleText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** What a value is, for a message: `"text"`, `number 5.0`, `true`, `an array`. Never more than 64 characters of it. */
export function describeJson(json: unknown): string {
  const token = numberTokenText(json);
  if (token !== null) return `number ${quoteForMessage(token).slice(1, -1)}`;
  if (typeof json === 'string') return quoteForMessage(json);
  if (typeof json === 'boolean' || json === null) return String(json);
  if (Array.isArray(json)) return 'an array';
  return typeof json === 'object' ? 'an object' : typeof json;
}

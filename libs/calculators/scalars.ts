import { isExactNumber, type JsonValue } from '#libs/kernel/pure';
import {
  coerceText,
  compareDecimals,
  countDigits,
  float64Text,
  isDecimal,
  parseNumberToken,
  type Decimal,
  type TypedValue,
} from '#libs/typesystem';

/** A number of any canonical type, exactly; undefined for anything that is none. */
export function exactNumber({ type, value }: TypedValue): Decimal | undefined {
  if (value === null) return undefined;
  switch (type.type) {
    case 'INTEGER':
      return typeof value === 'number' ? { unscaled: BigInt(value), scale: 0 } : undefined;
    case 'BIGINTEGER':
      return typeof value === 'bigint' ? { unscaled: value, scale: 0 } : undefined;
    case 'DECIMAL':
    case 'BIGDECIMAL':
      if (isDecimal(value)) return value;
      return typeof value === 'number' ? (parseNumberToken(float64Text(value)) ?? undefined) : undefined;
    default:
      return undefined;
  }
}

/** The scalar a JSON literal of an ANY input is; undefined for arrays and objects. Numbers are exact decimals. */
export function scalarLiteral(json: JsonValue): TypedValue | undefined {
  if (json === null) return { type: { type: 'STRING' }, value: null };
  if (typeof json === 'string') {
    const read = coerceText({ type: 'STRING' }, json);
    return read.ok ? { type: { type: 'STRING' }, value: read.value } : undefined;
  }
  if (typeof json === 'boolean') return { type: { type: 'BOOLEAN' }, value: json };
  if (!isExactNumber(json)) return undefined;
  const value = parseNumberToken(json.value);
  return value ? decimalValue(value) : undefined;
}

const MAX_DECIMAL_DIGITS = 15;

/** The smallest type that holds the number. */
function decimalValue(value: Decimal): TypedValue {
  const { scale } = value;
  const fits = countDigits(value.unscaled) <= MAX_DECIMAL_DIGITS && scale <= MAX_DECIMAL_DIGITS;
  return {
    type: fits ? { type: 'DECIMAL', precision: MAX_DECIMAL_DIGITS, scale } : { type: 'BIGDECIMAL', scale },
    value,
  };
}

/** Whether two scalars are the same: numbers by value (`1` is `1.0`), a text as the other's type, null only null. */
export function sameScalar(a: TypedValue, b: TypedValue): boolean {
  if (a.value === null || b.value === null) return a.value === b.value;
  const left = exactNumber(a);
  const right = exactNumber(b);
  if (left && right) return compareDecimals(left, right) === 0;
  if (left || right) return false;
  if (a.type.type === 'STRING' && b.type.type !== 'STRING') return sameScalar(asType(a, b), b);
  if (b.type.type === 'STRING' && a.type.type !== 'STRING') return sameScalar(a, asType(b, a));
  if (a.value instanceof Uint8Array && b.value instanceof Uint8Array) return sameBytes(a.value, b.value);
  return a.type.type === b.type.type && a.value === b.value;
}

/** The text read as the type of another value; null when it does not have that form. */
function asType(text: TypedValue, { type }: TypedValue): TypedValue {
  const read = coerceText(type, String(text.value));
  return { type, value: read.ok ? read.value : null };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

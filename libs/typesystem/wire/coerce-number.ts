import { describeType, isApproximate, isFloat32, type ColumnType, type Decimal } from '../canonical-type.js';
import { measureDecimal, parseDecimal, parseNumberToken, rescaleDecimal } from '../decimal.js';
import { accepted, outOfBounds, quoteForMessage, wrongForm, type Coercion } from './coercion.js';

const INTEGER_TEXT = /^-?[0-9]+$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** Longest number text a caller may send (contract 01 §5.3). */
export const MAX_NUMBER_CHARS = 1000;

/** INTEGER from digits: int32. */
export function coerceInteger(text: string, got: string): Coercion {
  if (!INTEGER_TEXT.test(text)) return wrongForm('an integer without point or exponent', got);
  const value = Number(text);
  return value >= -2147483648 && value <= 2147483647
    ? accepted(value === 0 ? 0 : value)
    : outOfBounds('INTEGER holds -2147483648 to 2147483647', got);
}

/** BIGINTEGER from digits: int64. */
export function coerceBigInteger(text: string, got: string): Coercion {
  if (!INTEGER_TEXT.test(text)) return wrongForm('a string of digits', got);
  const value = text.length > MAX_NUMBER_CHARS ? null : BigInt(text);
  return value !== null && value >= MIN_INT64 && value <= MAX_INT64
    ? accepted(value)
    : outOfBounds('BIGINTEGER holds -9223372036854775808 to 9223372036854775807', got);
}

/** DECIMAL from a JSON number token; exact when the type has a scale, else a float. */
export function coerceNumberToken(type: ColumnType, token: string): Coercion {
  const got = quoteForMessage(token);
  if (isApproximate(type)) return coerceFloat(type, token, got);
  const value = parseNumberToken(token, MAX_NUMBER_CHARS);
  return value === null ? outOfBounds('the number is too long written out', got) : fitDecimal(type, value, got);
}

/** BIGDECIMAL, and DECIMAL given as text, from plain decimal text without exponent. */
export function coercePlainDecimal(type: ColumnType, text: string): Coercion {
  const got = quoteForMessage(text);
  if (text.length > MAX_NUMBER_CHARS) return outOfBounds(`at most ${MAX_NUMBER_CHARS} characters`, got);
  const value = parseDecimal(text);
  if (value === null) return wrongForm('plain decimal text such as 12.50', got);
  return isApproximate(type) ? coerceFloat(type, text, got) : fitDecimal(type, value, got);
}

function coerceFloat(type: ColumnType, text: string, got: string): Coercion {
  const value = isFloat32(type) ? Math.fround(Number(text)) : Number(text);
  return Number.isFinite(value) ? accepted(value) : outOfBounds(`beyond the range of ${describeType(type)}`, got);
}

/** The value at the declared scale. Zeros at the end of the fraction carry no value and never overflow a scale. */
function fitDecimal(type: ColumnType, value: Decimal, got: string): Coercion {
  const scaled = type.scale === undefined ? value : rescaleDecimal(value, type.scale);
  if (scaled === null) return outOfBounds(`${describeType(type)} holds ${type.scale} fraction digits`, got);
  if (type.precision !== undefined) {
    const integerDigits = type.precision - (type.scale ?? measureDecimal(value).fraction);
    if (measureDecimal(value).integer > integerDigits) {
      return outOfBounds(`${describeType(type)} holds ${Math.max(integerDigits, 0)} integer digits`, got);
    }
  }
  return accepted(scaled);
}

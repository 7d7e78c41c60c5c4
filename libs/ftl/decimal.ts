import { compareDecimals, formatDecimal, powerOfTen, type Decimal } from '#libs/typesystem';

export type { Decimal };

/** Results keep at most this many fraction digits, and a quotient has at least as many before trimming. */
const ENGINE_SCALE = 12;

const TOO_LARGE = 10n ** 1000n;

export const ZERO: Decimal = { unscaled: 0n, scale: 0 };
export const ONE: Decimal = { unscaled: 1n, scale: 0 };

/** Reads `-?digits[.digits]`, or null. */
export function parseDecimal(text: string): Decimal | null {
  if (!/^[-+]?(\d+(\.\d*)?|\.\d+)$/.test(text)) return null;
  const point = text.indexOf('.');
  if (point < 0) return { unscaled: BigInt(text.replace(/^\+/, '')), scale: 0 };
  const digits = text.slice(0, point) + text.slice(point + 1);
  return { unscaled: BigInt(digits.replace(/^\+/, '')), scale: text.length - point - 1 };
}

export function fromInteger(value: number | bigint): Decimal {
  return { unscaled: BigInt(value), scale: 0 };
}

/** True above 1,000 digits before or after the point. */
export function tooLarge(d: Decimal): boolean {
  return d.scale > 1000 || d.unscaled >= TOO_LARGE || d.unscaled <= -TOO_LARGE;
}

function atScale(d: Decimal, scale: number): bigint {
  return d.unscaled * powerOfTen(scale - d.scale);
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { unscaled: atScale(a, scale) + atScale(b, scale), scale };
}

export function negate(d: Decimal): Decimal {
  return { unscaled: -d.unscaled, scale: d.scale };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, negate(b));
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  const product = { unscaled: a.unscaled * b.unscaled, scale: a.scale + b.scale };
  return product.scale > ENGINE_SCALE ? rescale(product, Math.max(ENGINE_SCALE, 0), 'half-up') : product;
}

/** Null for a division by zero. */
export function divide(a: Decimal, b: Decimal): Decimal | null {
  if (b.unscaled === 0n) return null;
  const floor = Math.max(a.scale, b.scale);
  const scale = Math.max(ENGINE_SCALE, floor);
  const numerator = a.unscaled * powerOfTen(scale + b.scale);
  const denominator = b.unscaled * powerOfTen(a.scale);
  return trimTo({ unscaled: divideRounded(numerator, denominator, 'half-up'), scale }, floor);
}

/** Remainder of the operands truncated to integers; null for a zero divisor. */
export function remainder(a: Decimal, b: Decimal): Decimal | null {
  const divisor = truncated(b);
  return divisor === 0n ? null : { unscaled: truncated(a) % divisor, scale: 0 };
}

export const compare = compareDecimals;

export function truncated(d: Decimal): bigint {
  return d.unscaled / powerOfTen(d.scale);
}

export function floor(d: Decimal): bigint {
  const whole = truncated(d);
  return d.unscaled < 0n && whole * powerOfTen(d.scale) !== d.unscaled ? whole - 1n : whole;
}

export function ceiling(d: Decimal): bigint {
  return -floor(negate(d));
}

export function isInteger(d: Decimal): boolean {
  return d.unscaled % powerOfTen(d.scale) === 0n;
}

export type Rounding = 'half-up' | 'half-even';

export function rescale(d: Decimal, scale: number, rounding: Rounding): Decimal {
  if (scale >= d.scale) return { unscaled: atScale(d, scale), scale };
  return { unscaled: divideRounded(d.unscaled, powerOfTen(d.scale - scale), rounding), scale };
}

function divideRounded(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  let quotient = n / d;
  const twice = (n % d) * 2n;
  if (twice > d || (twice === d && (rounding === 'half-up' || quotient % 2n === 1n))) quotient += 1n;
  return negative ? -quotient : quotient;
}

/** Removes trailing fraction zeros, down to `minScale` fraction digits. */
export function trimTo(d: Decimal, minScale: number): Decimal {
  let { unscaled, scale } = d;
  while (scale > minScale && unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale--;
  }
  return { unscaled, scale };
}

/** Digits at own scale, no grouping, no exponent. */
export const plain = formatDecimal;

/** The decimal a finite double prints as (shortest round-trip text, no exponent). */
export function fromDouble(value: number): Decimal {
  const [mantissa, exponent] = value.toString().split('e');
  const parsed = parseDecimal(mantissa!) ?? ZERO;
  const shift = exponent === undefined ? 0 : Number(exponent);
  if (shift >= parsed.scale) return { unscaled: parsed.unscaled * powerOfTen(shift - parsed.scale), scale: 0 };
  return { unscaled: parsed.unscaled, scale: parsed.scale - shift };
}

export function toDouble(d: Decimal): number {
  return Number(plain(d));
}

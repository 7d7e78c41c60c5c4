import type { Decimal } from './canonical-type.js';

const POWERS: bigint[] = [1n];

/** 10^exponent; small powers are kept, they are needed once per value. */
export function powerOfTen(exponent: number): bigint {
  if (exponent > 512) return 10n ** BigInt(exponent);
  for (let last = POWERS.length - 1; last < exponent; last++) POWERS.push(POWERS[last]! * 10n);
  return POWERS[exponent]!;
}

/** Reads plain decimal text `-?[0-9]+(\.[0-9]+)?`; null for anything else. The written scale is kept. */
export function parseDecimal(text: string): Decimal | null {
  let at = text.charCodeAt(0) === 45 ? 1 : 0;
  const integerStart = at;
  let point = -1;
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 46 && point < 0 && at > integerStart) point = at;
    else if (c < 48 || c > 57) return null;
  }
  if (at === integerStart || point === at - 1) return null;
  if (point < 0) return { unscaled: BigInt(text), scale: 0 };
  const digits = text.slice(0, point) + text.slice(point + 1);
  return { unscaled: BigInt(digits), scale: text.length - point - 1 };
}

/** Puts the zero before the point that Oracle and DuckDB leave out: `-.5` is `-0.5`. */
export function completeDecimalText(text: string): string {
  if (text.charCodeAt(0) === 46) return `0${text}`;
  return text.charCodeAt(0) === 45 && text.charCodeAt(1) === 46 ? `-0${text.slice(1)}` : text;
}

const NUMBER_TOKEN = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * Reads a JSON number token, exponent included, exactly. Null when the text is no number token, or when it is longer
 * than `maxChars` as it stands or written out (`1e131000` is eight bytes in and 131 KB out, contract 01 §1).
 */
export function parseNumberToken(token: string, maxChars = 1000): Decimal | null {
  if (token.length > maxChars) return null;
  const match = NUMBER_TOKEN.exec(token);
  if (!match) return null;
  const [, sign, integer = '', fraction = '', exponentText = '0'] = match;
  if (exponentText.length > 7) return null;
  const exponent = Number(exponentText);
  const scale = fraction.length - exponent;
  if (Math.abs(exponent) > maxChars || integer.length + Math.max(exponent, 0) > maxChars || scale > maxChars)
    return null;
  const unscaled = BigInt(`${sign}${integer}${fraction}`);
  return scale >= 0 ? { unscaled, scale } : { unscaled: unscaled * powerOfTen(-scale), scale: 0 };
}

/** Plain text, no exponent, with exactly `scale` fraction digits. */
export function formatDecimal({ unscaled, scale }: Decimal): string {
  return formatUnscaled(unscaled, scale);
}

export function formatUnscaled(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Negative, zero or positive as `a` is below, equal to or above `b`; `1.0` equals `1`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.unscaled * powerOfTen(scale - a.scale);
  const right = b.unscaled * powerOfTen(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The same value at another scale, or null where digits other than zeros would be cut: nothing is ever rounded. */
export function rescaleDecimal(value: Decimal, scale: number): Decimal | null {
  if (scale === value.scale) return value;
  if (scale > value.scale) return { unscaled: value.unscaled * powerOfTen(scale - value.scale), scale };
  const divisor = powerOfTen(value.scale - scale);
  return value.unscaled % divisor === 0n ? { unscaled: value.unscaled / divisor, scale } : null;
}

/** The same value with the smallest scale that holds it. */
export function trimDecimal(value: Decimal): Decimal {
  let { unscaled, scale } = value;
  if (scale === 0 || unscaled === 0n) return { unscaled, scale: 0 };
  const digits = unscaled.toString();
  let zeros = 0;
  while (zeros < scale && digits.charCodeAt(digits.length - 1 - zeros) === 48) zeros++;
  if (zeros === 0) return value;
  unscaled /= powerOfTen(zeros);
  scale -= zeros;
  return { unscaled, scale };
}

/** Count of digits of |unscaled|; 0 counts as one digit. */
export function countDigits(unscaled: bigint): number {
  return (unscaled < 0n ? -unscaled : unscaled).toString().length;
}

/** Digits before and after the point of the value's shortest form: what a column must hold. `0` has no integer digit. */
export function measureDecimal(value: Decimal): { integer: number; fraction: number } {
  const { unscaled, scale } = trimDecimal(value);
  return { integer: unscaled === 0n ? 0 : Math.max(countDigits(unscaled) - scale, 0), fraction: scale };
}

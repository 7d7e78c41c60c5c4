import { DriverFailure } from '../driver-failure.js';

/** Sign words of a binary NUMERIC. */
const POSITIVE = 0x0000;
const NEGATIVE = 0x4000;

/** Digits whose number stays a safe integer, so that plain arithmetic on it is exact. */
const SAFE_DIGITS = 15;
const POWERS = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/**
 * Writes a binary NUMERIC's unscaled value at `scale` into an int64 slot. False for NaN and the infinities.
 * Up to 15 digits are summed as a safe integer, more as BigInt: no value is ever rounded.
 */
export function readNumericInto(
  buffer: Buffer,
  start: number,
  scale: number,
  data: BigInt64Array,
  halves: Int32Array,
  row: number,
): boolean {
  const groups = buffer.readUInt16BE(start);
  const sign = buffer.readUInt16BE(start + 4);
  if (sign !== POSITIVE && sign !== NEGATIVE) return false;
  if (groups === 0) {
    data[row] = 0n;
    return true;
  }
  // The number is (its groups as one integer) × 10^exponent at the wanted scale.
  const exponent = 4 * (buffer.readInt16BE(start + 2) - groups + 1) + scale;
  if (4 * groups + Math.max(exponent, 0) <= SAFE_DIGITS && exponent >= -SAFE_DIGITS) {
    let integer = 0;
    for (let group = 0, at = start + 8; group < groups; group += 1, at += 2)
      integer = integer * 10_000 + buffer.readUInt16BE(at);
    if (exponent >= 0) integer *= POWERS[exponent]!;
    else if (integer % POWERS[-exponent]! === 0) integer /= POWERS[-exponent]!;
    else throw outsideScale(scale);
    if (sign === NEGATIVE) integer = -integer;
    const high = Math.floor(integer / 2 ** 32);
    const low = integer - high * 2 ** 32;
    halves[row * 2] = LITTLE_ENDIAN ? low : high;
    halves[row * 2 + 1] = LITTLE_ENDIAN ? high : low;
    return true;
  }
  let integer = 0n;
  for (let group = 0, at = start + 8; group < groups; group += 1, at += 2) {
    integer = integer * 10_000n + BigInt(buffer.readUInt16BE(at));
  }
  if (exponent >= 0) integer *= 10n ** BigInt(exponent);
  else {
    const divisor = 10n ** BigInt(-exponent);
    if (integer % divisor !== 0n) throw outsideScale(scale);
    integer /= divisor;
  }
  if (sign === NEGATIVE) integer = -integer;
  if (BigInt.asIntN(64, integer) !== integer) throw outsideScale(scale);
  data[row] = integer;
  return true;
}

const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function outsideScale(scale: number): DriverFailure {
  return new DriverFailure('other', `The server sent a NUMERIC that does not fit its declared scale ${scale}.`);
}

/** Plain decimal text with the value's own display scale; null for NaN and the infinities. */
export function numericText(buffer: Buffer, start: number): string | null {
  const groups = buffer.readUInt16BE(start);
  const weight = buffer.readInt16BE(start + 2);
  const sign = buffer.readUInt16BE(start + 4);
  const scale = buffer.readUInt16BE(start + 6);
  if (sign !== POSITIVE && sign !== NEGATIVE) return null;
  const digit = (group: number): string =>
    group >= 0 && group < groups ? String(buffer.readUInt16BE(start + 8 + 2 * group)).padStart(4, '0') : '0000';
  let integer = '';
  for (let group = 0; group <= weight; group += 1) integer += digit(group);
  integer = integer.replace(/^0+(?=\d)/, '') || '0';
  let fraction = '';
  for (let group = weight + 1; fraction.length < scale; group += 1) fraction += digit(group);
  const text = scale === 0 ? integer : `${integer}.${fraction.slice(0, scale)}`;
  return sign === NEGATIVE ? `-${text}` : text;
}

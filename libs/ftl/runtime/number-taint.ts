import { isExactDecimal, type ColumnType } from '#libs/typesystem';
import { isInteger, trimTo, truncated, type Decimal } from '../decimal.js';
import { BIGDECIMAL_TYPE, derived, type Taint } from './taint.js';
import type { NumberValue } from './values.js';

/**
 * Taint of a computed number: the tainted operands' common type while the result fits it, else BIGDECIMAL
 * (contract 01 §4.1).
 */
export function derivedNumber(result: Decimal, ...operands: NumberValue[]): Taint | null {
  const taints = operands.map(({ taint }) => taint);
  const types = taints.flatMap((taint) => (taint ? [taint.type] : []));
  const first = types[0];
  if (!first) return null;
  const common = types.every((type) => sameType(type, first)) && fits(result, first) ? first : BIGDECIMAL_TYPE;
  return derived(common, ...taints);
}

function sameType(a: ColumnType, b: ColumnType): boolean {
  return a.type === b.type && a.precision === b.precision && a.scale === b.scale;
}

function fits(value: Decimal, type: ColumnType): boolean {
  switch (type.type) {
    case 'INTEGER':
      return within(value, 31n);
    case 'BIGINTEGER':
      return within(value, 63n);
    case 'DECIMAL':
    case 'BIGDECIMAL': {
      if (!isExactDecimal(type)) return true;
      const { unscaled, scale } = trimTo(value, 0);
      if (type.scale !== undefined && scale > type.scale) return false;
      if (type.precision === undefined) return true;
      const whole = type.precision - (type.scale ?? 0);
      const limit = 10n ** BigInt(whole + scale);
      return unscaled < limit && unscaled > -limit;
    }
    default:
      return false;
  }
}

function within(value: Decimal, bits: bigint): boolean {
  if (!isInteger(value)) return false;
  const whole = truncated(value);
  return whole >= -(1n << bits) && whole < 1n << bits;
}

/** INTEGER, BIGINTEGER or BIGDECIMAL: the smallest that holds a number of the author's. */
export function smallestNumberType({ number: value }: NumberValue): ColumnType {
  if (typeof value === 'number') return BIGDECIMAL_TYPE;
  if (value.scale === 0 && within(value, 31n)) return { type: 'INTEGER' };
  return value.scale === 0 && within(value, 63n) ? { type: 'BIGINTEGER' } : BIGDECIMAL_TYPE;
}

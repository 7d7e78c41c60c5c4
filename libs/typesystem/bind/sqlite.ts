import { isApproximate, isExactDecimal, type TypedValue } from '../canonical-type.js';
import { countDigits, formatDecimal, trimDecimal } from '../decimal.js';
import { plain, type BindDialect, type BoundValue } from './bound-value.js';
import { approximateNumber, exactDecimal, valueText } from './value-text.js';

/** Digits that a double keeps, whatever they are. */
const DOUBLE_DIGITS = 15;

/** Storage classes: whole numbers as bigint, because `node:sqlite` binds a number as REAL. */
export const sqlite: BindDialect = {
  placeholder: () => '?',
  numbered: false,
  maxBinds: 32_766,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    switch (type.type) {
      case 'BOOLEAN':
        return plain('INTEGER', value === null ? null : value === true ? 1n : 0n);
      case 'INTEGER':
        return plain('INTEGER', typeof value === 'number' ? BigInt(value) : null);
      case 'BIGINTEGER':
        return plain('INTEGER', typeof value === 'bigint' ? value : null);
      case 'BINARY':
        return plain('BLOB', value instanceof Uint8Array ? value : null);
      default:
        if (value === null) return plain(isApproximate(type) || isExactDecimal(type) ? 'REAL' : 'TEXT', null);
        if (isApproximate(type)) return plain('REAL', approximateNumber(typed));
        return isExactDecimal(type) ? bindDecimal(typed) : plain('TEXT', valueText(typed));
    }
  },
};

function bindDecimal(typed: TypedValue): BoundValue {
  const decimal = exactDecimal(typed);
  const text = formatDecimal(decimal);
  return countDigits(trimDecimal(decimal).unscaled) <= DOUBLE_DIGITS
    ? plain('REAL', Number(text))
    : plain('TEXT', text);
}

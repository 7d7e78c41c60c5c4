import { isApproximate, type TypedValue } from '../canonical-type.js';
import { cast, plain, unlessNull, type BindDialect, type BoundValue } from './bound-value.js';
import {
  approximateNumber,
  bindOverflow,
  exactDecimal,
  plainTimestampText,
  sizeWithin,
  valueText,
} from './value-text.js';

/** Digits of a DECIMAL; what lies beyond, the server rounds without a word. */
const WIDEST = 65;
/** Fraction digits of MySQL's DECIMAL; MariaDB has a few more. */
const MOST_FRACTION = 30;

/** `driverType` names the protocol type a typed parameter of the driver carries. */
export const mysql: BindDialect = {
  placeholder: () => '?',
  numbered: false,
  maxBinds: 65_535,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    switch (type.type) {
      case 'BOOLEAN':
        return plain('TINY', value === null ? null : value === true ? 1 : 0);
      case 'INTEGER':
        return plain('LONG', typeof value === 'number' ? value : null);
      case 'BIGINTEGER':
        return plain('LONGLONG', typeof value === 'bigint' ? value : null);
      case 'DECIMAL':
        if (isApproximate(type)) return plain('DOUBLE', value === null ? null : approximateNumber(typed));
        return bindDecimal(typed);
      case 'BIGDECIMAL':
        return bindDecimal(typed);
      case 'BINARY':
        return plain('BLOB', value instanceof Uint8Array ? value : null);
      case 'DATE':
        return cast('DATE', valueText(typed), 'VAR_STRING');
      case 'TIME':
        return plain('TIME', valueText(typed));
      case 'TIMESTAMP':
        return cast(
          'DATETIME(6)',
          unlessNull(value, () => plainTimestampText(typed)),
          'VAR_STRING',
        );
      default:
        return plain('VAR_STRING', valueText(typed));
    }
  },
};

function bindDecimal(typed: TypedValue): BoundValue {
  if (typed.value === null) return plain('NEWDECIMAL', null);
  const { scale } = sizeWithin(WIDEST, typed.type, exactDecimal(typed));
  if (scale > MOST_FRACTION)
    throw bindOverflow(typed.type, `the engine's decimals hold ${MOST_FRACTION} fraction digits`);
  return plain('NEWDECIMAL', valueText(typed));
}

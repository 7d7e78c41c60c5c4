import { isApproximate, type TypedValue } from '../canonical-type.js';
import { cast, plain, unlessNull, type BindDialect, type BoundValue } from './bound-value.js';
import { approximateNumber, plainTimestampText, valueText } from './value-text.js';

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
        return plain('NEWDECIMAL', valueText(typed));
      case 'BIGDECIMAL':
        return plain('NEWDECIMAL', valueText(typed));
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

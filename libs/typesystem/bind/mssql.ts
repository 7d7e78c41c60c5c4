import { isApproximate, isExactDecimal, type TypedValue } from '../canonical-type.js';
import { formatDecimal } from '../decimal.js';
import { cast, plain, unlessNull, type BindDialect, type BoundValue } from './bound-value.js';
import { approximateNumber, exactDecimal, plainTimestampText, sizeWithin, valueText } from './value-text.js';

const WIDEST = 38;

/** `driverType` names the type of the driver's `addParameter`; the n-th value is parameter `dp_n`. */
export const mssql: BindDialect = {
  placeholder: (n) => `@dp_${n}`,
  numbered: true,
  maxBinds: 2_100,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    if (isApproximate(type)) return plain('Float', value === null ? null : approximateNumber(typed));
    if (isExactDecimal(type)) return bindDecimal(typed);
    switch (type.type) {
      case 'BOOLEAN':
        return plain('Bit', value === null ? null : value === true ? 1 : 0);
      case 'INTEGER':
        return plain('Int', typeof value === 'number' ? value : null);
      case 'BIGINTEGER':
        return plain('BigInt', valueText(typed));
      case 'BINARY':
        return plain('VarBinary', value instanceof Uint8Array ? value : null);
      case 'DATE':
        return cast('date', valueText(typed), 'NVarChar');
      case 'TIME':
        return cast('time(6)', valueText(typed), 'NVarChar');
      case 'TIMESTAMP':
        return cast(
          'datetimeoffset(6)',
          unlessNull(value, () => `${plainTimestampText(typed)} +00:00`),
          'NVarChar',
        );
      default:
        return plain('NVarChar', valueText(typed));
    }
  },
};

/** As text: the driver itself would carry a decimal as a double. */
function bindDecimal(typed: TypedValue): BoundValue {
  const { type, value } = typed;
  const decimal = value === null ? { unscaled: 0n, scale: type.scale ?? 0 } : exactDecimal(typed);
  const { scale } = sizeWithin(WIDEST, type, decimal);
  return cast(`decimal(${WIDEST},${scale})`, value === null ? null : formatDecimal(decimal), 'NVarChar');
}

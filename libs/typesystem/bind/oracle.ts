import { isApproximate, isExactDecimal, type TypedValue } from '../canonical-type.js';
import { formatDecimal } from '../decimal.js';
import { plain, unlessNull, type BindDialect, type BoundValue } from './bound-value.js';
import { approximateNumber, exactDecimal, sizeWithin, timestampText, valueText } from './value-text.js';

/** Digits an Oracle NUMBER keeps for certain. */
const WIDEST = 38;
/** Longest text a VARCHAR2 bind takes, in bytes. */
const MAX_VARCHAR = 4_000;

/** `driverType` names the driver's bind type; the n-th value is bind `dp_n`. */
export const oracle: BindDialect = {
  placeholder: (n) => `:dp_${n}`,
  numbered: true,
  maxBinds: 65_535,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    if (isApproximate(type)) return plain('BINARY_DOUBLE', value === null ? null : approximateNumber(typed));
    if (isExactDecimal(type)) return bindDecimal(typed);
    switch (type.type) {
      case 'BOOLEAN':
        return plain('NUMBER', value === null ? null : value === true ? 1 : 0);
      case 'INTEGER':
        return plain('NUMBER', typeof value === 'number' ? value : null);
      case 'BIGINTEGER':
        return wrapped((bind) => `TO_NUMBER(${bind})`, valueText(typed));
      case 'BINARY':
        return value instanceof Uint8Array && value.length > 2_000
          ? plain('BLOB', value)
          : plain('RAW', value as Uint8Array | null);
      case 'DATE':
        return wrapped((bind) => `TO_DATE(${bind},'YYYY-MM-DD')`, valueText(typed));
      case 'TIMESTAMP':
        return wrapped(
          (bind) => `TO_TIMESTAMP_TZ(${bind},'YYYY-MM-DD"T"HH24:MI:SS.FF6TZH:TZM')`,
          unlessNull(value, () => `${timestampText(typed).slice(0, -1)}+00:00`),
        );
      default: {
        const text = valueText(typed);
        // UTF-8 takes at most three bytes per UTF-16 unit.
        return plain(text !== null && text.length * 3 > MAX_VARCHAR ? 'CLOB' : 'VARCHAR', text);
      }
    }
  },
};

function wrapped(sql: (bind: string) => string, value: string | null): BoundValue {
  return { sql, driverType: 'VARCHAR', value };
}

/** The format names point and digits, so that the session's territory has no say in how the text is read. */
function bindDecimal(typed: TypedValue): BoundValue {
  const { type, value } = typed;
  const decimal = value === null ? { unscaled: 0n, scale: type.scale ?? 0 } : exactDecimal(typed);
  const { scale } = sizeWithin(WIDEST, type, decimal);
  const format = `${'9'.repeat(Math.max(WIDEST - scale, 1))}${scale > 0 ? `D${'9'.repeat(scale)}` : ''}`;
  return wrapped(
    (bind) => `TO_NUMBER(${bind},'${format}','NLS_NUMERIC_CHARACTERS=''.,''')`,
    value === null ? null : formatDecimal(decimal),
  );
}

import { isApproximate, type ColumnType, type LogicalType, type TypedValue } from '../canonical-type.js';
import { formatDecimal } from '../decimal.js';
import { cast, type BindDialect, type BoundValue } from './bound-value.js';
import { exactDecimal, sizeWithin, valueText } from './value-text.js';

const TYPES: Record<Exclude<LogicalType, 'DECIMAL' | 'BIGDECIMAL'>, string> = {
  NULL: 'VARCHAR',
  BOOLEAN: 'BOOLEAN',
  INTEGER: 'INTEGER',
  BIGINTEGER: 'BIGINT',
  STRING: 'VARCHAR',
  BINARY: 'BLOB',
  DATE: 'DATE',
  TIME: 'TIME',
  TIMESTAMP: 'TIMESTAMPTZ',
};

const WIDEST = 38;

/**
 * Values go as VARCHAR, bytes as BLOB, inside a CAST: an uncast bind gives a prepared statement no column types. A
 * DuckDB cast rounds silently, so a decimal is cast to a type that holds all its digits.
 */
export const duckdb: BindDialect = {
  placeholder: (n) => `$${n}`,
  numbered: true,
  maxBinds: 65_535,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    if (isApproximate(type)) return cast('DOUBLE', valueText(typed));
    if (type.type === 'DECIMAL' || type.type === 'BIGDECIMAL') return bindDecimal(type, typed);
    return cast(TYPES[type.type], value instanceof Uint8Array ? value : valueText(typed));
  },
};

function bindDecimal(type: ColumnType, typed: TypedValue): BoundValue {
  const decimal = typed.value === null ? { unscaled: 0n, scale: type.scale ?? 0 } : exactDecimal(typed);
  const { precision, scale } = sizeWithin(WIDEST, type, decimal);
  return cast(`DECIMAL(${precision},${scale})`, typed.value === null ? null : formatDecimal(decimal));
}

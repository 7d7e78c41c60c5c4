import { isApproximate, isExactDecimal, type LogicalType, type TypedValue } from '../canonical-type.js';
import { formatDecimal } from '../decimal.js';
import { cast, type BindDialect, type BoundValue } from './bound-value.js';
import { exactDecimal, sizeWithin, valueText } from './value-text.js';

const TYPES: Record<Exclude<LogicalType, 'DECIMAL' | 'BIGDECIMAL'>, string> = {
  NULL: 'VARCHAR',
  BOOLEAN: 'BOOLEAN',
  INTEGER: 'INTEGER',
  BIGINTEGER: 'BIGINT',
  STRING: 'VARCHAR',
  BINARY: 'VARBINARY',
  DATE: 'DATE',
  TIME: 'TIME(6)',
  TIMESTAMP: 'TIMESTAMP(6) WITH TIME ZONE',
};

/** Widest NUMERIC of H2; without a size it has scale 0 and would round. */
const WIDEST = 100_000;

/** H2 behind its PostgreSQL-protocol server. Bytes stay bytes: H2 casts text to its UTF-8 bytes. */
export const h2: BindDialect = {
  placeholder: (n) => `$${n}`,
  numbered: true,
  maxBinds: 65_535,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    if (isApproximate(type)) return cast('DOUBLE PRECISION', valueText(typed));
    if (type.type === 'DECIMAL' || type.type === 'BIGDECIMAL' || isExactDecimal(type)) return bindDecimal(typed);
    return cast(TYPES[type.type], value instanceof Uint8Array ? value : valueText(typed));
  },
};

function bindDecimal(typed: TypedValue): BoundValue {
  const { type, value } = typed;
  const decimal = value === null ? { unscaled: 0n, scale: type.scale ?? 0 } : exactDecimal(typed);
  const { precision, scale } = sizeWithin(WIDEST, type, decimal);
  return cast(`NUMERIC(${precision},${scale})`, value === null ? null : formatDecimal(decimal));
}

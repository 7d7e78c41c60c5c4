import type { LogicalType, TypedValue } from '../canonical-type.js';
import { isApproximate } from '../canonical-type.js';
import { cast, type BindDialect, type BoundValue } from './bound-value.js';
import { hexText, valueText } from './value-text.js';

const TYPES: Record<LogicalType, string> = {
  NULL: 'text',
  BOOLEAN: 'boolean',
  INTEGER: 'int4',
  BIGINTEGER: 'int8',
  DECIMAL: 'numeric',
  BIGDECIMAL: 'numeric',
  STRING: 'text',
  BINARY: 'bytea',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamptz',
};

/** Every value goes as text inside a CAST: uncast, `$1 - interval '1 day'` is read as an interval. */
export const postgres: BindDialect = {
  placeholder: (n) => `$${n}`,
  numbered: true,
  maxBinds: 65_535,
  bind(typed: TypedValue): BoundValue {
    const { type, value } = typed;
    const text = value instanceof Uint8Array ? `\\x${hexText(value)}` : valueText(typed);
    return cast(isApproximate(type) ? 'float8' : TYPES[type.type], text);
  },
};

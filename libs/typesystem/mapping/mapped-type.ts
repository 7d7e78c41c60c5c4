import type { ColumnType } from '../canonical-type.js';

/** What a driver's type becomes. Mapping is total: an unknown type is STRING with a warning (contract 01 §6). */
export interface MappedType {
  type: ColumnType;
  warning?: 'type_mapping.unknown_source_type' | 'type_mapping.sql_variant';
}

export function mapped(type: ColumnType['type'], precision?: number, scale?: number): MappedType {
  return {
    type: {
      type,
      ...(precision === undefined ? undefined : { precision }),
      ...(scale === undefined ? undefined : { scale }),
    },
  };
}

export function unknownType(): MappedType {
  return { type: { type: 'STRING' }, warning: 'type_mapping.unknown_source_type' };
}

/**
 * The rule for exact numerics (contract 01 §6): up to 15 digits DECIMAL, more BIGDECIMAL. A scale outside 0..p
 * (PostgreSQL 15, Oracle) is first made (p−s, 0) when negative and (s, s) when above p.
 */
export function exactNumeric(precision: number, scale: number): MappedType {
  const p = scale < 0 ? precision - scale : Math.max(precision, scale);
  const s = Math.max(scale, 0);
  return mapped(p <= 15 ? 'DECIMAL' : 'BIGDECIMAL', p, s);
}

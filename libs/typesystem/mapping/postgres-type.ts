import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

const NUMERIC = 1700;

const FIXED: ReadonlyMap<number, MappedType> = new Map([
  [16, mapped('BOOLEAN')],
  [21, mapped('INTEGER')],
  [23, mapped('INTEGER')],
  [20, mapped('BIGINTEGER')],
  [26, mapped('BIGINTEGER')], // oid
  [28, mapped('BIGINTEGER')], // xid
  [700, mapped('DECIMAL', 7)],
  [701, mapped('DECIMAL', 15)],
  [790, mapped('BIGDECIMAL', 19, 2)], // money
  [17, mapped('BINARY')],
  [1082, mapped('DATE')],
  [1083, mapped('TIME')],
  [1266, mapped('TIME')], // timetz
  [1114, mapped('TIMESTAMP')],
  [1184, mapped('TIMESTAMP')], // timestamptz
  [2278, mapped('NULL')], // void
]);

/** Types whose printed form is their STRING value, without a warning. */
const TEXTUAL: ReadonlySet<number> = new Set([
  // "char", name, text, unknown literal, bpchar, varchar
  18, 19, 25, 705, 1042, 1043,
  // uuid, json, jsonb, jsonpath, xml
  2950, 114, 3802, 4072, 142,
  // interval, bit, varbit
  1186, 1560, 1562,
  // inet, cidr, macaddr, macaddr8
  869, 650, 829, 774,
  // int4, num, ts, tstz, date, int8 ranges and their multiranges
  3904, 3906, 3908, 3910, 3912, 3926, 4451, 4532, 4533, 4534, 4535, 4536,
  // point, lseg, path, box, polygon, line, circle
  600, 601, 602, 603, 604, 628, 718,
  // tsvector, tsquery
  3614, 3615,
]);

/** Array types of the built-in types. */
const ARRAYS: ReadonlySet<number> = new Set([
  // bool, bytea, "char", name, int8, int2, int4, text, oid, xid, bpchar, varchar, float4, float8, numeric, money
  1000, 1001, 1002, 1003, 1016, 1005, 1007, 1009, 1028, 1011, 1014, 1015, 1021, 1022, 1231, 791,
  // date, time, timetz, timestamp, timestamptz, interval, bit, varbit, uuid, json, jsonb, jsonpath, xml
  1182, 1183, 1270, 1115, 1185, 1187, 1561, 1563, 2951, 199, 3807, 4073, 143,
  // inet, cidr, macaddr, macaddr8, point, lseg, path, box, polygon, line, circle, tsvector, tsquery
  1041, 651, 1040, 775, 1017, 1018, 1019, 1020, 1027, 629, 719, 3643, 3645,
  // ranges and multiranges
  3905, 3907, 3909, 3911, 3913, 3927, 6150, 6151, 6152, 6153, 6155, 6157,
]);

/**
 * PostgreSQL type of a result column (contract 01 §6.1). `typmod` is −1 without one. `printsAsText` is true when
 * `pg_type` says that a type of the database's own is an enum, a range or an array.
 */
export function mapPostgresType(oid: number, typmod: number, printsAsText = false): MappedType {
  if (oid === NUMERIC) return mapNumeric(typmod);
  const fixed = FIXED.get(oid);
  if (fixed) return fixed;
  return printsAsText || TEXTUAL.has(oid) || ARRAYS.has(oid) ? mapped('STRING') : unknownType();
}

/** Precision in the upper 16 bits, scale signed in the lower 11; both behind an offset of four. */
function mapNumeric(typmod: number): MappedType {
  if (typmod < 4) return mapped('BIGDECIMAL');
  const size = typmod - 4;
  return exactNumeric((size >> 16) & 0xffff, ((size & 0x7ff) ^ 0x400) - 0x400);
}

import { describe, expect, it } from '@jest/globals';
import type { ColumnType, LogicalType } from '../canonical-type.js';
import { mapDuckdbType } from './duckdb-type.js';
import { exactNumeric } from './mapped-type.js';
import { mapPostgresType } from './postgres-type.js';
import { mapSqliteDeclaredType, mapSqliteStorageClass } from './sqlite-type.js';
import { measuredType, needsMeasuring, stagedColumnType, stagingColumnType } from './staging-type.js';

const type = (name: LogicalType, precision?: number, scale?: number): ColumnType => ({
  type: name,
  ...(precision === undefined ? {} : { precision }),
  ...(scale === undefined ? {} : { scale }),
});
const numeric = (precision: number, scale: number): number => ((precision << 16) | (scale & 0x7ff)) + 4;

describe('PostgreSQL types', () => {
  it.each<[string, number, number, ColumnType]>([
    ['bool', 16, -1, type('BOOLEAN')],
    ['int2', 21, -1, type('INTEGER')],
    ['int4', 23, -1, type('INTEGER')],
    ['int8', 20, -1, type('BIGINTEGER')],
    ['oid', 26, -1, type('BIGINTEGER')],
    ['xid', 28, -1, type('BIGINTEGER')],
    ['float4', 700, -1, type('DECIMAL', 7)],
    ['float8', 701, -1, type('DECIMAL', 15)],
    ['numeric', 1700, -1, type('BIGDECIMAL')],
    ['numeric(12,2)', 1700, numeric(12, 2), type('DECIMAL', 12, 2)],
    ['numeric(15,0)', 1700, numeric(15, 0), type('DECIMAL', 15, 0)],
    ['numeric(16,0)', 1700, numeric(16, 0), type('BIGDECIMAL', 16, 0)],
    ['numeric(1000,1000)', 1700, numeric(1000, 1000), type('BIGDECIMAL', 1000, 1000)],
    ['numeric(3,-2)', 1700, numeric(3, -2), type('DECIMAL', 5, 0)],
    ['numeric(2,5)', 1700, numeric(2, 5), type('DECIMAL', 5, 5)],
    ['money', 790, -1, type('BIGDECIMAL', 19, 2)],
    ['text', 25, -1, type('STRING')],
    ['uuid', 2950, -1, type('STRING')],
    ['jsonb', 3802, -1, type('STRING')],
    ['int4range', 3904, -1, type('STRING')],
    ['int4[]', 1007, -1, type('STRING')],
    ['bytea', 17, -1, type('BINARY')],
    ['date', 1082, -1, type('DATE')],
    ['time', 1083, -1, type('TIME')],
    ['timetz', 1266, -1, type('TIME')],
    ['timestamp', 1114, -1, type('TIMESTAMP')],
    ['timestamptz', 1184, -1, type('TIMESTAMP')],
    ['void', 2278, -1, type('NULL')],
  ])('%s', (_name, oid, typmod, wanted) => expect(mapPostgresType(oid, typmod)).toEqual({ type: wanted }));

  it.each<[string, number]>([
    ['name', 19],
    ['bpchar', 1042],
    ['varchar', 1043],
    ['json', 114],
    ['xml', 142],
    ['interval', 1186],
    ['bit', 1560],
    ['varbit', 1562],
    ['inet', 869],
    ['cidr', 650],
    ['numrange', 3906],
    ['tstzrange', 3910],
    ['daterange', 3912],
    ['int8range', 3926],
    ['int4multirange', 4451],
    ['point', 600],
    ['polygon', 604],
    ['circle', 718],
    ['tsvector', 3614],
    ['tsquery', 3615],
    ['numeric[]', 1231],
    ['timestamptz[]', 1185],
    ['jsonb[]', 3807],
    ['int8range[]', 3927],
  ])('%s is STRING, and no warning fills the log of each run', (_name, oid) =>
    expect(mapPostgresType(oid, -1)).toEqual({ type: type('STRING') }),
  );

  it.each<[string, number]>([
    ['refcursor', 1790],
    ['pg_lsn', 3220],
    ['xid8', 5069],
    ['record', 2249],
    ['an oid of none', 0],
    ['an oid past int4', 4_294_967_295],
  ])('%s is STRING with a warning', (_name, oid) =>
    expect(mapPostgresType(oid, -1)).toMatchObject({ warning: 'type_mapping.unknown_source_type' }),
  );

  it('is total: an unknown type is STRING with a warning, an enum without', () => {
    expect(mapPostgresType(99_999, -1)).toEqual({
      type: { type: 'STRING' },
      warning: 'type_mapping.unknown_source_type',
    });
    expect(mapPostgresType(99_999, -1, true)).toEqual({ type: { type: 'STRING' } });
  });
});

describe('SQLite declared types, by substring', () => {
  it.each<[string | null, ColumnType]>([
    ['INTEGER', type('INTEGER')],
    ['int', type('INTEGER')],
    ['BIGINT', type('BIGINTEGER')],
    ['INT8', type('BIGINTEGER')],
    ['UNSIGNED BIG INT', type('BIGINTEGER')],
    ['FLOATING POINT', type('INTEGER')],
    ['VARCHAR(10)', type('STRING')],
    ['CLOB', type('STRING')],
    ['text', type('STRING')],
    ['NATIVE CHARACTER(70)', type('STRING')],
    ['CHARINT', type('INTEGER')],
    ['TINYINT', type('INTEGER')],
    ['BLOB', type('BINARY')],
    ['REAL', type('DECIMAL', 15)],
    ['FLOAT', type('DECIMAL', 15)],
    ['TIME', type('STRING')],
    ['DECIMAL(10,5)', type('DECIMAL', 15)],
    ['whatever', type('DECIMAL', 15)],
    ['DOUBLE PRECISION', type('DECIMAL', 15)],
    ['DATE', type('STRING')],
    ['TIMESTAMP', type('STRING')],
    ['DATETIME', type('STRING')],
    ['NUMERIC(10,2)', type('DECIMAL', 15)],
    ['BOOLEAN', type('DECIMAL', 15)],
    ['', type('STRING')],
    [null, type('STRING')],
  ])('%p', (declared, wanted) => expect(mapSqliteDeclaredType(declared)).toEqual({ type: wanted }));

  it('an expression takes the class of its values, so count(*) is a number', () => {
    expect(mapSqliteStorageClass('integer').type).toEqual(type('BIGINTEGER'));
    expect(mapSqliteStorageClass('real').type).toEqual(type('DECIMAL', 15));
    expect(mapSqliteStorageClass('blob').type).toEqual(type('BINARY'));
    expect(mapSqliteStorageClass('text').type).toEqual(type('STRING'));
    expect(mapSqliteStorageClass('null').type).toEqual(type('STRING'));
  });
});

describe('DuckDB types', () => {
  it.each<[string, ColumnType]>([
    ['BOOLEAN', type('BOOLEAN')],
    ['TINYINT', type('INTEGER')],
    ['UTINYINT', type('INTEGER')],
    ['SMALLINT', type('INTEGER')],
    ['USMALLINT', type('INTEGER')],
    ['INTEGER', type('INTEGER')],
    ['UINTEGER', type('BIGINTEGER')],
    ['BIGINT', type('BIGINTEGER')],
    ['UBIGINT', type('BIGDECIMAL', 20, 0)],
    ['HUGEINT', type('BIGDECIMAL', undefined, 0)],
    ['UHUGEINT', type('BIGDECIMAL', undefined, 0)],
    ['BIGNUM', type('BIGDECIMAL', undefined, 0)],
    ['DECIMAL(15,15)', type('DECIMAL', 15, 15)],
    ['DECIMAL(16,0)', type('BIGDECIMAL', 16, 0)],
    ['DECIMAL(10,3)', type('DECIMAL', 10, 3)],
    ['DECIMAL(38, 10)', type('BIGDECIMAL', 38, 10)],
    ['FLOAT', type('DECIMAL', 7)],
    ['DOUBLE', type('DECIMAL', 15)],
    ['VARCHAR', type('STRING')],
    ['UUID', type('STRING')],
    ['JSON', type('STRING')],
    ['INTERVAL', type('STRING')],
    ['BIT', type('STRING')],
    ['LIST', type('STRING')],
    ['ARRAY', type('STRING')],
    ['STRUCT(a INTEGER)', type('STRING')],
    ['UNION(n INTEGER, t VARCHAR)', type('STRING')],
    ["ENUM('a', 'b')", type('STRING')],
    ['STRUCT(a DECIMAL(4,2))[]', type('STRING')],
    ['INTEGER[3]', type('STRING')],
    ['MAP(VARCHAR, INTEGER)', type('STRING')],
    ['BLOB', type('BINARY')],
    ['DATE', type('DATE')],
    ['TIME', type('TIME')],
    ['TIME_TZ', type('TIME')],
    ['TIME WITH TIME ZONE', type('TIME')],
    ['TIMESTAMP', type('TIMESTAMP')],
    ['TIMESTAMP_S', type('TIMESTAMP')],
    ['TIMESTAMP_MS', type('TIMESTAMP')],
    ['TIMESTAMP_NS', type('TIMESTAMP')],
    ['TIMESTAMP WITH TIME ZONE', type('TIMESTAMP')],
    ['SQLNULL', type('NULL')],
  ])('%s', (name, wanted) => expect(mapDuckdbType({ name })).toEqual({ type: wanted }));

  it('takes the size of a decimal from its description', () => {
    expect(mapDuckdbType({ name: 'DECIMAL', width: 18, scale: 4 })).toEqual({ type: type('BIGDECIMAL', 18, 4) });
  });

  it.each(['GEOMETRY', 'VARIANT', 'toString', '__proto__', 'constructor', ''])('%j is STRING with a warning', (name) =>
    expect(mapDuckdbType({ name })).toMatchObject({ type: { type: 'STRING' }, warning: expect.any(String) }),
  );
});

describe('staging', () => {
  it.each<[ColumnType, string, ColumnType]>([
    [type('NULL'), 'VARCHAR', type('STRING')],
    [type('BOOLEAN'), 'BOOLEAN', type('BOOLEAN')],
    [type('INTEGER'), 'INTEGER', type('INTEGER')],
    [type('BIGINTEGER'), 'BIGINT', type('BIGINTEGER')],
    [type('DECIMAL', 15, 4), 'DECIMAL(15,4)', type('DECIMAL', 15, 4)],
    [type('DECIMAL', 7), 'FLOAT', type('DECIMAL', 7)],
    [type('DECIMAL', 15), 'DOUBLE', type('DECIMAL', 15)],
    [type('BIGDECIMAL', 20, 0), 'DECIMAL(20,0)', type('BIGDECIMAL', 20, 0)],
    [type('BIGDECIMAL', 38, 10), 'DECIMAL(38,10)', type('BIGDECIMAL', undefined, 10)],
    [type('BIGDECIMAL', undefined, 0), 'HUGEINT', type('BIGDECIMAL', undefined, 0)],
    [type('STRING'), 'VARCHAR', type('STRING')],
    [type('BINARY'), 'BLOB', type('BINARY')],
    [type('DATE'), 'DATE', type('DATE')],
    [type('TIME'), 'TIME', type('TIME')],
    [type('TIMESTAMP'), 'TIMESTAMPTZ', type('TIMESTAMP')],
  ])('%j is staged as %s and read back as %j', (columnType, duckdb, back) => {
    expect(stagingColumnType(columnType)).toBe(duckdb);
    expect(stagedColumnType({ name: duckdb })).toEqual(back);
    expect(needsMeasuring(columnType)).toBe(false);
  });

  it.each([type('BIGDECIMAL'), type('BIGDECIMAL', 39, 2), type('BIGDECIMAL', undefined, 4), type('BIGDECIMAL', 20)])(
    '%j lands as text until its values are measured: a guessed scale would round',
    (columnType) => {
      expect(needsMeasuring(columnType)).toBe(true);
      expect(stagingColumnType(columnType)).toBe('VARCHAR');
    },
  );

  it('finds the decimal for measured digits, or none', () => {
    expect(measuredType(30, 8)).toBe('DECIMAL(38,8)');
    expect(measuredType(0, 38)).toBe('DECIMAL(38,38)');
    expect(measuredType(31, 8)).toBeNull();
  });
});

describe('the rule of exact numerics', () => {
  it.each([
    [15, 2, 'DECIMAL', 15, 2],
    [16, 2, 'BIGDECIMAL', 16, 2],
    [10, -6, 'BIGDECIMAL', 16, 0],
    [2, 9, 'DECIMAL', 9, 9],
  ])('(%i,%i) is %s(%i,%i)', (p, s, name, precision, scale) => {
    expect(exactNumeric(p, s).type).toEqual({ type: name, precision, scale });
  });
});

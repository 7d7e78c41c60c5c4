import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { cellOf, NEVER, rowsOf } from '../driver.fixture.js';
import { encodeBatchRows } from '#libs/typesystem';

import { PostgresBench } from './postgres.fixture.js';
import type { PostgresConnection } from './connection.js';

describe('values of PostgreSQL, read in binary', () => {
  let bench: PostgresBench;
  let connection: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    connection = await bench.connect();
    await connection.control(`
      CREATE TYPE mood AS ENUM ('sad', 'ünhappy'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN cents AS numeric(8,2);
      CREATE TABLE empty_one (a int, b text)`);
  });

  afterAll(async () => {
    await bench.close();
  });

  const exact: [expression: string, type: object, text: string][] = [
    ['true', { type: 'BOOLEAN' }, 'true'],
    ['(-32768)::int2', { type: 'INTEGER' }, '-32768'],
    ['(-2147483648)::int4', { type: 'INTEGER' }, '-2147483648'],
    ['2147483647::int4', { type: 'INTEGER' }, '2147483647'],
    ['9223372036854775807::int8', { type: 'BIGINTEGER' }, '"9223372036854775807"'],
    ['(-9223372036854775808)::int8', { type: 'BIGINTEGER' }, '"-9223372036854775808"'],
    ['9007199254740993::int8', { type: 'BIGINTEGER' }, '"9007199254740993"'],
    ['4294967295::oid', { type: 'BIGINTEGER' }, '"4294967295"'],
    ['1.1::float4', { type: 'DECIMAL', precision: 7 }, '1.1'],
    ['0.1::float8', { type: 'DECIMAL', precision: 15 }, '0.1'],
    ['1.7976931348623157e308::float8', { type: 'DECIMAL', precision: 15 }, '1.7976931348623157e+308'],
    ['5e-324::float8', { type: 'DECIMAL', precision: 15 }, '5e-324'],
    ['0::numeric(12,2)', { type: 'DECIMAL', precision: 12, scale: 2 }, '0.00'],
    ['(-0.01)::numeric(12,2)', { type: 'DECIMAL', precision: 12, scale: 2 }, '-0.01'],
    ['9999999999.99::numeric(12,2)', { type: 'DECIMAL', precision: 12, scale: 2 }, '9999999999.99'],
    ['10000::numeric(12,2)', { type: 'DECIMAL', precision: 12, scale: 2 }, '10000.00'],
    ['999999999999999999::numeric(18,0)', { type: 'BIGDECIMAL', precision: 18, scale: 0 }, '"999999999999999999"'],
    [
      '(-123456789012345.678)::numeric(18,3)',
      { type: 'BIGDECIMAL', precision: 18, scale: 3 },
      '"-123456789012345.678"',
    ],
    [
      '1234567890123456789012345678.0123456789::numeric(38,10)',
      { type: 'BIGDECIMAL', precision: 38, scale: 10 },
      '"1234567890123456789012345678.0123456789"',
    ],
    ['0.0000000001::numeric(38,10)', { type: 'BIGDECIMAL', precision: 38, scale: 10 }, '"0.0000000001"'],
    ['100000000::numeric(20,0)', { type: 'BIGDECIMAL', precision: 20, scale: 0 }, '"100000000"'],
    ['12345.6700::numeric', { type: 'BIGDECIMAL' }, '"12345.6700"'],
    ['1e30::numeric', { type: 'BIGDECIMAL' }, '"1000000000000000000000000000000"'],
    ['0.00000000000000000001::numeric', { type: 'BIGDECIMAL' }, '"0.00000000000000000001"'],
    ['12000::numeric(3,-3)', { type: 'DECIMAL', precision: 6, scale: 0 }, '12000'],
    ['0.00123::numeric(3,5)', { type: 'DECIMAL', precision: 5, scale: 5 }, '0.00123'],
    ['1234.5::cents', { type: 'DECIMAL', precision: 8, scale: 2 }, '1234.50'],
    [`'-92233720368547758.08'::money`, { type: 'BIGDECIMAL', precision: 19, scale: 2 }, '"-92233720368547758.08"'],
    [`'0.05'::money`, { type: 'BIGDECIMAL', precision: 19, scale: 2 }, '"0.05"'],
    [`''::text`, { type: 'STRING' }, '""'],
    [`'Zażółć 🐘 "\\"'::text`, { type: 'STRING' }, JSON.stringify('Zażółć 🐘 "\\"')],
    [`'ab'::char(5)`, { type: 'STRING' }, '"ab   "'],
    [`'ünhappy'::mood`, { type: 'STRING' }, '"ünhappy"'],
    [`'8c9f1a52-7e0d-4d55-9a52-0123456789ab'::uuid`, { type: 'STRING' }, '"8c9f1a52-7e0d-4d55-9a52-0123456789ab"'],
    [`'{"a": 9007199254740993}'::jsonb`, { type: 'STRING' }, '"{\\"a\\": 9007199254740993}"'],
    [`interval '1 year 2 days 03:04:05.6'`, { type: 'STRING' }, '"1 year 2 days 03:04:05.6"'],
    [`ARRAY[1,NULL,3]`, { type: 'STRING' }, '"{1,NULL,3}"'],
    [`int4range(1,5)`, { type: 'STRING' }, '"[1,5)"'],
    [`'10.0.0.0/8'::inet`, { type: 'STRING' }, '"10.0.0.0/8"'],
    [`B'101'`, { type: 'STRING' }, '"101"'],
    [`'\\x'::bytea`, { type: 'BINARY' }, '""'],
    [`'\\x00ff10'::bytea`, { type: 'BINARY' }, '"AP8Q"'],
    [`date '0001-01-01'`, { type: 'DATE' }, '"0001-01-01"'],
    [`date '9999-12-31'`, { type: 'DATE' }, '"9999-12-31"'],
    [`time '23:59:59.999999'`, { type: 'TIME' }, '"23:59:59.999999"'],
    [`timetz '10:00:00.000001+05'`, { type: 'TIME' }, '"10:00:00.000001"'],
    [`timestamp '1999-12-31 23:59:59.999999'`, { type: 'TIMESTAMP' }, '"1999-12-31T23:59:59.999999Z"'],
    [`timestamptz '2026-03-01 07:05:09.000001+02'`, { type: 'TIMESTAMP' }, '"2026-03-01T05:05:09.000001Z"'],
    [`timestamptz '0001-01-01 00:00:00+00'`, { type: 'TIMESTAMP' }, '"0001-01-01T00:00:00.000000Z"'],
    [`timestamptz '1970-01-01 00:00:00+00'`, { type: 'TIMESTAMP' }, '"1970-01-01T00:00:00.000000Z"'],
  ];

  it.each(exact)('%s arrives exactly', async (expression, type, text) => {
    const { columns, rows } = await rowsOf(connection, `SELECT ${expression} AS v`);
    expect({ ...columns[0], sourceType: undefined }).toEqual({ name: 'v', ...type, sourceType: undefined });
    expect(rows).toEqual([`[${text}]`]);
    await connection.control('SELECT 1');
  });

  it.each(exact)('NULL of the type of %s is null', async (expression) => {
    expect((await rowsOf(connection, `SELECT CASE WHEN false THEN ${expression} END`)).rows).toEqual(['[null]']);
  });

  it.each([
    [`'NaN'::float8`],
    [`'-Infinity'::float4`],
    [`'NaN'::numeric(10,2)`],
    [`'NaN'::numeric`],
    [`'Infinity'::numeric`],
    [`'infinity'::date`],
    [`'-infinity'::date`],
    [`'infinity'::timestamptz`],
    [`'-infinity'::timestamp`],
    [`date '0044-03-15 BC'`],
    [`timestamptz '294276-12-31 23:59:59.999999+00'`],
    [`timestamp '4714-11-24 00:00:00 BC'`],
    [`time '24:00:00'`],
  ])('%s has no wire form: it is null and counted, and the read goes on', async (expression) => {
    const { rows, unrepresentable } = await rowsOf(connection, `SELECT ${expression} AS v, 7 AS after`);
    expect(rows).toEqual(['[null,7]']);
    expect(unrepresentable).toEqual({ v: 1 });
  });

  it('types nobody mapped fall back to text with a warning that names them', async () => {
    const cursor = await connection.openCursor(
      { sql: `SELECT ROW(1, 'x')::pair AS composite`, values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    expect(cursor.warnings).toEqual([
      { code: 'type_mapping.unknown_source_type', column: 'composite', source_type: 'pair' },
    ]);
    expect(encodeBatchRows(cursor.columns, (await cursor.next(NEVER))!)).toEqual(['["(1,x)"]']);
    await cursor.close();
    await connection.reset();
  });

  it('reads values bound as typed placeholders, bytes and NULL among them', async () => {
    const sql = `SELECT CAST($1 AS int8) + 1, CAST($2 AS bytea), CAST($3 AS text), CAST($4 AS boolean), CAST($5 AS numeric)`;
    const { rows } = await rowsOf(connection, sql, [9007199254740993n, Buffer.from([0, 255]), null, true, '1.10']);
    expect(rows).toEqual(['["9007199254740994","AP8=",null,true,"1.10"]']);
  });

  it('an empty result still has its columns', async () => {
    const { columns, rows } = await rowsOf(connection, 'SELECT * FROM empty_one');
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['a', 'INTEGER'],
      ['b', 'STRING'],
    ]);
    expect(rows).toEqual([]);
  });

  it('a statement without rows, and a row without columns, are no failure', async () => {
    expect((await rowsOf(connection, 'SHOW TimeZone')).rows).toEqual(['["UTC"]']);
    const cursor = await connection.openCursor(
      { sql: 'SELECT FROM generate_series(1,3)', values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    expect((await cursor.next(NEVER))?.rowCount).toBe(3);
    await cursor.close();
    await connection.reset();
  });

  it('a cell larger than any network chunk arrives whole', async () => {
    const text = await cellOf(connection, `SELECT repeat('é', 3000000)`);
    expect(text).toBe(JSON.stringify('é'.repeat(3_000_000)));
  });

  it('every kind of column keeps its own rows when nulls are mixed in', async () => {
    const { rows } = await rowsOf(
      connection,
      `SELECT i, CASE WHEN i % 3 > 0 THEN i * 1.5 END::numeric(9,1), CASE WHEN i % 2 > 0 THEN 't' || i END,
              CASE WHEN i % 5 > 0 THEN i::int8 END FROM generate_series(1, 4000) i ORDER BY i`,
    );
    expect(rows).toEqual(
      Array.from({ length: 4000 }, (_, index) => {
        const i = index + 1;
        const decimal = i % 3 > 0 ? (i * 1.5).toFixed(1) : 'null';
        return `[${i},${decimal},${i % 2 > 0 ? `"t${i}"` : 'null'},${i % 5 > 0 ? `"${i}"` : 'null'}]`;
      }),
    );
  });
});

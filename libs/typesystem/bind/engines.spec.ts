import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, DuckDBTypeId, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createEmptyDatabase, type EmptyDatabase } from '../../../test/fixtures/postgres.js';
import type { CanonicalValue, ColumnType } from '../canonical-type.js';
import { completeDecimalText } from '../decimal.js';
import { mapDuckdbType } from '../mapping/duckdb-type.js';
import { mapPostgresType } from '../mapping/postgres-type.js';
import { bindStatement, type BoundSql } from './bind-statement.js';

/** Typed values at the edges of each type, with the text PostgreSQL and DuckDB print for them. */
const VALUES: [ColumnType, CanonicalValue, string | null][] = [
  [{ type: 'BOOLEAN' }, true, 'true'],
  [{ type: 'BOOLEAN' }, null, null],
  [{ type: 'INTEGER' }, -2147483648, '-2147483648'],
  [{ type: 'INTEGER' }, 2147483647, '2147483647'],
  [{ type: 'INTEGER' }, null, null],
  [{ type: 'BIGINTEGER' }, 2n ** 63n - 1n, '9223372036854775807'],
  [{ type: 'BIGINTEGER' }, -(2n ** 63n), '-9223372036854775808'],
  [{ type: 'BIGINTEGER' }, 2n ** 53n + 1n, '9007199254740993'],
  [{ type: 'DECIMAL', precision: 15, scale: 2 }, { unscaled: -999999999999999n, scale: 2 }, '-9999999999999.99'],
  [{ type: 'DECIMAL', precision: 4, scale: 4 }, { unscaled: 1n, scale: 4 }, '0.0001'],
  [{ type: 'DECIMAL', precision: 4, scale: 2 }, null, null],
  [{ type: 'BIGDECIMAL' }, { unscaled: 10n ** 38n - 1n, scale: 0 }, '9'.repeat(38)],
  [{ type: 'BIGDECIMAL' }, { unscaled: 1n, scale: 38 }, `0.${'0'.repeat(37)}1`],
  [{ type: 'BIGDECIMAL', precision: 38, scale: 10 }, { unscaled: 15n, scale: 10 }, '0.0000000015'],
  [{ type: 'BIGDECIMAL' }, null, null],
  [{ type: 'DECIMAL', precision: 15 }, 0.1, '0.1'],
  [{ type: 'DECIMAL', precision: 15 }, 5e-324, '5e-324'],
  [{ type: 'DECIMAL', precision: 15 }, 1.7976931348623157e308, '1.7976931348623157e+308'],
  [{ type: 'DECIMAL', precision: 7 }, Math.fround(1.1), '1.1'],
  [{ type: 'STRING' }, '\'; DROP TABLE t; -- $$ \\ :x " é 😀', '\'; DROP TABLE t; -- $$ \\ :x " é 😀'],
  [{ type: 'STRING' }, '', ''],
  [{ type: 'STRING' }, null, null],
  [{ type: 'DATE' }, '0001-01-01', '0001-01-01'],
  [{ type: 'DATE' }, '9999-12-31', '9999-12-31'],
  [{ type: 'DATE' }, null, null],
  [{ type: 'TIME' }, 86_399_999_999, '23:59:59.999999'],
  [{ type: 'TIME' }, 0, '00:00:00'],
  [{ type: 'TIMESTAMP' }, -62135596800000000n, '0001-01-01 00:00:00+00'],
  [{ type: 'TIMESTAMP' }, 253402300799999999n, '9999-12-31 23:59:59.999999+00'],
  [{ type: 'TIMESTAMP' }, null, null],
];

const BYTES = new Uint8Array([0, 39, 92, 255]);

function bound(
  dialect: 'POSTGRES' | 'DUCKDB' | 'SQLITE',
  sql: string,
  type: ColumnType,
  value: CanonicalValue,
): BoundSql {
  return bindStatement(dialect, sql, new Map([['v', { type, value }]]));
}

describe('PostgreSQL', () => {
  let database: EmptyDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("SET TimeZone = 'UTC'; SET extra_float_digits = 1; SET standard_conforming_strings = on");
  }, 90_000);

  afterAll(async () => {
    await client?.end();
    await database?.drop();
  });

  const run = async ({ sql, values }: BoundSql): Promise<pg.QueryArrayResult<(string | null)[]>> =>
    client.query({ text: sql, values, rowMode: 'array', types: { getTypeParser: () => (text: string) => text } });

  it.each(VALUES)('takes %j %p as itself, typed also when NULL', async (type, value, text) => {
    const { rows, fields } = await run(bound('POSTGRES', 'SELECT :v', type, value));
    const wanted = type.type === 'BOOLEAN' && text !== null ? text[0] : text;
    expect(rows[0]?.[0]).toBe(wanted);
    const read = mapPostgresType(fields[0]!.dataTypeID, fields[0]!.dataTypeModifier).type;
    const exact = type.type === 'BIGDECIMAL' || (type.type === 'DECIMAL' && type.scale !== undefined);
    expect(read.type).toBe(exact ? 'BIGDECIMAL' : type.type);
  });

  it('takes bytes, and a typed NULL where the server could not guess', async () => {
    expect((await run(bound('POSTGRES', 'SELECT :v', { type: 'BINARY' }, BYTES))).rows).toEqual([['\\x00275cff']]);
    expect((await run(bound('POSTGRES', 'SELECT :v IS NULL', { type: 'DATE' }, null))).rows).toEqual([['t']]);
    const day = await run(bound('POSTGRES', "SELECT :v - interval '1 day'", { type: 'DATE' }, '2026-03-01'));
    expect(day.rows).toEqual([['2026-02-28 00:00:00']]);
  });
});

describe('DuckDB', () => {
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    connection = await instance.connect();
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
  });

  afterAll(() => {
    connection?.closeSync();
    instance?.closeSync();
  });

  async function prepare({ sql, values }: BoundSql): Promise<DuckDBPreparedStatement> {
    const statement = await connection.prepare(sql);
    for (const [i, value] of values.entries()) {
      if (value === null) statement.bindNull(i + 1);
      else if (value instanceof Uint8Array) statement.bindBlob(i + 1, value);
      else statement.bindVarchar(i + 1, String(value));
    }
    return statement;
  }

  it.each(VALUES)('takes %j %p as itself, with column types before it runs', async (type, value, text) => {
    const statement = await prepare(bound('DUCKDB', 'SELECT v, CAST(v AS VARCHAR) FROM (SELECT :v AS v)', type, value));
    const column = statement.columnType(0);
    const size = column.typeId === DuckDBTypeId.DECIMAL ? (column as unknown as { width: number; scale: number }) : {};
    const read = mapDuckdbType({ name: DuckDBTypeId[column.typeId], ...size }).type;
    const exact = type.type === 'BIGDECIMAL' || (type.type === 'DECIMAL' && type.scale !== undefined);
    if (!exact) expect(read.type).toBe(type.type);
    const [row] = (await statement.runAndReadAll()).getRows();
    // DuckDB prints DECIMAL(4,4) without a zero before the point.
    expect(exact ? completeDecimalText((row?.[1] as string | null) ?? '') : row?.[1]).toBe(exact ? (text ?? '') : text);
  });

  it('takes bytes', async () => {
    const statement = await prepare(bound('DUCKDB', 'SELECT hex(:v)', { type: 'BINARY' }, BYTES));
    expect((await statement.runAndReadAll()).getRows()).toEqual([['00275CFF']]);
  });
});

describe('SQLite', () => {
  const database = new DatabaseSync(':memory:');
  afterAll(() => database.close());

  const run = ({ sql, values }: BoundSql): unknown[] => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement.get(...values) as unknown as unknown[];
  };

  it.each<[ColumnType, CanonicalValue, string, unknown]>([
    [{ type: 'BOOLEAN' }, true, 'integer', 1n],
    [{ type: 'INTEGER' }, -2147483648, 'integer', -2147483648n],
    [{ type: 'BIGINTEGER' }, 2n ** 63n - 1n, 'integer', 2n ** 63n - 1n],
    [{ type: 'DECIMAL', precision: 15, scale: 2 }, { unscaled: 1250n, scale: 2 }, 'real', 12.5],
    [{ type: 'BIGDECIMAL' }, { unscaled: 12345678901234567n, scale: 2 }, 'text', '123456789012345.67'],
    [{ type: 'DECIMAL', precision: 15 }, 0.1, 'real', 0.1],
    [{ type: 'STRING' }, "'; --", 'text', "'; --"],
    [{ type: 'BINARY' }, BYTES, 'blob', BYTES],
    [{ type: 'DATE' }, '2026-03-01', 'text', '2026-03-01'],
    [{ type: 'TIME' }, 1, 'text', '00:00:00.000001'],
    [{ type: 'TIMESTAMP' }, 0n, 'text', '1970-01-01T00:00:00.000000Z'],
    [{ type: 'INTEGER' }, null, 'null', null],
  ])('takes %j %p as %s', (type, value, storage, read) => {
    const [storageClass, got] = run(bound('SQLITE', 'SELECT typeof(:v), :v', type, value));
    expect(storageClass).toBe(storage);
    expect(got).toEqual(read);
  });
});

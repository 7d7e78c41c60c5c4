import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, DuckDBTypeId, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import fc from 'fast-check';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createEmptyDatabase, type EmptyDatabase } from '../../../test/fixtures/postgres.js';
import type { CanonicalValue, ColumnType, TypedValue } from '../canonical-type.js';
import { mapDuckdbType } from '../mapping/duckdb-type.js';
import { mapPostgresType } from '../mapping/postgres-type.js';
import { bindStatement, type BoundSql } from './bind-statement.js';

/** Typed values at the edges of each type, with the text PostgreSQL and DuckDB print for them. */
const VALUES: [ColumnType, CanonicalValue, string | null, string?][] = [
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

/** Literals, comments and identifiers at which a lexer and an engine may part, with a bind before, inside and behind. */
const fragments = fc
  .array(
    fc.constantFrom(
      "'a'",
      "'it''s'",
      "'\\'",
      "'\\\\'",
      "E'\\''",
      "E'\\\\'",
      "e'a\\'b'",
      "\n'x'",
      "\n'\\'",
      "\n'\\''",
      ' ',
      '\n',
      '\r',
      '/* c */',
      '/*/* :p */*/',
      "/* ' */",
      '/**/',
      "--'\n",
      '--:p\n',
      '--:p\r',
      '-- c',
      "$$ ' $$",
      '$a$ :p $a$',
      '$a$ $$ $a$',
      '$a$',
      '1',
      '1.5',
      '1E',
      '0x1F',
      '.5',
      ':p',
      ' :p',
      ':p ',
      '::text',
      '"x:p"',
      ' AS "a""b"',
      '[',
      ']',
      "U&'\\0061'",
      "X'1F'",
      "B'1'",
      "N'n'",
      '||',
      '+',
      '-',
      '(',
      ')',
      ', ',
      ', ',
      ', ',
      '`',
      '_',
      'a',
      '\u00a0',
      '#',
      '//',
      ':p::text',
      '?',
      '@',
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((parts) => `SELECT ${parts.join('')}`);

/** What the engine makes of a bound text: the placeholders it wants, or null when it does not parse. */
async function agree(
  dialect: 'POSTGRES' | 'DUCKDB' | 'SQLITE',
  wanted: (sql: BoundSql) => Promise<number | null>,
): Promise<number> {
  let understood = 0;
  const binds = new Map<string, TypedValue>([['p', { type: { type: 'STRING' }, value: 'v' }]]);
  await fc.assert(
    fc.asyncProperty(fragments, async (text) => {
      let statement: BoundSql;
      try {
        statement = bindStatement(dialect, text, binds);
      } catch {
        return; // Refused before anything is sent.
      }
      const count = await wanted(statement);
      if (count === null) return;
      understood++;
      if (count !== statement.values.length) {
        throw new TypeError(`${JSON.stringify(statement.sql)} takes ${count} values, ${statement.values.length} bound`);
      }
    }),
    { numRuns: 4000 },
  );
  return understood;
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

  it('sees exactly the binds the lexer saw, in any text it accepts', async () => {
    const understood = await agree('POSTGRES', async ({ sql }) => {
      try {
        await client.query(`PREPARE probe AS ${sql}`);
      } catch {
        return null;
      }
      const { rows } = await client.query<{ n: number }>(
        "SELECT cardinality(parameter_types) AS n FROM pg_prepared_statements WHERE name = 'probe'",
      );
      await client.query('DEALLOCATE probe');
      return rows[0]?.n ?? null;
    });
    expect(understood).toBeGreaterThan(200);
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
    const rows = await (await statement.runAndReadAll()).getRows();
    expect(rows[0]?.[1]).toBe(text);
  });

  it('takes bytes', async () => {
    const statement = await prepare(bound('DUCKDB', 'SELECT hex(:v)', { type: 'BINARY' }, BYTES));
    expect((await statement.runAndReadAll()).getRows()).toEqual([['00275CFF']]);
  });

  it('sees exactly the binds the lexer saw, in any text it accepts', async () => {
    const understood = await agree('DUCKDB', async ({ sql }) => {
      try {
        const statement = await connection.prepare(sql);
        const count = statement.parameterCount;
        statement.destroySync();
        return count;
      } catch {
        return null;
      }
    });
    expect(understood).toBeGreaterThan(200);
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

  it('sees exactly the binds the lexer saw, in any text it accepts', async () => {
    const understood = await agree('SQLITE', async ({ sql, values }) => {
      let statement;
      try {
        statement = database.prepare(sql);
      } catch {
        return null;
      }
      // One value too many is refused, and one too few would read as NULL: the last one must arrive.
      try {
        statement.get(...values, 'extra');
        return values.length + 1;
      } catch {
        try {
          statement.get(...values);
          return values.length;
        } catch (error) {
          return /out of range/.test(String(error)) ? -1 : null;
        }
      }
    });
    expect(understood).toBeGreaterThan(200);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createEmptyDatabase, type EmptyDatabase } from '../../../test/fixtures/postgres.js';
import { bindStatement, type BoundSql } from '../bind/bind-statement.js';
import type { Dialect, TypedValue } from '../canonical-type.js';
import { classifyStatement } from './statement-class.js';

/** Literals, comments and identifiers at which a lexer and an engine may part, with a bind before, inside and behind. */
const pieces = fc.constantFrom(
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
);

const selects = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(pieces, { minLength: 1, maxLength }).map((parts) => `SELECT ${parts.join('')}`);

/** The same, cut by semicolons. */
const scripts = fc
  .array(selects(3), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(';').replaceAll(':p', '1'));

/** No text in which the engine sees several statements may pass as one. */
async function refusesWhatIsSeveral(dialect: Dialect, several: (sql: string) => Promise<boolean>): Promise<number> {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(scripts, async (sql) => {
      if (!(await several(sql))) return;
      seen++;
      expect(classifyStatement(dialect, sql).ok).toBe(false);
    }),
    { numRuns: 3000 },
  );
  return seen;
}

/** What the engine makes of a bound text: the placeholders it wants, or null when it does not parse. */
async function agree(
  dialect: 'POSTGRES' | 'DUCKDB' | 'SQLITE',
  wanted: (sql: BoundSql) => Promise<number | null>,
): Promise<number> {
  let understood = 0;
  const binds = new Map<string, TypedValue>([['p', { type: { type: 'STRING' }, value: 'v' }]]);
  await fc.assert(
    fc.asyncProperty(selects(9), async (text) => {
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
    { numRuns: 6000 },
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
    await client.query('SET standard_conforming_strings = on');
  }, 90_000);

  afterAll(async () => {
    await client?.end();
    await database?.drop();
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
    expect(understood).toBeGreaterThan(100);
  });

  it('sees one statement where the classifier does', async () => {
    const seen = await refusesWhatIsSeveral('POSTGRES', async (text) => {
      try {
        await client.query({ text, values: [], queryMode: 'extended' } as pg.QueryConfig);
        return false;
      } catch (error) {
        // "cannot insert multiple commands into a prepared statement"
        return (error as pg.DatabaseError).routine === 'exec_parse_message';
      }
    });
    expect(seen).toBeGreaterThan(50);
  });
});

describe('DuckDB', () => {
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    connection = await instance.connect();
  });

  afterAll(() => {
    connection?.closeSync();
    instance?.closeSync();
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
    expect(understood).toBeGreaterThan(100);
  });

  it('sees one statement where the classifier does', async () => {
    const seen = await refusesWhatIsSeveral('DUCKDB', async (sql) => {
      try {
        return (await connection.extractStatements(sql)).count > 1;
      } catch {
        return false;
      }
    });
    expect(seen).toBeGreaterThan(50);
  });
});

describe('SQLite', () => {
  const database = new DatabaseSync(':memory:');
  afterAll(() => database.close());

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
    expect(understood).toBeGreaterThan(100);
  });
});

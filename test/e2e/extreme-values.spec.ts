import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { startH2 } from '../fixtures/h2.js';
import { startMariadb } from '../fixtures/mariadb.js';
import { ACCEPT } from '../fixtures/mcp.js';
import { createEmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

/**
 * What such systems round, shift or drop somewhere (09 §3): whole numbers past a double, 38 digits, the last and the
 * first microsecond, the first day, a leap day, the least double, text that a spreadsheet would run, bytes; NaN and an
 * infinity, which have no form on the wire.
 */
const WIRE =
  '["9007199254740993","9223372036854775807","-9223372036854775808","-9999999999999999999999999999.9999999999",' +
  '"9999-12-31T23:59:59.999999Z","1969-12-31T23:59:59.999999Z","0001-01-01","2024-02-29","23:59:59.999999",5e-324,' +
  '"=1+1 \\"quoted\\", é😀","AP8n",null,null]';
const CSV =
  '9007199254740993,9223372036854775807,-9223372036854775808,-9999999999999999999999999999.9999999999,' +
  '9999-12-31T23:59:59.999999Z,1969-12-31T23:59:59.999999Z,0001-01-01,2024-02-29,23:59:59.999999,5e-324,' +
  `"'=1+1 ""quoted"", é😀",AP8n,,`;
const NAMES = [
  ...['past_double', 'greatest', 'least', 'exact', 'moment', 'before_1970', 'first_day', 'leap_day', 'last_tick'],
  ...['tiny', 'words', 'bytes', 'nan', 'infinite'],
];

const select = (...values: string[]): string =>
  `SELECT ${values.map((value, at) => `${value} AS ${NAMES[at]}`).join(', ')}`;
const WHOLE = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];
const EXACT = '-9999999999999999999999999999.9999999999';
const WORDS = `'=1+1 "quoted", é😀'`;
const POSTGRES = select(
  ...["'9007199254740993'::int8", "'9223372036854775807'::int8", "'-9223372036854775808'::int8"],
  ...[`'${EXACT}'::numeric(38,10)`, "'9999-12-31 23:59:59.999999Z'::timestamptz"],
  ...["'1969-12-31 23:59:59.999999'::timestamp", "'0001-01-01'::date", "'2024-02-29'::date", "'23:59:59.999999'::time"],
  ...["'5e-324'::float8", WORDS, `'\\x00ff27'::bytea`, "'NaN'::float8", "'-infinity'::timestamptz"],
);
const DUCKDB = select(
  ...WHOLE.map((value) => `CAST('${value}' AS BIGINT)`),
  ...[`CAST('${EXACT}' AS DECIMAL(38,10))`, "TIMESTAMPTZ '9999-12-31 23:59:59.999999Z'"],
  ...["TIMESTAMP '1969-12-31 23:59:59.999999'", "DATE '0001-01-01'", "DATE '2024-02-29'", "TIME '23:59:59.999999'"],
  ...['CAST(5e-324 AS DOUBLE)', WORDS, `'\\x00\\xFF\\x27'::BLOB`, "'NaN'::DOUBLE", "'Infinity'::FLOAT"],
);
/** Its decimals and days are texts, and its NaN is NULL. */
const SQLITE = select(
  ...WHOLE,
  ...[`'${EXACT}'`, "'9999-12-31T23:59:59.999999Z'", "'1969-12-31T23:59:59.999999Z'", "'0001-01-01'", "'2024-02-29'"],
  ...["'23:59:59.999999'", '5e-324', WORDS, `x'00ff27'`, 'NULL', '9e999'],
);
/** It has neither a NaN nor an infinity. */
const MYSQL = select(
  ...WHOLE,
  ...[`CAST('${EXACT}' AS DECIMAL(38,10))`, "CAST('9999-12-31 23:59:59.999999' AS DATETIME(6))"],
  ...["CAST('1969-12-31 23:59:59.999999' AS DATETIME(6))", "CAST('0001-01-01' AS DATE)", "CAST('2024-02-29' AS DATE)"],
  ...["CAST('23:59:59.999999' AS TIME(6))", "CAST('5e-324' AS DOUBLE)", WORDS, `x'00ff27'`, 'NULL', 'NULL'],
);
const H2 = select(
  ...WHOLE.map((value) => `CAST('${value}' AS BIGINT)`),
  ...[`CAST('${EXACT}' AS NUMERIC(38,10))`, "TIMESTAMP WITH TIME ZONE '9999-12-31 23:59:59.999999+00'"],
  ...["TIMESTAMP '1969-12-31 23:59:59.999999'", "DATE '0001-01-01'", "DATE '2024-02-29'"],
  ...["CAST('23:59:59.999999' AS TIME(6))", "CAST('5e-324' AS DOUBLE PRECISION)", WORDS, `X'00ff27'`],
  ...["CAST('NaN' AS DOUBLE PRECISION)", "CAST('-Infinity' AS REAL)"],
);

interface Engine {
  sql: string;
  dialect: string;
  source: () => Promise<unknown>;
  csv?: string;
  /** Columns whose value has no form on the wire. */
  unrepresentable?: readonly string[];
}

describeWithProgram('redis-server', 'extreme values through every encoder', (redis) => {
  let deployment: Deployment;
  const open: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    for (const close of open) await close();
  });

  const register = (name: string, dialect: string, jdbc_url: string, login?: { username: string; password: string }) =>
    deployment.admin.in('default').data('POST', '/api/v1/datasources', {
      ...{ name, display_name: name, dialect, jdbc_url },
      credential: login ? { kind: 'password', username: login.username, secret: login.password } : { kind: 'none' },
    });

  /** Reads the row in the source and gives it to the caller, at once or by way of a staged table. */
  async function pipeline(name: string, dialect: string, sql: string, staged: boolean): Promise<string> {
    const id = `${name}${staged ? '_staged' : ''}`;
    await releasedTemplate(deployment.author, { id: `extreme/${id}.sql`, dialect, body: sql });
    const read = { id: 'read', type: 'DQL', source: name, template: { id: `extreme/${id}.sql`, version: 1 } };
    if (!staged) return releasedPipeline(deployment.author, { name: `extreme/${id}`, nodes: [read] });
    const shown = `extreme/${id}_shown.sql`;
    await releasedTemplate(deployment.author, { id: shown, dialect: 'DUCKDB', body: 'SELECT * FROM kept' });
    return releasedPipeline(deployment.author, {
      name: `extreme/${id}`,
      nodes: [
        { ...read, output: { target: 'tempdb', table: 'kept' } },
        { id: 'show', type: 'DQL', source: 'tempdb', template: { id: shown, version: 1 }, depends_on: ['read'] },
      ],
    });
  }

  /** The one row, as each door shows it. */
  async function shownBy(pipelineId: string, path: string): Promise<Record<string, string>> {
    const { author } = deployment;
    const run = await EventStream.run(author, pipelineId);
    expect(await run.last()).toBe('data_ready');
    const execution = `/api/v1/executions/${run.executionId}`;
    const query = `{ execution(id: "${run.executionId}") { result(limit: 1) { rows } } }`;
    const call = { name: 'executions_get_result', arguments: { execution_id: run.executionId } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
    await author.data('POST', '/api/v1/endpoints', { path, pipeline: `extreme${path}` });
    const [rest, csv, graphql, mcp, endpoint] = await Promise.all([
      author.call('GET', `${execution}/result`),
      author.call('GET', `${execution}/result?format=csv`),
      author.call('POST', '/graphql', { query }),
      author.call('POST', '/mcp', message, { headers: ACCEPT }),
      author.call('GET', `/api/x${path}`),
    ]);
    return {
      rest: rest.text,
      sse: run.blocks.at(-1)!,
      replayed: await EventStream.watch(author, run.executionId).then(async (again) => {
        await again.last();
        return again.blocks.at(-1)!;
      }),
      graphql: graphql.text,
      mcp: mcp.text,
      mcp_text: mcp.body.result.content[0].text,
      endpoint: endpoint.text,
      csv: csv.text,
      warned: [...run.blocks.at(-1)!.matchAll(/value_unrepresentable","column":"(\w+)","count":1/g)]
        .map(([, column]) => column)
        .join(),
    };
  }

  const ENGINES: Record<string, Engine> = {
    postgres: {
      ...{ sql: POSTGRES, dialect: 'POSTGRES', unrepresentable: ['nan', 'infinite'] },
      source: async () => {
        const database = await createEmptyDatabase();
        open.push(() => database.drop());
        const { host, pathname, username, password } = new URL(database.url);
        return register('postgres', 'POSTGRES', `jdbc:postgresql://${host}${pathname}`, { username, password });
      },
    },
    sqlite: {
      // A text that begins with a sign is kept from spreadsheets.
      ...{ sql: SQLITE, dialect: 'SQLITE', csv: CSV.replace(EXACT, `'${EXACT}`), unrepresentable: ['infinite'] },
      source: () => {
        const file = join(deployment.files, 'extreme.sqlite');
        new DatabaseSync(file).close();
        return register('sqlite', 'SQLITE', `jdbc:sqlite:${file}`);
      },
    },
    duckdb: {
      ...{ sql: DUCKDB, dialect: 'DUCKDB', unrepresentable: ['nan', 'infinite'] },
      source: async () => {
        const file = join(deployment.files, 'extreme.duckdb');
        (await DuckDBInstance.create(file)).closeSync();
        return register('duckdb', 'DUCKDB', `jdbc:duckdb:${file}`);
      },
    },
  };

  const carries = (name: string, { sql, dialect, source, csv = CSV, unrepresentable = [] }: Engine): void => {
    beforeAll(source, 90_000);

    it.each([false, true])('show not a digit changed, the source read into staging first: %s', async (staged) => {
      const id = await pipeline(name, dialect, sql, staged);
      const { csv: download, warned, ...json } = await shownBy(id, `/${name}${staged ? '_staged' : ''}`);
      const rows = Object.entries(json).map(([door, text]) => [
        door,
        /\[\["9007[^\]]*\]/.exec(text)?.[0].slice(1) ?? text,
      ]);
      expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(Object.keys(json).map((door) => [door, WIRE])));
      expect(warned).toBe(unrepresentable.join());
      expect(download).toBe(`${NAMES.join(',')}\r\n${csv}\r\n`);
    });
  };

  describe.each(Object.entries(ENGINES))('of %s', carries);

  describeWithProgram('mariadbd', 'of MariaDB', (program) => {
    carries('mariadb', {
      ...{ sql: MYSQL, dialect: 'MYSQL' },
      source: async () => {
        const maria = await startMariadb(program);
        open.push(() => maria.stop());
        return register('mariadb', 'MYSQL', `jdbc:mysql://${maria.host}:${maria.port}/${maria.database}`, maria);
      },
    });
  });

  describeWithProgram('h2.jar', 'of H2', (jar) => {
    carries('h2', {
      ...{ sql: H2, dialect: 'H2', unrepresentable: ['nan', 'infinite'] },
      source: async () => {
        const h2 = await startH2(jar);
        open.push(() => h2.stop());
        return register('h2', 'H2', `jdbc:h2:pg://${h2.host}:${h2.port}/${h2.database}`, h2);
      },
    });
  });
});

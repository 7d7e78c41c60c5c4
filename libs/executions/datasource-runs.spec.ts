import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DatasourceService } from '#libs/datasources';
import { readJson, type JsonObject, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { DuckDBInstance } from '@duckdb/node-api';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createEmptyDatabase, type EmptyDatabase } from '../../test/fixtures/postgres.js';
import { createTestDatabase, idle, TestWorkspace, type TestDatabase } from './executions.fixture.js';
import { Drain } from './instance/drain.js';
import { ExecutionInstance } from './instance/execution-instance.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Launcher } from './launch/launcher.js';
import { ExecutionResults } from './reading/execution-results.js';
import { ExecutionService } from './reading/execution.service.js';
import { wiredInstance, type WiredInstance } from './wired-instance.fixture.js';
import type { ExecutionRun } from './run/execution-run.js';

let db: TestDatabase;
let source: EmptyDatabase;
let pg: Database;
let workspace: TestWorkspace;
let server: WiredInstance;
let admin: Principal;

const names = { pg: '', sqlite: '', duck: '' };

beforeAll(async () => {
  db = await createTestDatabase();
  source = await createEmptyDatabase();
  pg = await Database.open({ url: source.url });
  workspace = await TestWorkspace.create(db.database);
  server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
    DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
  });
  await server.get(ExecutionJobs).start({ alone: false });
  admin = workspace.principal({ superAdmin: true });
  admin.workspace!.flags = { author: true, promoter: true, admin: true };
  admin.workspace!.superAdmin = true;
  const { hostname, port, username, password, pathname } = new URL(source.url);
  names.pg = await register({
    dialect: 'POSTGRES',
    jdbc_url: `jdbc:postgresql://${hostname}:${port}${pathname}`,
    username,
    password: decodeURIComponent(password),
  });
  const file = join(server.files, 'a.sqlite');
  const sqlite = new DatabaseSync(file);
  sqlite.exec(`CREATE TABLE s (id BIGINT, name TEXT); INSERT INTO s VALUES (9007199254740993, 'ünï'), (2, NULL)`);
  sqlite.close();
  names.sqlite = await register({ dialect: 'SQLITE', jdbc_url: `jdbc:sqlite:${file}` });
  const duckFile = join(server.files, 'a.duckdb');
  const duck = await DuckDBInstance.create(duckFile);
  const connection = await duck.connect();
  await connection.run(
    `CREATE TABLE d AS SELECT 9007199254740993::BIGINT AS id, 12345678901234567890.12::DECIMAL(38,2) AS amount`,
  );
  connection.closeSync();
  duck.closeSync();
  names.duck = await register({ dialect: 'DUCKDB', jdbc_url: `jdbc:duckdb:${duckFile}` });
}, 90_000);

afterAll(async () => {
  await server?.get(Drain).begin({ hurry: true });
  await server?.get(ExecutionJobs).stop();
  await server?.stop();
  await pg?.close();
  await source?.drop();
  await db?.drop();
});

async function register(fields: Record<string, unknown>): Promise<string> {
  const name = `ds-${String(fields['dialect']).toLowerCase()}-${Math.random().toString(36).slice(2, 8)}`;
  const body = { name, display_name: name, ...fields };
  await server.get(DatasourceService).create(admin, body as unknown as JsonObject);
  return name;
}

async function run(
  nodes: Parameters<TestWorkspace['pipeline']>[0],
  body: Parameters<TestWorkspace['pipeline']>[1] = {},
  parameters = {},
) {
  const me = workspace.principal();
  const pipelineId = await workspace.pipeline(nodes, body);
  const launched = await server.get(Launcher).launch(me, {
    pipelineId,
    parameters: parameters as JsonObject,
    triggeredVia: 'UI',
    detached: true,
  });
  return { me, ...launched };
}

const rowsOf = async (me: Principal, executionId: string) =>
  (await server.get(ExecutionResults).page(me, executionId, {})).rows.map(({ text }) => text);

const onPg = (id: string, sql: string, more: object = {}) => ({
  id,
  sql,
  source: names.pg,
  dialect: 'POSTGRES',
  ...more,
});
const table = (name: string) => ({ output: { target: 'tempdb', table: name } });
const into = (name: string, mode: string, datasource = names.pg) => ({
  output: { target: 'datasource', datasource, table: name, mode },
});

async function expectClean(): Promise<void> {
  const instance = server.get(ExecutionInstance);
  expect(instance.runs.size).toBe(0);
  expect(instance.staging.active).toBe(0);
  await idle(instance.gate);
}

describe('a run over several databases', () => {
  it('joins POSTGRES, SQLITE and DUCKDB in tempdb, every value exact', async () => {
    const { me, executionId, finished } = await run([
      onPg(
        'p',
        `SELECT 9007199254740993::bigint AS id, 0.1::float4 AS f, 'NaN'::float8 AS g,
                        123456789012345678901234567890.12345678::numeric AS big, 4611686018427387904::numeric(30,4) AS n,
                        '2026-03-01 07:05:09.000001+02'::timestamptz AS ts, '0001-01-01'::date AS d, 'infinity'::date AS inf,
                        decode('00ff', 'hex') AS b, ARRAY[1,NULL]::int[] AS arr`,
        table('p'),
      ),
      { id: 's', sql: 'SELECT id, name FROM s', source: names.sqlite, dialect: 'SQLITE', ...table('s') },
      { id: 'd', sql: 'SELECT id, amount FROM d', source: names.duck, ...table('d') },
      {
        id: 'out',
        sql: 'SELECT p.*, s.name, d.amount FROM p JOIN s USING (id) JOIN d USING (id)',
        after: ['p', 's', 'd'],
      },
    ]);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await rowsOf(me, executionId)).toEqual([
      '["9007199254740993",0.1,null,"123456789012345678901234567890.12345678","4611686018427387904.0000",' +
        '"2026-03-01T05:05:09.000001Z","0001-01-01",null,"AP8=","{1,NULL}","ünï","12345678901234567890.12"]',
    ]);
    await expectClean();
  });

  it('delivers from a datasource straight to the caller, with typed binds and one warning per column', async () => {
    const { me, executionId, finished } = await run(
      [onPg('p', `SELECT g AS n, 'NaN'::float8 AS nan FROM generate_series(1, :count) g`)],
      { parameters: { count: { type: 'INTEGER', required: true } } },
      readJson('{"count": 5000}') as JsonObject,
    );
    expect(await finished).toMatchObject({
      status: 'SUCCESS',
      dataReady: {
        total_rows: 5000,
        warnings: [{ code: 'type_mapping.value_unrepresentable', column: 'nan', count: 5000 }],
      },
    });
    const page = await server.get(ExecutionResults).page(me, executionId, { offset: 4999 });
    expect(page.rows.map(({ text }) => text)).toEqual(['[5000,null]']);
  });

  it('runs DDL and DML, and writes back in one transaction', async () => {
    const { executionId, finished, me } = await run([
      onPg('make', 'CREATE TABLE made (id int, v text)', { type: 'DDL' }),
      onPg('fill', `INSERT INTO made SELECT g, 'old' FROM generate_series(1, 3) g`, { type: 'DML', after: ['make'] }),
      {
        id: 'back',
        sql: `SELECT range::INTEGER AS id, 'new' AS v FROM range(2500)`,
        after: ['fill'],
        ...into('made', 'replace'),
      },
      onPg('more', `SELECT 1 AS id, 'more' AS v`, { after: ['back'], ...into('made', 'append') }),
    ]);
    expect(await finished).toEqual({ executionId, status: 'SUCCESS' });
    const view = await server.get(ExecutionService).read(me, executionId);
    const stats = readJson(view.node_stats!.text) as unknown as { node_id: string; rows_out: { value: string } }[];
    expect(stats.map(({ node_id, rows_out }) => `${node_id} ${rows_out.value}`)).toEqual([
      'make 0',
      'fill 3',
      'back 2500',
      'more 1',
    ]);
    const [row] = await pg.query<{ n: number }>('SELECT COUNT(*)::int AS n FROM made');
    expect(row).toEqual({ n: 2501 });
  });

  it('rolls a write-back back when its source fails midway, and blames the source', async () => {
    await pg.execute('CREATE TABLE kept (n int)');
    await pg.execute('INSERT INTO kept VALUES (42)');
    const { finished } = await run([
      onPg('bad', 'SELECT 1 / (5000 - g) AS n FROM generate_series(1, 6000) g', into('kept', 'replace')),
    ]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_execution_failed' },
    });
    expect(await pg.query('SELECT n FROM kept')).toEqual([{ n: 42 }]);
    const missing = await run([onPg('lost', 'SELECT 1 AS n', into('not_there', 'append'))]);
    expect(await missing.finished).toMatchObject({ failure: { code: 'pipeline.node.writeback_target_missing' } });
    const wrong = await run([onPg('wrong', `SELECT 'x' AS n`, into('kept', 'append'))]);
    expect(await wrong.finished).toMatchObject({ failure: { code: 'pipeline.node.writeback_failed' } });
    expect(await pg.query('SELECT n FROM kept')).toEqual([{ n: 42 }]);
    await expectClean();
  });

  it('commits no write-back for a run that is no longer this instance’s', async () => {
    await pg.execute('CREATE TABLE fenced (n int)');
    const slow = 'SELECT g AS n FROM generate_series(1, 3) g, LATERAL (SELECT pg_sleep(0.2)) s';
    const { executionId, finished } = await run([onPg('w', slow, into('fenced', 'append'))]);
    await db.database.execute(
      `UPDATE pipeline_executions SET status = 'ABORTED', completed_at = NOW() WHERE execution_id = $1`,
      [executionId],
    );
    (server.get(ExecutionInstance).runs.get(executionId) as ExecutionRun).state.lastBeat = -Infinity;
    expect(await finished).toMatchObject({ failure: { details: { reason: 'fenced' } } });
    expect(await pg.query('SELECT n FROM fenced')).toEqual([]);
    await expectClean();
  });

  it('drops the partial staged table and fails the node when a source breaks while it is read', async () => {
    const { finished } = await run([
      onPg('bad', 'SELECT 1 / (5000 - g) AS n FROM generate_series(1, 6000) g', table('t')),
    ]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_execution_failed', node: { datasource: names.pg, dialect: 'POSTGRES' } },
    });
    await expectClean();
  });

  it('refuses writes to what has become read-only, a class that changed in the render, and a datasource that is gone', async () => {
    const readonly = await register({
      dialect: 'SQLITE',
      jdbc_url: `jdbc:sqlite:${join(server.files, 'a.sqlite')}`,
      readonly: true,
    });
    const write = await run([{ id: 'w', type: 'DML', sql: `DELETE FROM s`, source: readonly, dialect: 'SQLITE' }]);
    expect(await write.finished).toMatchObject({ failure: { code: 'pipeline.node.datasource_readonly' } });
    const back = await run([onPg('b', 'SELECT 1 AS id', into('s', 'append', readonly))]);
    expect(await back.finished).toMatchObject({ failure: { code: 'pipeline.node.datasource_readonly' } });
    const other = await run([onPg('x', 'DELETE FROM kept')]);
    expect(await other.finished).toMatchObject({
      failure: { code: 'pipeline.node.query_execution_failed', details: { reason: 'statement_type' } },
    });
    const gone = await run([{ ...onPg('g', 'SELECT 1 AS a'), source: 'nobody' }]);
    expect(await gone.finished).toMatchObject({ failure: { code: 'pipeline.node.datasource_not_found' } });
  });

  it('says which datasource is down before any node has run', async () => {
    const down = await register({
      dialect: 'POSTGRES',
      jdbc_url: 'jdbc:postgresql://127.0.0.1:1/x',
      username: 'u',
      password: 'planted-secret',
    });
    const { finished, executionId, me } = await run([
      onPg('first', 'CREATE TABLE must_not_exist (a int)', { type: 'DDL' }),
      { id: 'second', sql: 'SELECT 1 AS a', source: down, dialect: 'POSTGRES', after: ['first'] },
    ]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.execution.datasource_unreachable', details: { datasources: [{ datasource: down }] } },
    });
    const view = await server.get(ExecutionService).read(me, executionId);
    expect(view.failed_node_id).toBeNull();
    expect(view.error!.text).not.toContain('planted-secret');
    expect(await pg.query(`SELECT to_regclass('must_not_exist') AS t`)).toEqual([{ t: null }]);
  });
});

describe('stopping what runs in a database', () => {
  const sleeping = () =>
    pg.query(
      `SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(61)%' AND pid <> pg_backend_pid() AND state = 'active'`,
    );

  async function until(check: () => Promise<boolean>): Promise<boolean> {
    for (let n = 0; n < 200; n++) {
      if (await check()) return true;
      await delay(20);
    }
    return false;
  }

  it.each([
    ['DQL', {}],
    ['DML', { type: 'DML' }],
  ])('a cancelled %s is gone from pg_stat_activity', async (kind, more) => {
    await pg.execute('CREATE TABLE IF NOT EXISTS slept (x text)');
    const sql = kind === 'DML' ? 'INSERT INTO slept SELECT pg_sleep(61)::text' : 'SELECT pg_sleep(61)::text AS s';
    const { me, executionId, finished } = await run([onPg('sleep', sql, more)]);
    expect(await until(async () => (await sleeping()).length === 1)).toBe(true);
    await server.get(ExecutionService).cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    expect(await until(async () => (await sleeping()).length === 0)).toBe(true);
    await expectClean();
  });

  it('a statement over its budget is gone too, and the node says so', async () => {
    const { finished } = await run([
      onPg('sleep', 'SELECT pg_sleep(61)::text AS s', { settings: { query_timeout_seconds: 1 } }),
    ]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_timeout', details: { phase: 'execute' } },
    });
    expect(await until(async () => (await sleeping()).length === 0)).toBe(true);
  });

  it('a failing node cancels its running siblings in their databases', async () => {
    const { finished } = await run([
      onPg('sleep', 'SELECT pg_sleep(61)::text AS s', table('t')),
      onPg('bad', 'SELECT 1/0 AS x', table('u')),
    ]);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { node: { id: 'bad' } } });
    expect(await until(async () => (await sleeping()).length === 0)).toBe(true);
    await expectClean();
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DatasourceService } from '#libs/datasources';
import { type JsonObject, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { eventually } from '../../test/fixtures/eventually.js';
import { createEmptyDatabase, type EmptyDatabase } from '../../test/fixtures/postgres.js';
import { createTestDatabase, idle, TestWorkspace, type TestDatabase, type TestNode } from './executions.fixture.js';
import { Drain } from './instance/drain.js';
import { ExecutionInstance } from './instance/execution-instance.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Launcher } from './launch/launcher.js';
import { ExecutionResults } from './reading/execution-results.js';
import { ExecutionService } from './reading/execution.service.js';
import { wiredInstance, type WiredInstance } from './wired-instance.fixture.js';

let db: TestDatabase;
let source: EmptyDatabase;
let pg: Database;
let workspace: TestWorkspace;
let server: WiredInstance;
let admin: Principal;
/** A source with connections to spare, and one with a single connection. */
let wide = '';
let narrow = '';

/** More rows than any test waits for; they come one by one only as long as the series stands in the SELECT list. */
const ENDLESS = `SELECT generate_series(1, 9000000000) AS n, repeat('x', 200) AS pad`;

beforeAll(async () => {
  db = await createTestDatabase();
  source = await createEmptyDatabase();
  pg = await Database.open({ url: source.url });
  workspace = await TestWorkspace.create(db.database);
  server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
    DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
    DATAPIPELINES_RESULT_MAX_SIZE_BYTES: String(1 << 20),
  });
  await server.get(ExecutionJobs).start({ alone: false });
  admin = workspace.principal({ superAdmin: true });
  admin.workspace!.flags = { author: true, promoter: true, admin: true };
  admin.workspace!.superAdmin = true;
  wide = await register('wide', {});
  narrow = await register('narrow', { hikari: { maximumPoolSize: 1, minimumIdle: 0, connectionTimeout: 3000 } });
}, 90_000);

afterEach(async () => {
  const instance = server.get(ExecutionInstance);
  await eventually('every run to let go', () => instance.runs.size === 0 && instance.staging.active === 0);
  await idle(instance.gate);
});

afterAll(async () => {
  await server?.get(Drain).begin({ hurry: true });
  await server?.get(ExecutionJobs).stop();
  await server?.stop();
  await pg?.close();
  await source?.drop();
  await db?.drop();
});

async function register(name: string, properties: object): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(source.url);
  await server.get(DatasourceService).create(admin, {
    name,
    display_name: name,
    dialect: 'POSTGRES',
    jdbc_url: `jdbc:postgresql://${hostname}:${port}${pathname}`,
    username,
    password: decodeURIComponent(password),
    properties,
  } as unknown as JsonObject);
  return name;
}

const onPg = (id: string, sql: string, more: object = {}): TestNode => ({
  id,
  sql,
  source: wide,
  dialect: 'POSTGRES',
  ...more,
});
const into = (table: string, mode: 'replace' | 'append', datasource = wide) => ({
  output: { target: 'datasource', datasource, table, mode },
});
const caller = { output: { target: 'caller' } };

async function run(nodes: readonly TestNode[]) {
  const me = workspace.principal();
  const pipelineId = await workspace.pipeline(nodes);
  const request = { pipelineId, parameters: {}, triggeredVia: 'UI', detached: true } as const;
  return { me, ...(await server.get(Launcher).launch(me, request)) };
}

async function childOf(executionId: string) {
  const [row] = await db.database.query<{ execution_id: string; status: string; code: string | null }>(
    `SELECT execution_id, status, error_json->>'code' AS code FROM pipeline_executions WHERE parent_execution_id = $1`,
    [executionId],
  );
  return row;
}

const untilReadersAreGone = () =>
  eventually('the child’s statement to be gone from its database', async () => {
    const rows = await pg.query(
      `SELECT pid FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 9000000000)%' AND pid <> pg_backend_pid() AND state <> 'idle'`,
    );
    return rows.length === 0;
  });

describe('a child’s rows written back by the parent', () => {
  it('arrive exact, all of them, in the parent’s one transaction', async () => {
    await pg.execute('CREATE TABLE kept (id bigint, at timestamptz, amount numeric(30,4), note text)');
    await pg.execute(`INSERT INTO kept (id) VALUES (-1)`);
    const child = await workspace.pipeline([
      onPg(
        'read',
        `SELECT 9007199254740993 + g AS id, '2026-03-01 07:05:09.000001+02'::timestamptz AS at,
                4611686018427387904.0001::numeric(30,4) AS amount, CASE WHEN g % 2 = 0 THEN 'ünï ''q'' ' || g END AS note
           FROM generate_series(0, 6999) g`,
      ),
    ]);
    const { finished } = await run([{ id: 'call', child, ...into('kept', 'replace') }]);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const [row] = await pg.query(
      `SELECT count(*)::int AS n, min(id)::text AS low, max(id)::text AS high, min(at AT TIME ZONE 'UTC')::text AS at,
              sum(amount)::text AS sum, count(note)::int AS notes FROM kept`,
    );
    expect(row).toEqual({
      n: 7000,
      low: '9007199254740993',
      high: '9007199254747992',
      at: '2026-03-01 05:05:09.000001',
      sum: '32281802128991715328000.7000',
      notes: 3500,
    });
  });

  it('are rolled back whole when a later node of the child fails, though every row was through', async () => {
    await pg.execute('CREATE TABLE untouched (n int)');
    await pg.execute('INSERT INTO untouched VALUES (42)');
    const child = await workspace.pipeline([
      onPg('read', 'SELECT g AS n FROM generate_series(1, 3000) g', caller),
      onPg('late', 'SELECT 1/0 AS x', { after: ['read'], output: { target: 'tempdb', table: 'x' } }),
    ]);
    const { executionId, finished } = await run([{ id: 'call', child, ...into('untouched', 'replace') }]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.child_execution_failed', details: { child_node: 'late' } },
    });
    expect(await pg.query('SELECT n FROM untouched')).toEqual([{ n: 42 }]);
    expect(await childOf(executionId)).toMatchObject({ status: 'FAILED' });
  });

  it('that the target refuses fail the parent’s node with the target’s code; the child ends and leaves no statement', async () => {
    await pg.execute('CREATE TABLE small (n smallint, pad text)');
    const child = await workspace.pipeline([onPg('read', ENDLESS)]);
    const { executionId, finished } = await run([{ id: 'call', child, ...into('small', 'append') }]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.writeback_failed', node: { id: 'call', type: 'PIPELINE' } },
    });
    expect(await pg.query('SELECT n FROM small')).toEqual([]);
    expect(await childOf(executionId)).toMatchObject({ status: 'ABORTED' });
    await untilReadersAreGone();
  });

  it('to the only connection the child reads with end in an error after the pool’s patience, never in a deadlock', async () => {
    await pg.execute('CREATE TABLE narrow_target (n int)');
    const child = await workspace.pipeline([
      onPg('read', 'SELECT g AS n FROM generate_series(1, 10000) g', { source: narrow }),
    ]);
    const { finished } = await run([{ id: 'call', child, ...into('narrow_target', 'append', narrow) }]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: {
        code: 'pipeline.node.datasource_connection_failed',
        details: { datasource: narrow, reason: 'pool_exhausted', held_by: 'child' },
        node: { id: 'call' },
      },
    });
    expect(await pg.query('SELECT n FROM narrow_target')).toEqual([]);
  });
});

describe('a child with more rows than fit anywhere', () => {
  it('is stopped in its database as soon as the caller’s result is full', async () => {
    const child = await workspace.pipeline([onPg('read', ENDLESS)]);
    const middle = await workspace.pipeline([{ id: 'call', child, ...caller }]);
    const { me, executionId, finished } = await run([{ id: 'call', child: middle, ...caller }]);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'result.too_large' } });
    await untilReadersAreGone();
    expect(await childOf(executionId)).toMatchObject({ status: 'ABORTED' });
    await expect(server.get(ExecutionResults).page(me, executionId, {})).rejects.toMatchObject({
      code: 'result.execution_failed',
    });
  });

  it('is stopped when its parent’s node runs out of time while rows still come', async () => {
    const child = await workspace.pipeline([onPg('read', ENDLESS)]);
    const { executionId, finished } = await run([{ id: 'call', child, settings: { timeout_seconds: 1 } }]);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.timeout', node: { id: 'call' }, details: { timeout_seconds: 1 } },
    });
    await untilReadersAreGone();
    expect(await childOf(executionId)).toMatchObject({ status: 'ABORTED' });
  });

  it('is stopped when someone cancels the root three generations above', async () => {
    const leaf = await workspace.pipeline([onPg('read', ENDLESS)]);
    const middle = await workspace.pipeline([{ id: 'call', child: leaf, ...caller }]);
    const { me, executionId, finished } = await run([{ id: 'call', child: middle }]);
    const running = () =>
      db.database.query(`SELECT 1 FROM pipeline_executions WHERE root_execution_id = $1 AND status = 'RUNNING'`, [
        executionId,
      ]);
    await eventually('three generations', async () => (await running()).length === 3);
    await server.get(ExecutionService).cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    expect(await running()).toEqual([]);
    await untilReadersAreGone();
  });
});

it('a child whose datasource is down fails before its nodes, and the parent names it', async () => {
  const name = 'down';
  await server.get(DatasourceService).create(admin, {
    ...{ name, display_name: name, dialect: 'POSTGRES', jdbc_url: 'jdbc:postgresql://127.0.0.1:1/x' },
    ...{ username: 'u', password: 'planted-secret' },
  } as unknown as JsonObject);
  const child = await workspace.pipeline([onPg('read', 'SELECT 1 AS a', { source: name })]);
  const { executionId, finished } = await run([{ id: 'call', child, ...caller }]);
  const { failure } = await finished;
  const { execution_id: childId } = (await childOf(executionId))!;
  expect(failure).toMatchObject({
    code: 'pipeline.node.child_execution_failed',
    details: {
      child_code: 'pipeline.execution.datasource_unreachable',
      child_execution_id: childId,
      path: [{ execution_id: childId, code: 'pipeline.execution.datasource_unreachable' }],
    },
  });
  expect(JSON.stringify(failure)).not.toContain('planted-secret');
});

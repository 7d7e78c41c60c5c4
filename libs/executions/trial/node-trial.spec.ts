import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DatasourceService } from '#libs/datasources';
import { newId, type JsonObject, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { createServer, type AddressInfo } from 'node:net';
import { eventually } from '../../../test/fixtures/eventually.js';
import { createEmptyDatabase, type EmptyDatabase } from '../../../test/fixtures/postgres.js';
import { createTestDatabase, TestWorkspace, type TestDatabase } from '../executions.fixture.js';
import { wiredInstance, type WiredInstance } from '../wired-instance.fixture.js';
import { NodeTrial } from './node-trial.js';

let db: TestDatabase;
let source: EmptyDatabase;
let pg: Database;
let workspace: TestWorkspace;
let server: WiredInstance;
let admin: Principal;
const names = { pg: '', away: '' };

beforeAll(async () => {
  db = await createTestDatabase();
  source = await createEmptyDatabase();
  pg = await Database.open({ url: source.url });
  await pg.execute('CREATE TABLE notes (note TEXT PRIMARY KEY)');
  workspace = await TestWorkspace.create(db.database);
  server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
    DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
  });
  admin = workspace.principal({ superAdmin: true });
  admin.workspace!.flags = { author: true, promoter: true, admin: true };
  admin.workspace!.superAdmin = true;
  names.pg = await register('pg', new URL(source.url));
  const nobody = new URL(source.url);
  nobody.port = String(await closedPort());
  names.away = await register('away', nobody);
}, 90_000);

afterAll(async () => {
  await server?.stop();
  await pg?.close();
  await source?.drop();
  await db?.drop();
});

async function register(kind: string, { hostname, port, pathname, username, password }: URL): Promise<string> {
  const name = `${kind}-${newId().slice(0, 8)}`;
  const body = {
    name,
    display_name: name,
    dialect: 'POSTGRES',
    jdbc_url: `jdbc:postgresql://${hostname}:${port}${pathname}`,
    username,
    password: decodeURIComponent(password),
  };
  await server.get(DatasourceService).create(admin, body as JsonObject);
  return name;
}

/** A port where nobody listens any more. */
async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** Statements of trials that are at work in the source. */
async function writing(): Promise<number> {
  const active = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT % pg_sleep%' AND state = 'active'`;
  return (await pg.query(active)).length;
}

async function tried(sql: string, datasource = names.pg, settings: object = {}, type: 'DML' | 'DQL' = 'DML') {
  const node = { id: 'write', type, sql, source: datasource, dialect: 'POSTGRES', settings };
  const pipelineId = await workspace.pipeline([node]);
  const agent = workspace.principal({
    method: 'api_key',
    surface: 'mcp',
    keyId: 'dpk_TEST',
    keyKind: 'user',
    scopes: ['author'],
  });
  return server.get(NodeTrial).run(agent, { pipelineId, nodeId: 'write' }, new AbortController().signal);
}

describe('a node by itself', () => {
  it('tells a database that cannot be reached from a statement that failed, as a run does', async () => {
    await expect(tried(`INSERT INTO notes VALUES ('never')`, names.away)).rejects.toMatchObject({
      code: 'pipeline.node.datasource_connection_failed',
      details: { reason: 'connection' },
    });
    await expect(tried(`INSERT INTO no_such_table VALUES (1)`)).rejects.toMatchObject({
      code: 'pipeline.node.query_execution_failed',
      details: { reason: 'missing_table' },
    });
  });

  it('is bounded by the clock of its database too, should this process be gone before it ends', async () => {
    const bound = `INSERT INTO notes SELECT current_setting('statement_timeout')`;
    expect((await tried(bound, names.pg, { query_timeout_seconds: 30 })).rows_affected).toBe(1);
    const [row] = await pg.query<{ note: string }>(`SELECT note FROM notes WHERE note <> '0'`);
    const ms = Number(row?.note.replace('ms', '').replace(/^(\d+)s$/, '$1000'));
    expect(ms).toBeGreaterThan(1000);
    expect(ms).toBeLessThanOrEqual(32_000);
  });

  it('takes one of the two slots that a person has for statements outside a run, and leaves an audit row without SQL', async () => {
    const slow = () => tried('INSERT INTO notes SELECT pg_sleep(1)::text || random()', names.pg);
    const [first, second] = [slow(), slow()];
    await eventually('two statements at work', async () => (await writing()) === 2);
    await expect(tried(`INSERT INTO notes VALUES ('third')`)).rejects.toMatchObject({
      code: 'rate_limit.exceeded',
      details: { limit: 2 },
    });
    await Promise.all([first, second]);
    const rows = await db.database.query<{ details: string }>(
      `SELECT details_json::text AS details FROM audit_log WHERE event = 'datasource.probed' AND details_json->>'tool' = 'execute_node'`,
    );
    expect(rows.map(({ details }) => (JSON.parse(details) as { outcome: string }).outcome)).toEqual(
      expect.arrayContaining(['ok', 'failed']),
    );
    expect(JSON.stringify(rows)).not.toContain('INSERT');
  });

  it.each(['DML', 'DQL'] as const)('keeps its slot for as long as a %s statement may take', async (type) => {
    const acquire = jest.spyOn(MemoryTransientStore.prototype, 'acquire');
    const sql = type === 'DML' ? `DELETE FROM notes WHERE note = 'none'` : 'SELECT note FROM notes';
    await tried(sql, names.pg, { query_timeout_seconds: 200 }, type);
    const held = acquire.mock.calls.filter(([what]) => what === 'probes').map((call) => call[4]);
    expect([held.length, (held[0] ?? 0) > 200]).toEqual([1, true]);
    acquire.mockRestore();
  });

  it('stops in its database at the end of its time, and leaves no connection that the next one would trip over', async () => {
    const slow = tried('INSERT INTO notes SELECT pg_sleep(60)::text', names.pg, { query_timeout_seconds: 1 });
    await expect(slow).rejects.toMatchObject({ code: 'pipeline.node.query_timeout', details: { timeout_seconds: 1 } });
    expect((await tried(`INSERT INTO notes VALUES ('the next')`)).rows_affected).toBe(1);
    expect(await writing()).toBe(0);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DatasourceAccess, DatasourceService, DriverFailure, type Lease } from '#libs/datasources';
import { catalogueEntry, newId, type JsonObject, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { eventually } from '../../test/fixtures/eventually.js';
import { createEmptyDatabase, type EmptyDatabase } from '../../test/fixtures/postgres.js';
import { createTestDatabase, idle, TestWorkspace, type TestDatabase } from './executions.fixture.js';
import { Drain } from './instance/drain.js';
import { ExecutionInstance } from './instance/execution-instance.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Launcher } from './launch/launcher.js';
import { wiredInstance, type WiredInstance } from './wired-instance.fixture.js';

const ROWS = 3000;

let db: TestDatabase;
let source: EmptyDatabase;
let pg: Database;
let workspace: TestWorkspace;
let server: WiredInstance;
let name: string;
let pipelineId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  source = await createEmptyDatabase();
  pg = await Database.open({ url: source.url });
  await pg.execute('CREATE TABLE target (n int)');
  await pg.execute('CREATE TABLE counted (n int)');
  workspace = await TestWorkspace.create(db.database);
  server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
    DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
  });
  await server.get(ExecutionJobs).start({ alone: false });
  name = await register();
  const onPg = { source: name, dialect: 'POSTGRES' };
  const into = { target: 'datasource', datasource: name, table: 'target', mode: 'replace' };
  pipelineId = await workspace.pipeline([
    {
      id: 'read',
      sql: `SELECT g AS n FROM generate_series(1, ${ROWS}) g`,
      ...onPg,
      output: { target: 'tempdb', table: 't' },
    },
    { id: 'write', sql: 'SELECT n FROM t ORDER BY n', output: into, after: ['read'] },
    { id: 'count', type: 'DML', sql: 'INSERT INTO counted VALUES (1)', ...onPg, after: ['write'] },
    { id: 'give', sql: 'SELECT count(*) AS n FROM target', ...onPg, output: { target: 'caller' }, after: ['count'] },
  ]);
}, 90_000);

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(async () => {
  await server?.get(Drain).begin({ hurry: true });
  await server?.get(ExecutionJobs).stop();
  await server?.stop();
  await pg?.close();
  await source?.drop();
  await db?.drop();
});

async function register(): Promise<string> {
  const admin: Principal = workspace.principal({ superAdmin: true });
  admin.workspace!.flags = { author: true, promoter: true, admin: true };
  admin.workspace!.superAdmin = true;
  const { hostname, port, username, password, pathname } = new URL(source.url);
  const id = `pg-${newId().slice(0, 8)}`;
  await server.get(DatasourceService).create(admin, {
    ...{ name: id, display_name: id, dialect: 'POSTGRES' },
    jdbc_url: `jdbc:postgresql://${hostname}:${port}${pathname}`,
    ...{ username, password: decodeURIComponent(password) },
  } as JsonObject);
  return id;
}

/** Fails the n-th call of one method of what is wrapped, and of whatever that method gives to be called in turn. */
class NthCall {
  calls = 0;
  failed = false;
  readonly seen = new Set<string>();

  constructor(
    readonly method: string,
    readonly at: number,
  ) {}

  wrap<T extends object>(port: string, target: T): T {
    return new Proxy(target, {
      get: (_, member) => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          this.#call(`${port}.${String(member)}`, () => value.apply(target, args) as unknown);
      },
    });
  }

  #call(called: string, go: () => unknown): unknown {
    this.seen.add(called);
    if (called === this.method && ++this.calls === this.at) {
      this.failed = true;
      const lost = new DriverFailure('connection', 'the line went dead', { driverCode: 'ECONNRESET' });
      // To close and to give back never reject: what fails there is the connection, which shows in the next call.
      if (!/close|release/.test(called)) return Promise.reject(lost);
    }
    const given = go();
    return given instanceof Promise ? given.then((value) => this.#inner(value)) : this.#inner(given);
  }

  #inner(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if ('next' in value && 'columns' in value) return this.wrap('cursor', value);
    if ('commit' in value) return this.wrap('writer', value);
    if ('openCursor' in value) return this.wrap('lease', value as Lease);
    return value;
  }
}

async function attempt(): Promise<{ executionId: string; status: string; code: string | undefined }> {
  const launched = await server.get(Launcher).launch(workspace.principal(), {
    ...{ pipelineId, triggeredVia: 'UI', detached: true },
    parameters: Object.create(null) as JsonObject,
  });
  const { status, failure } = await launched.finished;
  return { executionId: launched.executionId, status, code: failure?.code };
}

/** What holds after a run, however it went. */
async function expectIntact(executionId: string, status: string): Promise<void> {
  const instance = server.get(ExecutionInstance);
  await eventually('everything to be given back', () => instance.runs.size === 0 && instance.staging.active === 0);
  await idle(instance.gate);
  const [row] = await db.database.query<{ status: string; terminal: number }>(
    `SELECT e.status, COUNT(*) FILTER (WHERE v.event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted'))::int AS terminal
       FROM pipeline_executions e LEFT JOIN execution_events v USING (execution_id) WHERE e.execution_id = $1 GROUP BY 1`,
    [executionId],
  );
  expect(row).toEqual({ status, terminal: 1 });
  const [{ n }] = (await pg.query<{ n: number }>('SELECT count(*)::int AS n FROM target')) as [{ n: number }];
  // A write-back is all or nothing.
  expect([0, ROWS]).toContain(n);
  const open = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
  await eventually('no transaction to be left open', async () => (await pg.query(open)).length === 0);
}

describe('the driver of a datasource', () => {
  it('failing any one call fails its node with a catalogued code, keeps a target whole, and leaves nothing behind', async () => {
    const outcomes = new Map<string, Set<string>>();
    const methods = new Set(['none']);
    // The first run, in which nothing fails, tells which methods a run calls at all.
    for (const method of methods) {
      for (let n = 1; ; n++) {
        await pg.execute('TRUNCATE target');
        const fault = new NthCall(method, n);
        const access = server.get(DatasourceAccess);
        const lease = access.lease.bind(access);
        const spy = jest
          .spyOn(access, 'lease')
          .mockImplementation((...args) => fault.wrap('access', { lease }).lease(...args));
        const outcome = await attempt();
        spy.mockRestore();
        await expectIntact(outcome.executionId, outcome.status);
        if (outcome.code !== undefined) expect(catalogueEntry(outcome.code as never)).toBeDefined();
        for (const each of fault.seen) methods.add(each);
        if (fault.failed) outcomes.set(method, (outcomes.get(method) ?? new Set()).add(outcome.code ?? outcome.status));
        if (!fault.failed) {
          expect([method, outcome.status]).toEqual([method, 'SUCCESS']);
          break;
        }
      }
    }
    const told = Object.fromEntries([...outcomes].map(([method, codes]) => [method, [...codes].sort()]));
    expect(told).toMatchObject({
      'access.lease': ['pipeline.node.datasource_connection_failed'],
      'lease.openCursor': ['pipeline.node.query_execution_failed'],
      'cursor.next': ['pipeline.node.query_execution_failed'],
      'lease.execute': ['pipeline.node.query_execution_failed'],
      'lease.beginWrite': ['pipeline.node.writeback_failed'],
      'writer.write': ['pipeline.node.writeback_failed'],
      'writer.commit': ['pipeline.node.writeback_failed'],
      'lease.release': ['SUCCESS'],
      'cursor.close': ['SUCCESS'],
    });
  }, 60_000);
});

describe('the file system', () => {
  it('failing the folder to spill into fails the run before its nodes; failing to remove it is only logged', async () => {
    const { spill } = server.get(ExecutionInstance);
    const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    jest.spyOn(spill, 'prepare').mockImplementationOnce(full);
    const refused = await attempt();
    expect([refused.status, refused.code]).toEqual(['FAILED', 'pipeline.staging.creation_failed']);
    await expectIntact(refused.executionId, 'FAILED');
    jest.spyOn(spill, 'remove').mockImplementationOnce(full);
    const kept = await attempt();
    expect(kept.status).toBe('SUCCESS');
    await expectIntact(kept.executionId, 'SUCCESS');
  });
});

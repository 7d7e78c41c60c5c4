import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { catalogueEntry, isPenstockError } from '#libs/kernel';
import { DatabaseFailure } from '#libs/persistence';
import { MemoryTransientStore, TransientUnavailable, type TransientStore } from '#libs/transient';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTestDatabase,
  idle,
  milestones,
  TestInstance,
  TestWorkspace,
  type TestDatabase,
} from './executions.fixture.js';

let db: TestDatabase;
let workspace: TestWorkspace;

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
}, 60_000);

afterAll(() => db?.drop());

/** Counts the calls of one method of a port; the n-th, and if `lasting` every later call of any, fails. */
class Faults {
  calls = 0;
  failing = false;
  readonly seen = new Set<string>();

  constructor(
    readonly method: string,
    readonly at: number,
    readonly lasting: boolean,
    readonly error: () => Error,
  ) {}

  wrap<T extends object>(port: T, ignored: readonly string[] = []): T {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (ignored.includes(String(name))) return (member as (...a: unknown[]) => unknown).apply(target, args);
          this.seen.add(String(name));
          if (name === this.method && ++this.calls === this.at) this.failing = true;
          if (this.failing && (this.lasting || (name === this.method && this.calls === this.at))) {
            return Promise.reject(this.error());
          }
          return (member as (...a: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  }
}

/** Everything that must hold after a launch, however it went. */
async function expectIntact(server: TestInstance, executionId: string | undefined): Promise<void> {
  const { instance, spillRoot } = server;
  expect(instance.runs.size).toBe(0);
  expect(instance.staging.active).toBe(0);
  await idle(instance.gate);
  for (const folder of readdirSync(spillRoot)) expect(readdirSync(join(spillRoot, folder))).toEqual([]);
  if (executionId === undefined) return;
  const rows = await db.database.query<{ status: string; terminal: number; last: number; n: number }>(
    `SELECT e.status, COUNT(*) FILTER (WHERE v.event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted'))::int AS terminal,
            COALESCE(MAX(v.event_id), 0)::int AS last, COUNT(v.id)::int AS n
       FROM pipeline_executions e LEFT JOIN execution_events v USING (execution_id) WHERE e.execution_id = $1 GROUP BY 1`,
    [executionId],
  );
  expect(rows[0]!.status).not.toBe('RUNNING');
  expect(rows[0]).toMatchObject({ terminal: 1, n: rows[0]!.last });
}

/** One attached, idempotent run with staging and a result; what became of it. */
async function attempt(server: TestInstance, pipeline: string, key: string) {
  const me = workspace.principal();
  try {
    const { executionId, finished, stream } = await server.launch(me, pipeline, {
      idempotencyKey: key,
      detached: false,
    });
    const watch = await server.events.watch(me, executionId, { after: 0, signal: AbortSignal.timeout(10_000) });
    let last: string | undefined;
    for await (const frame of watch.frames) last = frame.type;
    const outcome = await finished;
    await stream?.release();
    const code = outcome.failure?.code;
    return { executionId, status: outcome.status, code, last };
  } catch (error) {
    // The doors make `server.unavailable` of what the database throws.
    const code = error instanceof DatabaseFailure ? 'server.unavailable' : isPenstockError(error) && error.code;
    if (!code) throw error;
    return { executionId: undefined, status: 'REFUSED', code, last: undefined };
  }
}

async function everyCall(lasting: boolean, rows = 3000): Promise<Set<string>> {
  const seen = new Set<string>();
  const pipeline = await workspace.pipeline([
    { id: 'a', sql: `SELECT range AS n FROM range(${rows})`, output: { target: 'tempdb', table: 't' } },
    { id: 'b', sql: 'SELECT * FROM t', after: ['a'] },
  ]);
  const methods = new Set(['none']);
  // The first run, in which nothing fails, tells which methods a run calls at all.
  for (const method of methods) {
    for (let n = 1; ; n++) {
      const faults = new Faults(method, n, lasting, () => new TransientUnavailable());
      const store = faults.wrap<TransientStore>(new MemoryTransientStore({ maxBytes: 1 << 26 }), [
        'subscribe',
        'close',
      ]);
      const server = await TestInstance.start({ database: db.database, store });
      const outcome = await attempt(server, pipeline, 'key');
      await expectIntact(server, outcome.executionId);
      if (outcome.code !== undefined) expect(catalogueEntry(outcome.code)).toBeDefined();
      if (outcome.executionId !== undefined) expect(outcome.last).toMatch(/pipeline_failed|data_ready/);
      await server.stop();
      for (const each of faults.seen) methods.add(each);
      if (method === 'none' || faults.failing) seen.add(`${method}: ${outcome.status} ${outcome.code ?? ''}`.trim());
      if (!faults.failing) break;
    }
  }
  return seen;
}

describe('the transient store', () => {
  it('failing any one call leads to a catalogued outcome, one terminal event, and nothing left behind', async () => {
    const seen = await everyCall(false);
    expect(seen).toContain('none: SUCCESS');
    expect(seen).toContain('acquire: REFUSED rate_limit.unavailable');
    expect(seen).toContain('claim: REFUSED rate_limit.unavailable');
    expect(seen).toContain('markStarted: FAILED pipeline.execution.aborted');
    expect(seen).toContain('putChunk: FAILED result.storage_unavailable');
    expect(seen).toContain('publishResult: FAILED result.storage_unavailable');
    expect(seen).toContain('appendEvents: SUCCESS');
  }, 120_000);

  it('failing any one call of a run with few rows, which are stored by one act, does the same', async () => {
    const seen = await everyCall(false, 3);
    expect(seen).toContain('storeResult: FAILED result.storage_unavailable');
    expect([...seen].filter((each) => /putChunk|publishResult/.test(each))).toEqual([]);
  }, 120_000);

  it('going away for good at any call does the same', async () => {
    const seen = await everyCall(true);
    expect(seen).toContain('none: SUCCESS');
    for (const each of seen)
      expect(each).toMatch(
        /SUCCESS|REFUSED rate_limit|FAILED (result\.storage_unavailable|pipeline\.execution\.aborted)$/,
      );
  }, 120_000);
});

/** A server whose terminal writes go through `through`. */
async function serverWhoseEnds(through: (write: () => Promise<unknown[]>) => Promise<unknown[]>) {
  const control = replacing(db.database.control, 'query', (query) => (sql: string, params?: unknown[]) => {
    const ask = () => query(sql, params);
    return sql.includes('WITH ended AS') ? through(ask) : ask();
  });
  const database = new Proxy(db.database, {
    get: (target, name) => (name === 'control' ? control : bound(target, name)),
  });
  return TestInstance.start({ database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
}

type Query = (sql: string, params?: unknown[]) => Promise<unknown[]>;

function replacing<T extends object>(target: T, member: string, by: (query: Query) => Query): T {
  return new Proxy(target, {
    get: (_, name) => (name === member ? by(bound(target, name) as Query) : bound(target, name)),
  });
}

function bound(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name, target);
  return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
}

/** One run to its end, with its result. */
async function succeeds(server: TestInstance): Promise<string> {
  const me = workspace.principal();
  const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
  const { executionId, finished } = await server.launch(me, pipeline);
  expect(await finished).toMatchObject({ status: 'SUCCESS' });
  expect((await server.results.page(me, executionId, {})).row_count).toBe(1);
  return executionId;
}

describe('the metadata database', () => {
  const lost = () => new DatabaseFailure('gone', 'ECONNRESET', undefined, undefined, '', true);

  it('failing any one call leads to a catalogued outcome, one terminal event, and nothing left behind', async () => {
    const seen = new Set<string>();
    const pipeline = await workspace.pipeline([
      { id: 'a', sql: 'SELECT range AS n FROM range(3000)', output: { target: 'tempdb', table: 't' } },
      { id: 'b', sql: 'SELECT * FROM t', after: ['a'] },
    ]);
    for (const pool of ['requests', 'control']) {
      for (const method of ['query', 'execute', 'transaction']) {
        for (let n = 1; ; n++) {
          const faults = new Faults(method, n, false, lost);
          const control = pool === 'control' ? faults.wrap(db.database.control) : db.database.control;
          const requests = pool === 'requests' ? faults.wrap(db.database, ['control']) : db.database;
          const database = new Proxy(requests, {
            get: (target, name) => (name === 'control' ? control : bound(target, name)),
          });
          const server = await TestInstance.start({ database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
          const outcome = await attempt(server, pipeline, `${pool}-${method}-${n}`);
          await expectIntact(server, outcome.executionId);
          if (outcome.code !== undefined) expect(catalogueEntry(outcome.code)).toBeDefined();
          if (outcome.executionId !== undefined) expect(outcome.last).toMatch(/pipeline_failed|data_ready/);
          await server.stop();
          seen.add(`${pool}.${method} ${faults.failing ? 'failed' : 'intact'}: ${outcome.status}`);
          if (!faults.failing) break;
        }
      }
    }
    for (const pool of ['requests', 'control']) expect(seen).toContain(`${pool}.query intact: SUCCESS`);
    expect([...seen].filter((each) => each.startsWith('requests.query failed'))).not.toEqual([]);
    // Losing its answer once, the end of a run is written again.
    expect(seen).toContain('control.query failed: SUCCESS');
  }, 120_000);

  it('refusing the row refuses the launch, and slot, memory and key are free again', async () => {
    const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
    const refuse = { on: false, with: lost() };
    const database = replacing(
      db.database,
      'query',
      (query) => (sql, params) =>
        refuse.on && sql.includes('INSERT INTO pipeline_executions') ? Promise.reject(refuse.with) : query(sql, params),
    );
    // Room for one: what a refused launch kept would be missing at the next.
    const settings = {
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '1',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '1',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '64',
    };
    const server = await TestInstance.start({ database, store, settings });
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    refuse.on = true;
    const me = workspace.principal();
    for (let n = 0; n < 3; n++) {
      await expect(server.launch(me, pipeline, { idempotencyKey: 'same' })).rejects.toMatchObject({
        code: 'pipeline.execution.aborted',
        details: { reason: 'record_unavailable' },
      });
    }
    // What it launches was purged since it was read: as if it had never been there.
    refuse.with = new DatabaseFailure('violates', '23503', 'fk_pipeline', 'pipeline_executions', '', false);
    await expect(server.launch(me, pipeline, { idempotencyKey: 'same' })).rejects.toMatchObject({
      code: 'pipeline.execution.not_found',
    });
    refuse.on = false;
    const launched = await server.launch(me, pipeline, { idempotencyKey: 'same' });
    expect(await launched.finished).toMatchObject({ status: 'SUCCESS' });
    await expectIntact(server, launched.executionId);
    await server.stop();
  });

  it('letting others go first delays the end of a run and does not lose it', async () => {
    let victims = 0;
    const shown: string[] = [];
    const server: TestInstance = await serverWhoseEnds((write) => {
      if (victims++ > 0) return write();
      const { runs, hub } = server.instance;
      for (const { executionId: id } of runs.all())
        shown.push(
          ...hub
            .local(id)!
            .after(0)
            .map(({ type }) => type),
        );
      return Promise.reject(new DatabaseFailure('deadlock detected', '40P01', undefined, undefined, '', false));
    });
    const executionId = await succeeds(server);
    expect(victims).toBe(2);
    // Nobody is told of an end that is not committed yet.
    expect([shown.at(-1), shown.includes('pipeline_completed')]).toEqual(['node_completed', false]);
    await expectIntact(server, executionId);
    await server.stop();
  });

  it('losing the answer of the terminal commit is not taken for a fence', async () => {
    let losses = 0;
    const server = await serverWhoseEnds(async (write) => {
      const rows = await write();
      if (losses++ === 0) throw lost();
      return rows;
    });
    const executionId = await succeeds(server);
    expect(losses).toBe(2);
    await expectIntact(server, executionId);
    await server.stop();
  });

  it('going away for more than a minute at the end of a run leaves the row to the sweep, and its stream says so', async () => {
    const clock = performance.now.bind(performance);
    let ahead = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => clock() + ahead);
    let attempts = 0;
    const server = await serverWhoseEnds(() => {
      // Not given up before the minute is over, nor tried for ever behind it.
      ahead = [0, 0, 55_000, 55_000, 61_000][++attempts] ?? 0;
      return Promise.reject(lost());
    });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const watch = await server.events.watch(me, executionId, { after: 0, signal: AbortSignal.timeout(20_000) });
    const seen: string[] = [];
    for await (const { type } of watch.frames) seen.push(type);
    expect([watch.remark(), seen.at(-1), attempts]).toEqual(['record-unavailable', 'node_completed', 4]);
    expect(await finished).toMatchObject({ unrecorded: true, failure: { details: { reason: 'record_unavailable' } } });
    jest.restoreAllMocks();
    const statuses = async () =>
      (await db.database.query('SELECT status FROM pipeline_executions WHERE execution_id = $1', [executionId]))[0];
    expect(await statuses()).toEqual({ status: 'RUNNING' });
    expect(await server.results.page(me, executionId, {}).catch((error: unknown) => error)).toMatchObject({
      code: 'result.execution_incomplete',
    });
    await db.database.execute(
      `UPDATE pipeline_executions SET heartbeat_at = NOW() - INTERVAL '1 hour' WHERE execution_id = $1`,
      [executionId],
    );
    server.instance.trust.holds = () => true;
    await server.sweep.run();
    expect(await statuses()).toEqual({ status: 'ABORTED' });
    await expectIntact(server, executionId);
    await server.stop();
  });
});

it('a cancel that comes while the result is published changes nothing any more: all nodes have succeeded', async () => {
  const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
  const server = await TestInstance.start({ database: db.database, store });
  const publish = store.publishResult.bind(store);
  jest.spyOn(store, 'publishResult').mockImplementation((id, ...more) => {
    server.instance.runs.get(id)!.cancel('cancelled');
    return publish(id, ...more);
  });
  const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT range AS n FROM range(3000)' }]);
  const { executionId, finished } = await server.launch(workspace.principal(), pipeline);
  expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 3000 } });
  await expectIntact(server, executionId);
  await server.stop();
});

describe('an idempotency key', () => {
  it.each([
    ['is somebody else’s', () => Promise.resolve(false)],
    ['cannot be looked up', () => Promise.reject(new TransientUnavailable())],
  ])(
    'that %s once the row is there ends the run before any node: two must not run for one key',
    async (_what, answer) => {
      const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
      const server = await TestInstance.start({ database: db.database, store });
      const me = workspace.principal();
      const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
      jest.spyOn(store, 'markStarted').mockImplementationOnce(answer);
      const { executionId, finished } = await server.launch(me, pipeline, { idempotencyKey: 'k' });
      expect(await finished).toMatchObject({
        status: 'FAILED',
        failure: { code: 'pipeline.execution.aborted', details: { reason: 'idempotency_lost' } },
      });
      expect(milestones(await server.frames(me, executionId))).toEqual(['execution_started', 'pipeline_failed']);
      await expectIntact(server, executionId);
      await server.stop();
    },
  );
});

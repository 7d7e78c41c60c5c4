import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { MemoryTransientStore, RedisTransientStore, type TransientStore } from '#libs/transient';
import { setTimeout as delay } from 'node:timers/promises';
import { describeWithProgram } from '../../test/fixtures/programs.js';
import { startRedis, type TestRedis } from '../../test/fixtures/redis.js';
import {
  createTestDatabase,
  milestones,
  TestInstance,
  TestWorkspace,
  type TestDatabase,
} from './executions.fixture.js';
import type { ExecutionRun } from './run/execution-run.js';
import { eventually } from '../../test/fixtures/eventually.js';

const HEAVY = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b';

let db: TestDatabase;
let workspace: TestWorkspace;

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
}, 60_000);

afterAll(() => db?.drop());

const statusOf = async (id: string) =>
  (
    await db.database.query<{ status: string }>('SELECT status FROM pipeline_executions WHERE execution_id = $1', [id])
  )[0]?.status;

/** Waits until the table has events of the run, and the row its progress. */
async function recorded(executionId: string): Promise<void> {
  for (let rows: unknown[] = []; rows.length === 0; await delay(10)) {
    rows = await db.database.query(
      `SELECT 1 FROM pipeline_executions e JOIN execution_events v USING (execution_id)
        WHERE execution_id = $1 AND node_stats_json IS NOT NULL AND event_type = 'node_started'`,
      [executionId],
    );
  }
}

const eventsOf = async (id: string) =>
  (
    await db.database.query<{ type: string }>(
      'SELECT event_type AS type FROM execution_events WHERE execution_id = $1 ORDER BY event_id',
      [id],
    )
  ).map(({ type }) => type);

/** As another instance would, that takes the owner for dead. */
const abort = (id: string) =>
  db.database.execute(
    `UPDATE pipeline_executions SET status = 'ABORTED', completed_at = NOW() WHERE execution_id = $1`,
    [id],
  );

/** Keeps statements of the control connections waiting: those that say so. */
function held(part: string): { asked: (times: number) => Promise<void>; release: () => void } {
  const { control } = db.database;
  const query = control.query.bind(control);
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const spy = jest.spyOn(control, 'query').mockImplementation(async (sql, params) => {
    if (sql.includes(part)) {
      asked++;
      await promise;
    }
    return query(sql, params);
  });
  return {
    asked: async (times) => void (await eventually(`${times} statements that wait`, () => asked >= times)),
    release: () => {
      spy.mockRestore();
      resolve();
    },
  };
}

/** The same behaviour is asked of both stores; `stores` gives two connections to one store. */
function suite(stores: () => Promise<[TransientStore, TransientStore]>): void {
  let one: TestInstance;
  let two: TestInstance;
  let opened: TransientStore[];

  beforeEach(async () => {
    opened = [...new Set(await stores())];
    const [a, b = a] = opened as [TransientStore, TransientStore?];
    const settings = { DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '3' };
    one = await TestInstance.start({ database: db.database, store: a, settings });
    two = await TestInstance.start({ database: db.database, store: b, settings });
  });

  afterEach(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    await Promise.all(opened.map((store) => store.close()));
  });

  it('watches a run of the other instance live, to the end, with the same numbers as at home', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([
      { id: 'a', sql: 'SELECT range AS n FROM range(10)', output: { target: 'tempdb', table: 't' } },
      { id: 'b', sql: 'SELECT * FROM t', after: ['a'] },
    ]);
    const { executionId } = await one.launch(me, pipeline);
    const [home, away] = await Promise.all([one.frames(me, executionId), two.frames(me, executionId)]);
    expect(away.map(({ eventId, type }) => [eventId, type])).toEqual(home.map(({ eventId, type }) => [eventId, type]));
    expect(away.at(-1)!.data).toContain('"rows":[["0"],["1"]');
    expect((await two.results.page(me, executionId, { offset: 8 })).rows.map(({ text }) => text)).toEqual([
      '["8"]',
      '["9"]',
    ]);
  });

  it('cancels a run of the other instance, and the owner hears of it by the nudge', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await one.launch(me, pipeline);
    const watching = two.frames(me, executionId);
    await one.nodeStarts(me, executionId);
    const flag = jest.spyOn(opened.at(-1)!, 'requestCancel');
    await two.service.cancel(me, executionId);
    // It waits for an owner that is slow as long as the run may last.
    expect(flag.mock.calls[0]!.slice(0, 3)).toEqual([executionId, 'cancelled', 600]);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    expect((await watching).at(-1)).toMatchObject({ type: 'execution_aborted' });
  });

  it('says so when the owner is elsewhere and cannot be told, and the run goes on as if nobody had asked', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await one.launch(me, pipeline);
    await one.nodeStarts(me, executionId);
    const deaf = jest.spyOn(opened.at(-1)!, 'requestCancel').mockRejectedValue(new TypeError('the store is away'));
    await expect(two.service.cancel(me, executionId)).rejects.toMatchObject({
      code: 'pipeline.execution.cancel_unavailable',
      status: 503,
    });
    expect(await statusOf(executionId)).toBe('RUNNING');
    // Its own instance needs no store to stop it.
    await one.service.cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    deaf.mockRestore();
  });

  it('counts the slots of a person over both', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const runs = [await one.launch(me, pipeline), await two.launch(me, pipeline), await one.launch(me, pipeline)];
    await expect(two.launch(me, pipeline)).rejects.toMatchObject({ details: { scope: 'per_user', limit: 3 } });
    for (const { executionId } of runs) await two.service.cancel(me, executionId);
    await Promise.all(runs.map(({ finished }) => finished));
    await (
      await two.launch(me, await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]))
    ).finished;
  });

  it('one idempotency key through both starts one run, and the other instance attaches to it', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const key = { idempotencyKey: `both-${pipeline}` };
    const race = await Promise.all([one, two, one, two].map((server) => server.launch(me, pipeline, key)));
    expect(new Set(race.map(({ executionId }) => executionId)).size).toBe(1);
    expect(race.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const { finished } of race) expect(await finished).toMatchObject({ status: 'SUCCESS' });
  });

  it('sweeps what a dead instance left: aborted row, terminal event, watchers that end; the dead one writes nothing', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([
      { id: 'slow', sql: HEAVY },
      { id: 'later', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' }, after: ['slow'] },
    ]);
    const { executionId, finished } = await one.launch(me, pipeline);
    const watching = two.frames(me, executionId);
    await recorded(executionId);
    await db.database.execute(
      `UPDATE pipeline_executions SET heartbeat_at = NOW() - INTERVAL '1 hour' WHERE execution_id = $1`,
      [executionId],
    );
    expect(await two.sweep.run()).toBe(0); // fresh from its boot it judges nobody
    two.instance.trust.holds = () => true;
    expect(await two.sweep.run()).toBe(1);
    expect(await two.sweep.run()).toBe(0);
    const frames = await watching;
    expect(frames.map(({ eventId }) => eventId)).toEqual(frames.map((_, index) => index + 1));
    expect(milestones(frames)).toEqual(['execution_started', 'node_started', 'execution_aborted']);
    expect(readJson(frames.at(-1)!.data) as JsonObject).toMatchObject({ reason: 'instance_lost', status: 'ABORTED' });
    const view = await two.service.read(me, executionId);
    expect(view).toMatchObject({ status: 'ABORTED' });
    expect(view.error!.text).toContain('pipeline.execution.instance_lost');
    const stats = readJson(view.node_stats!.text) as unknown as { node_id: string; status: string }[];
    expect(stats.map(({ node_id, status }) => `${node_id} ${status}`)).toEqual(['slow ABORTED']);

    // The owner comes back to life: it learns that it was fenced, stops, and leaves the row as the sweep wrote it.
    await one.instance.ownership.beat();
    expect(await finished).toMatchObject({ status: 'ABORTED', failure: { details: { reason: 'fenced' } } });
    expect((await two.service.read(me, executionId)).error!.text).toBe(view.error!.text);
    const [row] = await db.database.query<{ n: number }>(
      'SELECT COUNT(*)::int AS n FROM execution_events WHERE execution_id = $1',
      [executionId],
    );
    expect(row).toEqual({ n: frames.length });
    expect(one.instance.staging.active).toBe(0);
  });

  it('sweeps a whole family with its lost root, and the owner that wakes up writes nothing for any of them', async () => {
    const me = workspace.principal();
    const child = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await workspace.pipeline([{ id: 'call', child }]);
    const { executionId, finished } = await one.launch(me, parent);
    const family = () =>
      db.database.query<{ execution_id: string; status: string; code: string | null }>(
        `SELECT execution_id, status, error_json->>'code' AS code FROM pipeline_executions
          WHERE root_execution_id = $1 ORDER BY started_at`,
        [executionId],
      );
    await eventually('the child, told by its parent’s row', async () => {
      const told = await db.database.query(
        `SELECT FROM pipeline_executions p JOIN pipeline_executions c ON c.parent_execution_id = p.execution_id
          WHERE p.execution_id = $1 AND p.node_stats_json->0->>'child_execution_id' = c.execution_id::text
            AND c.node_stats_json->0->>'status' = 'RUNNING'`,
        [executionId],
      );
      return told.length === 1;
    });
    // The child began just before its instance died: its own beat is still young.
    await db.database.execute(
      `UPDATE pipeline_executions SET heartbeat_at = NOW() - INTERVAL '1 hour' WHERE execution_id = $1`,
      [executionId],
    );
    two.instance.trust.holds = () => true;
    expect(await two.sweep.run()).toBe(2);
    const lost = { status: 'ABORTED', code: 'pipeline.execution.instance_lost' };
    expect(await family()).toMatchObject([lost, lost]);
    await one.instance.ownership.beat();
    expect(await finished).toMatchObject({ status: 'ABORTED', failure: { details: { reason: 'fenced' } } });
    await eventually('the owner to let go of both', () => one.instance.runs.size === 0);
    expect(await family()).toMatchObject([lost, lost]);
    for (const { execution_id } of await family()) {
      const [row] = await db.database.query<{ n: number }>(
        `SELECT COUNT(*)::int AS n FROM execution_events WHERE execution_id = $1 AND event_type = 'execution_aborted'`,
        [execution_id],
      );
      expect(row).toEqual({ n: 1 });
    }
  });

  it('cancels a family whose root runs on the other instance', async () => {
    const me = workspace.principal();
    const child = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await workspace.pipeline([{ id: 'call', child }]);
    const { executionId, finished } = await one.launch(me, parent);
    const statuses = async () =>
      (
        await db.database.query<{ status: string }>(
          'SELECT status FROM pipeline_executions WHERE root_execution_id = $1',
          [executionId],
        )
      ).map(({ status }) => status);
    await eventually('the child', async () => (await statuses()).length === 2);
    await two.service.cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    expect(await statuses()).toEqual(['ABORTED', 'ABORTED']);
  });

  it('after a stall starts no node before its ownership is confirmed, and none when it is lost', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([
      { id: 'a', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' } },
      { id: 'b', sql: 'SELECT a FROM t', after: ['a'] },
    ]);
    const beats = held('UPDATE pipeline_executions x SET heartbeat_at');
    const stalled = async () => {
      const launched = await one.launch(me, pipeline);
      const { state } = one.instance.runs.get(launched.executionId) as ExecutionRun;
      state.lastBeat = -Infinity;
      return { ...launched, finished: launched.finished, stats: state.stats };
    };
    const [kept, lost] = [await stalled(), await stalled()];
    await beats.asked(2);
    expect([kept, lost].map(({ stats }) => stats.snapshot())).toEqual([[], []]);
    await abort(lost.executionId);
    beats.release();
    expect(await lost.finished).toMatchObject({ failure: { details: { reason: 'fenced' } } });
    expect(lost.stats.snapshot()).toEqual([]);
    expect(await kept.finished).toMatchObject({ status: 'SUCCESS' });
  });

  it('a fenced owner that finishes by itself discards its result and writes no event', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT range AS n FROM range(3000)' }]);
    const ends = held('WITH ended AS');
    const { executionId, finished } = await one.launch(me, pipeline);
    await ends.asked(1);
    // All is done and stored: only the row is somebody else's by now.
    expect(await opened[0]!.countChunks(executionId)).toBe(3);
    await one.instance.flush();
    const told = await eventsOf(executionId);
    await abort(executionId);
    const warn = jest.spyOn(one.instance.logger, 'warn');
    ends.release();
    expect(await finished).toMatchObject({ failure: { details: { reason: 'fenced' } } });
    expect(warn).toHaveBeenCalledWith('execution.fenced', expect.objectContaining({ execution_id: executionId }));
    expect(await statusOf(executionId)).toBe('ABORTED');
    expect(await eventsOf(executionId)).toEqual(told);
    expect(told.at(-1)).toBe('node_completed');
    expect(await opened[0]!.resultMeta(executionId)).toBeUndefined();
    expect(await opened[0]!.countChunks(executionId)).toBe(0);
  });

  it('a purge ends a running execution, removes its record, and its watchers end', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }], { draft: true });
    const { executionId, finished } = await one.launch(me, pipeline);
    const watching = one.frames(me, executionId);
    await one.nodeStarts(me, executionId);
    expect(await db.database.transaction((tx) => two.purge.purge(tx, pipeline, 1))).toBe(1);
    expect(await finished).toMatchObject({ status: 'ABORTED' });
    expect((await watching).every(({ type }) => type !== 'pipeline_completed')).toBe(true);
    expect(await statusOf(executionId)).toBeUndefined();
    await expect(one.service.read(me, executionId)).rejects.toMatchObject({ code: 'result.execution_not_found' });
  });
}

describe('two instances on one memory store', () => {
  suite(() => {
    const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
    return Promise.resolve([store, store]);
  });
});

describeWithProgram('redis-server', 'two instances on one Redis', (program) => {
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await startRedis(program);
  }, 30_000);

  afterAll(() => redis?.stop());

  const open = () => RedisTransientStore.open({ url: redis.url, onProblem: () => undefined });

  suite(async () => {
    await redis.client.flushall();
    return Promise.all([open(), open()]);
  });

  it('saves an attached run whose stream moved to the other instance', async () => {
    const [first, second] = await Promise.all([open(), open()]);
    const me = workspace.principal();
    const settings = {
      DATAPIPELINES_SSE_DISCONNECT_GRACE_SECONDS: '1',
      DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1',
    };
    const owner = await TestInstance.start({ database: db.database, store: first, settings });
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await owner.launch(me, pipeline, { detached: false });
    const watching = new AbortController();
    const mover = await TestInstance.start({ database: db.database, store: second, settings });
    await mover.events.watch(me, executionId, { after: 0, signal: watching.signal });
    await delay(1300);
    expect(owner.instance.runs.get(executionId)).toBeDefined();
    watching.abort();
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'client_disconnect' });
    await Promise.all([owner.stop(), mover.stop()]);
    await Promise.all([first.close(), second.close()]);
  });

  it('leaves no key without an expiry', async () => {
    const store = await open();
    const server = await TestInstance.start({ database: db.database, store });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    for (let n = 0; n < 3; n++) await (await server.launch(me, pipeline, { idempotencyKey: `k${n}` })).finished;
    await server.instance.flush();
    const lasting = [];
    // -2 is one that went between the two questions.
    for (const key of await redis.client.keys('*')) if ((await redis.client.ttl(key)) === -1) lasting.push(key);
    expect(lasting).toEqual([]);
    await server.stop();
    await store.close();
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryTransientStore, TransientUnavailable, type TransientStore } from '#libs/transient';
import {
  createTestDatabase,
  HEAVY,
  milestones,
  TestInstance,
  TestWorkspace,
  type TestDatabase,
} from './executions.fixture.js';

/** Long enough to take the store away behind the launch, and no longer. */
const SOME_TIME = 'SELECT count(*) AS n FROM range(100000000) WHERE hash(range) % 2 = 0';

let db: TestDatabase;
let workspace: TestWorkspace;
let pipeline: string;
let slow: string;
let heavy: string;
let many: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
  pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 42 AS n' }]);
  slow = await workspace.pipeline([{ id: 'a', sql: SOME_TIME }]);
  many = await workspace.pipeline([{ id: 'a', sql: 'SELECT range AS n FROM range(3000)' }]);
  heavy = await workspace.pipeline([{ id: 'a', sql: HEAVY }]);
}, 60_000);

afterAll(() => db?.drop());

/** A store that can be away, as a whole or for some of its calls. */
class FailingStore {
  away: 'all' | readonly (keyof TransientStore)[] = [];
  readonly store: TransientStore;

  constructor() {
    const memory = new MemoryTransientStore({ maxBytes: 1 << 26 });
    this.store = new Proxy<TransientStore>(memory, {
      get: (_, name) => {
        const member: unknown = Reflect.get(memory, name, memory);
        if (typeof member !== 'function') return member;
        const kept = name === 'subscribe' || name === 'close';
        return (...args: unknown[]) => {
          const fails = this.away === 'all' ? !kept : this.away.includes(name as keyof TransientStore);
          return fails ? Promise.reject(new TransientUnavailable()) : (member.apply(memory, args) as unknown);
        };
      },
    });
  }
}

/** Contract 02 §8, last table: one test for each of its lines. */
describe('while the transient store is down during', () => {
  let failing: FailingStore;
  let one: TestInstance;
  let other: TestInstance;
  const me = () => workspace.principal();

  beforeEach(async () => {
    failing = new FailingStore();
    const parts = { database: db.database, store: failing.store };
    [one, other] = await Promise.all([TestInstance.start(parts), TestInstance.start(parts)]);
  });

  afterEach(async () => {
    failing.away = [];
    await Promise.all([one, other].map((server) => server.stop()));
  });

  const rows = async () => (await db.database.query('SELECT 1 FROM pipeline_executions')).length;
  const rowOf = async (executionId: string) =>
    (
      await db.database.query<{ status: string; failed_node_id: string | null }>(
        'SELECT status, failed_node_id FROM pipeline_executions WHERE execution_id = $1',
        [executionId],
      )
    )[0];
  const refused = { code: 'rate_limit.unavailable', status: 429 };

  it('“slots”: the launch is refused and leaves no row', async () => {
    const before = await rows();
    failing.away = 'all';
    await expect(one.launch(me(), pipeline)).rejects.toMatchObject(refused);
    expect(await rows()).toBe(before);
  });

  it('“stream lease”: an attached launch and a watcher are refused', async () => {
    failing.away = 'all';
    await expect(one.launch(me(), pipeline, { detached: false })).rejects.toMatchObject(refused);
    await expect(one.events.stream(me())).rejects.toMatchObject(refused);
  });

  it('“claim”: a launch with a key is refused; with the store back the same key starts one run', async () => {
    failing.away = ['claim'];
    await expect(one.launch(me(), pipeline, { idempotencyKey: 'line' })).rejects.toMatchObject(refused);
    failing.away = [];
    const launched = await one.launch(me(), pipeline, { idempotencyKey: 'line' });
    expect(launched.replayed).toBe(false);
    expect(await launched.finished).toMatchObject({ status: 'SUCCESS' });
  });

  it('“result write”: the execution fails result.storage_unavailable at its caller node', async () => {
    const { executionId, finished } = await one.launch(me(), slow);
    await one.nodeStarts(me(), executionId);
    failing.away = 'all';
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'result.storage_unavailable', node: { id: 'a' } },
    });
  });

  it('“result re-read”: the execution fails on the caller node, which had completed: there is no node_failed', async () => {
    failing.away = ['publishResult'];
    const { executionId, finished } = await one.launch(me(), many);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'result.storage_unavailable' } });
    expect(milestones(await one.frames(me(), executionId))).toEqual([
      ...['execution_started', 'node_started', 'node_completed', 'pipeline_failed'],
    ]);
    expect(await rowOf(executionId)).toEqual({ status: 'FAILED', failed_node_id: 'a' });
  });

  it('“event append”: the run goes on, live streams and the table have every event', async () => {
    failing.away = ['appendEvents'];
    const { executionId, finished } = await one.launch(me(), pipeline);
    const live = await one.frames(me(), executionId);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(live.map(({ eventId }) => eventId)).toEqual(live.map((_, index) => index + 1));
    expect(live.at(-1)!.type).toBe('data_ready');
    const again = await other.frames(me(), executionId);
    expect(again.map(({ eventId, type }) => [eventId, type])).toEqual(live.map(({ eventId, type }) => [eventId, type]));
  });

  it('“cancel of a local run”: it works', async () => {
    const { executionId, finished } = await one.launch(me(), heavy);
    await one.nodeStarts(me(), executionId);
    failing.away = 'all';
    await one.service.cancel(me(), executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
  });

  it('“cancel of a remote run”: 503 pipeline.execution.cancel_unavailable, and the run goes on', async () => {
    const { executionId, finished } = await one.launch(me(), heavy);
    await one.nodeStarts(me(), executionId);
    failing.away = 'all';
    await expect(other.service.cancel(me(), executionId)).rejects.toMatchObject({
      code: 'pipeline.execution.cancel_unavailable',
      status: 503,
    });
    expect(await rowOf(executionId)).toMatchObject({ status: 'RUNNING' });
    failing.away = [];
    await other.service.cancel(me(), executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED' });
  });

  it('“result read”: 500 result.storage_unavailable, and the rows are there again with the store', async () => {
    const { executionId, finished } = await one.launch(me(), pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    failing.away = 'all';
    await expect(one.results.page(me(), executionId, {})).rejects.toMatchObject({
      code: 'result.storage_unavailable',
      status: 500,
    });
    failing.away = [];
    expect((await one.results.page(me(), executionId, {})).row_count).toBe(1);
  });

  it('“replay read”: it comes from the table, complete', async () => {
    const { executionId, finished } = await one.launch(me(), pipeline);
    const live = await one.frames(me(), executionId);
    await finished;
    failing.away = 'all';
    const replayed = await other.frames(me(), executionId);
    expect(replayed.map(({ eventId, type }) => [eventId, type])).toEqual(
      live.map(({ eventId, type }) => [eventId, type]),
    );
    expect(replayed.at(-1)!.data).toContain('"rows_omitted":true');
  });
});

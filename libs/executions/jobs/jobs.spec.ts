import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newId } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { eventually } from '../../../test/fixtures/eventually.js';
import type { EventRecord } from '../events/event-record.js';
import { createTestDatabase, HEAVY, TestInstance, TestWorkspace, type TestDatabase } from '../executions.fixture.js';
import type { HostedRun } from '../host/hosted-run.js';
import { EventTable } from '../records/event-table.js';
import { MetadataTrust } from '../records/metadata-trust.js';
import type { TerminalOutcome } from '../run/run-ending.js';

let db: TestDatabase;
let workspace: TestWorkspace;
let server: TestInstance;

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
  server = await TestInstance.start({ database: db.database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
}, 60_000);

afterAll(async () => {
  await server?.stop();
  await db?.drop();
});

async function ended(pipeline: string): Promise<string> {
  const { executionId, finished } = await server.launch(workspace.principal(), pipeline);
  await finished;
  return executionId;
}

const countOf = async (table: string, where = 'TRUE', params: unknown[] = []) =>
  (await db.database.query<{ n: number }>(`SELECT COUNT(*)::int AS n FROM ${table} WHERE ${where}`, params))[0]!.n;

describe('retention', () => {
  it('deletes events of long ended runs only, and never a run', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const old = await ended(pipeline);
    const young = await ended(pipeline);
    await db.database.execute(
      `UPDATE pipeline_executions SET completed_at = NOW() - INTERVAL '8 days' WHERE execution_id = $1`,
      [old],
    );
    const events = await countOf('execution_events', 'execution_id = $1', [young]);
    expect(events).toBeGreaterThan(4);
    expect(await server.retention.events()).toBe(events);
    expect(await countOf('execution_events', 'execution_id = $1', [young])).toBe(events);
    expect(await countOf('pipeline_executions', 'execution_id = $1', [old])).toBe(1);
    expect(await server.retention.events()).toBe(0);
  });

  it('goes up the key slice by slice', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const old = await ended(pipeline);
    await db.database.execute(
      `INSERT INTO execution_events (execution_id, event_id, event_type, payload_json)
       SELECT $1, g, 'node_started', '{}' FROM generate_series(1, 25000) g
       ON CONFLICT DO NOTHING`,
      [old],
    );
    await db.database.execute(
      `UPDATE pipeline_executions SET completed_at = NOW() - INTERVAL '8 days' WHERE execution_id = $1`,
      [old],
    );
    // Younger events before them do not end the walk early: their slice also holds due ones.
    expect(await server.retention.events()).toBe(25000);
  });

  it('deletes rows of the trail by age, and leaves an instance that finds the lock taken', async () => {
    await db.database.execute(
      `INSERT INTO audit_log (event, timestamp, details_json) VALUES ('x', NOW() - INTERVAL '366 days', '{}'), ('x', NOW(), '{}')`,
    );
    await db.database.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [0x70656e02]);
      expect(await server.retention.audit()).toBe(0);
    });
    expect(await server.retention.audit()).toBe(1);
    expect(await countOf('audit_log', `event = 'x'`)).toBe(1);
  });
});

describe('the timers of an instance', () => {
  const HOURLY_MS = 3_000_000;

  /** What is due in the tables, after every job that the instance has set for an hour from now had its turn. */
  async function dueAfterAnHour(enabled: boolean): Promise<unknown> {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const old = await ended(pipeline);
    await db.database.execute(
      `UPDATE pipeline_executions SET completed_at = NOW() - INTERVAL '8 days' WHERE execution_id = $1`,
      [old],
    );
    await db.database.execute(
      `INSERT INTO audit_log (event, timestamp, details_json) VALUES ('due', NOW() - INTERVAL '366 days', '{}')`,
    );
    const timed = await TestInstance.start({
      database: db.database,
      store: new MemoryTransientStore({ maxBytes: 1 << 26 }),
      settings: { DATAPIPELINES_JOBS_ENABLED: String(enabled) },
    });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    try {
      await timed.jobs.start({ alone: false });
      const hourly = timers.mock.calls.filter(([, waitMs]) => Number(waitMs) > HOURLY_MS);
      for (const [work] of hourly) work();
      await timed.drain.begin({ hurry: true });
      await timed.jobs.stop();
      return {
        hourly: hourly.length,
        events: (await countOf('execution_events', 'execution_id = $1', [old])) > 0,
        audit: (await countOf('audit_log', `event = 'due'`)) > 0,
      };
    } finally {
      timers.mockRestore();
      await timed.stop();
    }
  }

  it('delete what is kept long enough; with the jobs turned off it stays', async () => {
    expect(await dueAfterAnHour(false)).toEqual({ hourly: 1, events: true, audit: true });
    expect(await dueAfterAnHour(true)).toEqual({ hourly: 3, events: false, audit: false });
  });
});

describe('the trust in heartbeats of others', () => {
  it('comes with quiet: after the boot, and after any statement the database did not answer', () => {
    let now = 0;
    const trust = new MetadataTrust(45_000, () => now);
    const at = (ms: number): boolean => {
      now = ms;
      return trust.holds();
    };
    expect([at(0), at(44_999), at(45_000)]).toEqual([false, false, true]);
    trust.failed();
    expect([at(89_999), at(90_000)]).toEqual([false, true]);
  });

  it('is lost by a heartbeat, an event or a job that fails: an outage must not reap live runs', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: HEAVY }]);
    const trusted = await TestInstance.start({
      database: db.database,
      store: new MemoryTransientStore({ maxBytes: 1 << 26 }),
    });
    const failed = jest.spyOn(trusted.instance.trust, 'failed');
    const { executionId, finished } = await trusted.launch(workspace.principal(), pipeline);
    const away = jest.spyOn(db.database.control, 'query').mockRejectedValue(new Error('away'));
    await trusted.instance.ownership.beat();
    expect(failed).toHaveBeenCalledTimes(1);
    away.mockRestore();
    const full = jest.spyOn(db.database, 'execute').mockRejectedValue(new Error('away'));
    await eventually('events that the table did not take', () => failed.mock.calls.length > 1);
    full.mockRestore();
    trusted.instance.runs.get(executionId)!.cancel('cancelled');
    await finished;
    await trusted.stop();
  });
});

describe('an instance without runs of its own that meets an outage', () => {
  const start = () =>
    TestInstance.start({ database: db.database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
  const away = () => jest.spyOn(db.database.control, 'query').mockRejectedValue(new Error('away'));
  let clock: jest.SpiedFunction<typeof performance.now>;
  let idle: TestInstance;

  beforeEach(async () => {
    idle = await start();
    // Long past the quiet of its boot.
    const now = performance.now.bind(performance);
    clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    expect(idle.instance.trust.holds()).toBe(true);
  });

  afterEach(async () => {
    clock.mockRestore();
    await idle.stop();
  });

  it('noticed it at its own beats, so its next sweep leaves the run that nobody could stamp meanwhile', async () => {
    const me = workspace.principal();
    const owner = await start();
    const { executionId, finished } = await owner.launch(me, await workspace.pipeline([{ id: 'long', sql: HEAVY }]));
    await owner.nodeStarts(me, executionId);
    const outage = away();
    await Promise.all([owner.instance.ownership.beat(), idle.jobs.heartbeat()]);
    outage.mockRestore();
    // The database is back, and the owner has not beaten again yet.
    await db.database.execute(
      `UPDATE pipeline_executions SET heartbeat_at = NOW() - INTERVAL '50 seconds' WHERE execution_id = $1`,
      [executionId],
    );
    expect(await idle.jobs.sweep()).toBe(0);
    expect(await countOf('pipeline_executions', `execution_id = $1 AND status = 'RUNNING'`, [executionId])).toBe(1);
    owner.instance.runs.get(executionId)!.cancel('cancelled');
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    await owner.stop();
  });

  it('notices it also while its runs work in threads, whose beats fail in there unheard', async () => {
    const ended = Promise.withResolvers<TerminalOutcome>();
    const hosted = { executionId: newId(), attached: false, run: () => ended.promise, cancel: () => undefined };
    const finished = idle.instance.begin(hosted as unknown as HostedRun, undefined);
    const outage = away();
    await idle.jobs.heartbeat();
    outage.mockRestore();
    expect(idle.instance.trust.holds()).toBe(false);
    ended.resolve({ status: 'SUCCESS' } as TerminalOutcome);
    await finished;
  });

  it('keeps its trust as long as the database answers that there is nothing to stamp', async () => {
    await idle.jobs.heartbeat();
    expect(idle.instance.trust.holds()).toBe(true);
  });
});

describe('the sweep', () => {
  it('judges stamped rows by the stamp and unstamped ones by their age', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const row = (heartbeat: string, started: string) =>
      db.database.query<{ execution_id: string }>(
        `WITH id AS (SELECT gen_random_uuid() AS id)
         INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via,
                root_execution_id, heartbeat_at, started_at)
         SELECT id, $1, 1, 'RUNNING', $2, 'REST', id, ${heartbeat}, ${started} FROM id RETURNING execution_id`,
        [pipeline, workspace.userId],
      );
    await row('NOW()', `NOW() - INTERVAL '3 hours'`);
    await row('NULL', `NOW() - INTERVAL '59 minutes'`);
    const stale = await row(`NOW() - INTERVAL '46 seconds'`, 'NOW()');
    const old = await row('NULL', `NOW() - INTERVAL '61 minutes'`);
    server.instance.trust.holds = () => true;
    expect(await server.sweep.run()).toBe(2);
    for (const [swept] of [stale, old]) {
      const id = swept!.execution_id;
      expect(await countOf('pipeline_executions', `execution_id = $1 AND status = 'ABORTED'`, [id])).toBe(1);
      expect((await server.frames(workspace.principal(), id)).map(({ type }) => type)).toEqual(['execution_aborted']);
    }
  });

  it('copies the events that only the transient log still has before it adds the end behind them', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const [run] = await db.database.query<{ id: string }>(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via,
              root_execution_id, heartbeat_at, started_at)
       SELECT id, $1, 1, 'RUNNING', $2, 'REST', id, NOW() - INTERVAL '1 hour', NOW() - INTERVAL '1 hour'
         FROM (SELECT gen_random_uuid() AS id) AS one RETURNING execution_id AS id`,
      [pipeline, workspace.userId],
    );
    const { id } = run!;
    const store = new MemoryTransientStore({ maxBytes: 1 << 20 });
    const sweeper = await TestInstance.start({ database: db.database, store });
    const logged = (eventId: number, type: EventRecord['type']) => ({
      ...{ eventId, type, timestamp: `2026-01-01T00:00:0${eventId}.000Z` },
      payload: `{"node_id":"n${eventId}"}`,
    });
    const events = [logged(1, 'execution_started'), logged(2, 'node_started'), logged(3, 'node_completed')];
    await store.appendEvents([{ executionId: id, events, ttlSeconds: 60, sealed: false }]);
    // The owner died before its second batch reached the table.
    const { payload: data, ...first } = events[0]!;
    await new EventTable(db.database).insert([[id, { ...first, data }]]);
    sweeper.instance.trust.holds = () => true;
    expect(await sweeper.sweep.run()).toBe(1);
    const kept = await new EventTable(db.database).read(id, 0, 10);
    expect(kept.slice(0, 3)).toEqual(events.map(({ payload, ...event }) => ({ ...event, data: payload })));
    expect(kept.slice(3)).toMatchObject([{ eventId: 4, type: 'execution_aborted' }]);
    await sweeper.stop();
  });

  it('lets no late batch of events in behind the end it wrote, also when the two overlap', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const [run] = await db.database.query<{ id: string }>(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via,
              root_execution_id, started_at)
       SELECT id, $1, 1, 'RUNNING', $2, 'REST', id, NOW() FROM (SELECT gen_random_uuid() AS id) AS one
       RETURNING execution_id AS id`,
      [pipeline, workspace.userId],
    );
    const { id } = run!;
    const late: EventRecord = { eventId: 7, type: 'node_started', timestamp: '2026-01-01T00:00:00.000Z', data: '{}' };
    let batch: Promise<unknown> | undefined;
    await db.database.transaction(async (tx) => {
      await tx.execute(
        `UPDATE pipeline_executions SET status = 'ABORTED', completed_at = NOW() WHERE execution_id = $1`,
        [id],
      );
      let over = false;
      batch = new EventTable(db.database).insert([[id, late]]).finally(() => (over = true));
      const waiting = `wait_event_type = 'Lock' AND query LIKE '%execution_events%' AND datname = current_database()`;
      await eventually('the batch', async () => over || (await countOf('pg_stat_activity', waiting)) > 0);
    });
    await batch;
    expect(await countOf('execution_events', 'execution_id = $1', [id])).toBe(0);
  });

  it('ends every open run at once when the process is known to be alone, young or old, stamped or not', async () => {
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const done = await ended(pipeline);
    await countOf('pipeline_executions');
    await db.database.query(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via,
              root_execution_id, heartbeat_at, started_at)
       SELECT id, $1, 1, 'RUNNING', $2, 'REST', id, CASE n WHEN 1 THEN NOW() END, NOW()
         FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, 2) n) AS rows`,
      [pipeline, workspace.userId],
    );
    const open = await countOf('pipeline_executions', `status = 'RUNNING'`);
    expect(open).toBeGreaterThanOrEqual(2);
    expect(await server.sweep.runAlone()).toBe(open);
    expect(await countOf('pipeline_executions', `status = 'RUNNING'`)).toBe(0);
    expect(await countOf('pipeline_executions', `execution_id = $1 AND status = 'SUCCESS'`, [done])).toBe(1);
  });
});

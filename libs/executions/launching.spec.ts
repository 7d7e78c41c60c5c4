import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ExecutionsBench, HEAVY, leftovers, NOTHING_LEFT, TestInstance, TestWorkspace } from './executions.fixture.js';

let bench: ExecutionsBench;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

describe('launching', () => {
  it('refuses in the order of the contract and leaves no trace', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const counted = () => bench.db.database.query<{ n: number }>('SELECT COUNT(*)::int AS n FROM pipeline_executions');
    const [before] = await counted();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT :n AS n' }], {
      parameters: { n: { type: 'INTEGER', required: true }, m: { type: 'INTEGER', required: true } },
    });
    await expect(server.launch(me, 'nope')).rejects.toMatchObject({ code: 'pipeline.execution.not_found' });
    await expect(server.launch(me, pipeline, { version: 7 })).rejects.toMatchObject({
      code: 'pipeline.execution.not_found',
    });
    const foreigner = (await TestWorkspace.create(bench.db.database)).principal();
    await expect(server.launch(foreigner, pipeline)).rejects.toMatchObject({ code: 'pipeline.execution.not_found' });
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({
      code: 'pipeline.execution.parameter_required',
      details: { failures: [expect.anything(), expect.anything()] },
    });
    const cyclic = await bench.workspace.pipeline([
      { id: 'a', sql: 'SELECT 1', after: ['b'] },
      { id: 'b', sql: 'SELECT 1', after: ['a'], output: { target: 'tempdb', table: 't' } },
    ]);
    await expect(server.launch(me, cyclic)).rejects.toMatchObject({ details: { reason: 'invalid_graph' } });
    server.instance.refuseLaunches();
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({ code: 'server.draining', status: 503 });
    expect((await counted())[0]).toEqual(before);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('counts slots per person and per instance, and gives every one back', async () => {
    const server = await bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '2',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '3',
    });
    const me = bench.workspace.principal();
    const other = bench.workspace.principal({ userId: (await TestWorkspace.create(bench.db.database)).userId });
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }], {
      parameters: { n: { type: 'DECIMAL', precision: 15, required: false, default: 0 } },
    });
    const parameters = readJson('{"n": 1.10}') as JsonObject;
    const mine = [
      await server.launch(me, pipeline, { parameters, triggeredVia: 'REST' }),
      await server.launch(me, pipeline),
    ];
    const [row] = await bench.db.database.query(
      `SELECT parameters_json, triggered_via, heartbeat_at = started_at AS beats FROM pipeline_executions
        WHERE execution_id = $1`,
      [mine[0]!.executionId],
    );
    expect(row).toEqual({ parameters_json: '{"n": 1.10}', triggered_via: 'REST', beats: true });
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({
      code: 'pipeline.execution.concurrency_limit',
      details: { scope: 'per_user', limit: 2 },
    });
    mine.push(await server.launch(other, pipeline));
    await expect(server.launch(other, pipeline)).rejects.toMatchObject({ details: { scope: 'global', limit: 3 } });
    for (const { executionId } of mine) server.instance.runs.get(executionId)!.cancel('cancelled');
    await Promise.all(mine.map(({ finished }) => finished));
    const again = await Promise.all([server.launch(me, pipeline), server.launch(me, pipeline)]);
    for (const { executionId } of again) server.instance.runs.get(executionId)!.cancel('cancelled');
    await Promise.all(again.map(({ finished }) => finished));
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('takes stream, key, slot, place and memory in this order, and what is refused holds nothing', async () => {
    const server = await bench.serverWith({
      DATAPIPELINES_SSE_MAX_STREAMS_PER_USER: '1',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '1',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '1',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '64',
    });
    const { leases, staging } = server.instance;
    const me = bench.workspace.principal();
    const staged = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const days = {
      kind: 'date_diff',
      inputs: { from: '2026-01-01', to: '2026-01-03', unit: 'day' },
      context_key: 'days',
    };
    const computed = await bench.workspace.pipeline([{ id: 'a', calculator: days }]);
    await (
      await server.launch(me, staged, { idempotencyKey: 'used' })
    ).finished;

    const stream = await leases.stream(me.userId, 'a stream');
    const slot = await leases.slot(me.userId, crypto.randomUUID());
    const full = { code: 'rate_limit.exceeded', details: { window: 'concurrent_streams' } };
    await expect(server.launch(me, staged, { detached: false })).rejects.toMatchObject(full);
    const reused = { detached: false, idempotencyKey: 'used' };
    await expect(server.launch(me, computed, reused)).rejects.toMatchObject(full);
    await stream.release();
    await expect(server.launch(me, computed, reused)).rejects.toMatchObject({
      code: 'idempotency.key_reused_for_different_request',
    });
    await expect(server.launch(me, staged, { detached: false })).rejects.toMatchObject({
      code: 'pipeline.execution.concurrency_limit',
      details: { scope: 'per_user' },
    });
    await slot.release();

    const memory = staging.reserve()!;
    await expect(server.launch(me, staged)).rejects.toMatchObject({
      code: 'pipeline.execution.concurrency_limit',
      details: { scope: 'global', reason: 'staging_memory' },
    });
    // Who needs no engine needs no memory; and it takes the place and the slot that the refused launch had.
    expect(await (await server.launch(me, computed)).finished).toMatchObject({ status: 'SUCCESS' });
    memory.release();
    expect(await (await server.launch(me, staged)).finished).toMatchObject({ status: 'SUCCESS' });
  });

  it('one idempotency key through many racing requests starts one run; another request with it is refused', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT :n AS n' }], {
      parameters: { n: { type: 'DECIMAL', precision: 15, required: true } },
    });
    const parameters = readJson('{"n": 1.0}') as JsonObject;
    const race = await Promise.all(
      Array.from({ length: 8 }, () => server.launch(me, pipeline, { idempotencyKey: 'k', parameters })),
    );
    expect(new Set(race.map(({ executionId }) => executionId)).size).toBe(1);
    expect(race.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const outcome of await Promise.all(race.map(({ finished }) => finished)))
      expect(outcome.status).toBe('SUCCESS');
    const late = await server.launch(me, pipeline, { idempotencyKey: 'k', parameters });
    expect(late).toMatchObject({ replayed: true, executionId: race[0]!.executionId });
    expect(await late.finished).toMatchObject({ status: 'SUCCESS' });
    const other = readJson('{"n": 1.00}') as JsonObject;
    await expect(server.launch(me, pipeline, { idempotencyKey: 'k', parameters: other })).rejects.toMatchObject({
      code: 'idempotency.key_reused_for_different_request',
    });
    await expect(server.launch(me, pipeline, { idempotencyKey: 'ä', parameters })).rejects.toMatchObject({
      details: { field: 'Idempotency-Key' },
    });
    const [{ n }] = (await bench.db.database.query<{ n: number }>(
      'SELECT COUNT(*)::int AS n FROM pipeline_executions WHERE pipeline_id = $1',
      [pipeline],
    )) as [{ n: number }];
    expect(n).toBe(1);
  });

  it('many at once share statements and each gets its own row and end', async () => {
    const server = await bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '50',
      DATAPIPELINES_STAGING_MAX_MEMORY_MB: '64',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '4096',
    });
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const launched = await Promise.all(Array.from({ length: 40 }, () => server.launch(me, pipeline)));
    const outcomes = await Promise.all(launched.map(({ finished }) => finished));
    expect(outcomes.map(({ status }) => status)).toEqual(launched.map(() => 'SUCCESS'));
    for (const { executionId } of launched) {
      const [events] = await bench.db.database.query<{ types: string[]; gapless: boolean }>(
        `SELECT array_agg(event_type ORDER BY event_id) FILTER (WHERE event_type <> 'node_progress') AS types,
                MAX(event_id) = COUNT(*) AS gapless
           FROM execution_events WHERE execution_id = $1`,
        [executionId],
      );
      const types = ['execution_started', 'node_started', 'node_completed', 'pipeline_completed', 'data_ready'];
      expect(events).toEqual({ types, gapless: true });
    }
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });
});

describe('the end of an instance', () => {
  it('drains: launches are refused, what runs is cancelled shutdown, rows and events are written', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    await server.nodeStarts(me, executionId);
    await server.drain.begin();
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'shutdown' });
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({ code: 'server.draining' });
    const [row] = await bench.db.database.query<{ n: number }>(
      `SELECT COUNT(*)::int AS n FROM execution_events WHERE execution_id = $1 AND event_type = 'execution_aborted'`,
      [executionId],
    );
    expect(row).toEqual({ n: 1 });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
    await server.instance.stop();
    expect(existsSync(server.spillRoot) && readdirSync(server.spillRoot)).toEqual([]);
  });

  it('a launch whose row is being written while the rest is cancelled is cancelled with it', async () => {
    // It has a place and no run yet: overlooked, it would run on and be killed, and look like a lost instance.
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let reached: () => void = () => undefined;
    const inserting = new Promise<void>((resolve) => (reached = resolve));
    const database = new Proxy(bench.db.database, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (name !== 'query') return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
        return async (sql: string, params?: unknown[]) => {
          if (sql.includes('INSERT INTO pipeline_executions')) {
            reached();
            await held;
          }
          return target.query(sql, params);
        };
      },
    });
    const server = await TestInstance.start({ database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const launching = server.launch(bench.workspace.principal(), pipeline);
    await inserting;
    const drained = server.drain.begin();
    await delay(50);
    release();
    expect(await (await launching).finished).toMatchObject({ status: 'ABORTED', reason: 'shutdown' });
    await drained;
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
    await server.instance.stop();
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, idle, TestInstance, TestWorkspace, type TestDatabase } from './executions.fixture.js';

const HEAVY = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b';

let db: TestDatabase;
let workspace: TestWorkspace;
const servers: TestInstance[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
}, 60_000);

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

afterAll(() => db?.drop());

async function serverWith(settings: Record<string, string> = {}): Promise<TestInstance> {
  const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
  const server = await TestInstance.start({ database: db.database, store, settings });
  servers.push(server);
  return server;
}

/** Nothing of a run is left behind on its instance. */
async function expectClean({ instance, spillRoot }: TestInstance): Promise<void> {
  expect(instance.runs.size).toBe(0);
  expect(instance.staging.active).toBe(0);
  await idle(instance.gate);
  for (const folder of readdirSync(spillRoot)) expect(readdirSync(join(spillRoot, folder))).toEqual([]);
}

const typesOf = (frames: readonly { type: string }[]) => frames.map(({ type }) => type);
const payload = (frame: { data: string } | undefined) => readJson(frame!.data) as JsonObject;

describe('a run', () => {
  it('of one caller node ends in SUCCESS, with its rows in the result and its events in order', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'one', sql: 'SELECT 1 AS one, :word AS word' }], {
      parameters: { word: { type: 'STRING', required: false, default: 'hé' } },
    });
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 1 } });
    expect((await server.results.page(me, executionId, {})).rows.map(({ text }) => text)).toEqual(['[1,"hé"]']);
    const frames = await server.frames(me, executionId);
    expect(frames.map(({ eventId, type }) => `${eventId} ${type}`)).toEqual([
      '1 execution_started',
      '2 node_started',
      '3 node_completed',
      '4 pipeline_completed',
      '5 data_ready',
    ]);
    expect(frames[4]!.data).toContain('"rows":[[1,"hé"]]');
    expect(await server.service.read(me, executionId)).toMatchObject({
      status: 'SUCCESS',
      result_row_count: 1,
      error: null,
    });
    const [row] = await db.database.query<{ parameters_json: string }>(
      'SELECT parameters_json FROM pipeline_executions WHERE execution_id = $1',
      [executionId],
    );
    expect(readJson(row!.parameters_json)).toMatchObject({
      word: 'hé',
      execution_id: executionId,
      org_timezone: 'UTC',
    });
    await expectClean(server);
  });

  it('stages, joins and delivers through tempdb, branches in parallel', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const table = (name: string) => ({ target: 'tempdb', table: name });
    const pipeline = await workspace.pipeline([
      { id: 'a', sql: 'SELECT range AS n FROM range(5000)', output: table('left_side') },
      { id: 'b', sql: 'SELECT range * 2 AS n FROM range(5000)', output: table('right_side') },
      { id: 'fix', type: 'DML', sql: 'DELETE FROM left_side WHERE n >= 4000', after: ['a'] },
      { id: 'idx', type: 'DDL', sql: 'CREATE TABLE scratch (x INTEGER)', after: ['b'] },
      { id: 'out', sql: 'SELECT n FROM left_side JOIN right_side USING (n) ORDER BY n', after: ['fix', 'idx'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({
      status: 'SUCCESS',
      dataReady: { total_rows: 2000, row_count: 1000, has_more: true },
    });
    const view = await server.service.read(me, executionId);
    const stats = readJson(view.node_stats!.text) as unknown as { node_id: string; rows_out: { value: string } }[];
    expect(stats.map(({ node_id, rows_out }) => `${node_id} ${rows_out.value}`)).toEqual([
      'a 5000',
      'b 5000',
      'fix 1000',
      'idx 0',
      'out 2000',
    ]);
    const last = await server.results.page(me, executionId, { offset: 1999, limit: 10 });
    expect(last.rows.map(({ text }) => text)).toEqual(['["3998"]']);
    expect(last).toMatchObject({ row_count: 1, has_more: false, total_rows: 2000 });
    expect((await server.results.page(me, executionId, { offset: 5000 })).rows).toEqual([]);
    await expectClean(server);
  });

  it('without a caller node has no result and no data_ready, and its result reads as empty', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([
      { id: 'a', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' } },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toEqual({ executionId, status: 'SUCCESS' });
    expect(typesOf(await server.frames(me, executionId)).at(-1)).toBe('pipeline_completed');
    expect(await server.results.page(me, executionId, {})).toMatchObject({ rows: [], expires_at: null });
    expect(await server.service.read(me, executionId)).toMatchObject({
      result_row_count: null,
      result_size_bytes: null,
    });
  });

  it('fails fast: running siblings are cut, pending nodes never start, and there is exactly one terminal event', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline(
      [
        { id: 'slow', sql: HEAVY, output: { target: 'tempdb', table: 's' } },
        { id: 'bad', sql: `SELECT error('boom ' || :secret) AS x`, output: { target: 'tempdb', table: 'b' } },
        { id: 'never', sql: 'SELECT 1 AS a', after: ['slow'] },
      ],
      { parameters: { secret: { type: 'STRING', required: true } } },
    );
    const parameters = { secret: 'hunter22' } as unknown as JsonObject;
    const { executionId, finished } = await server.launch(me, pipeline, { parameters });
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_execution_failed' },
    });
    const frames = await server.frames(me, executionId);
    expect(typesOf(frames).filter((type) => /pipeline_|aborted/.test(type))).toEqual(['pipeline_failed']);
    expect(typesOf(frames).filter((type) => type === 'node_failed')).toHaveLength(1);
    const view = await server.service.read(me, executionId);
    expect(view.failed_node_id).toBe('bad');
    const stats = readJson(view.node_stats!.text) as unknown as {
      node_id: string;
      status: string;
      started_at: string | null;
    }[];
    expect(stats.map(({ node_id, status, started_at }) => [node_id, status, started_at === null])).toEqual([
      ['slow', 'ABORTED', false],
      ['bad', 'FAILED', false],
      ['never', 'ABORTED', true],
    ]);
    const error = readJson(view.error!.text) as JsonObject;
    expect(error).toMatchObject({
      node: { id: 'bad', type: 'DQL', datasource: 'tempdb', dialect: 'DUCKDB' },
      sql: `SELECT error('boom ' || :secret) AS x`,
      correlation_id: me.correlationId,
    });
    expect(view.error!.text).not.toContain('hunter22');
    expect(
      frames
        .map(({ data }) => data)
        .filter((data) => !data.includes('"parameters"'))
        .join(),
    ).not.toContain('hunter22');
    await expect(server.results.page(me, executionId, {})).rejects.toMatchObject({ code: 'result.execution_failed' });
    await expectClean(server);
  });

  it('ends at its deadline: FAILED without a node to blame', async () => {
    const server = await serverWith({ DATAPIPELINES_EXECUTOR_EXECUTION_TIMEOUT_SECONDS: '1' });
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { finished } = await server.launch(workspace.principal(), pipeline);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'pipeline.execution.timeout' } });
    await expectClean(server);
  });

  it.each([
    ['wall clock', { timeout_seconds: 1 }, 'pipeline.node.timeout'],
    ['statement', { query_timeout_seconds: 1 }, 'pipeline.node.query_timeout'],
  ])('a node over its %s budget fails with the phase it was in', async (_what, settings, code) => {
    const server = await serverWith();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY, settings }]);
    const { finished } = await server.launch(workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code, details: { timeout_seconds: 1, phase: 'execute' } },
    });
    await expectClean(server);
  });

  it('tells a full engine apart from a wrong query', async () => {
    const server = await serverWith({
      DATAPIPELINES_STAGING_MAX_MEMORY_MB: '64',
      DATAPIPELINES_STAGING_MAX_SPILL_MB: '1',
    });
    const sql = 'SELECT range AS a, hash(range) AS b, hash(range + 1) AS c FROM range(20000000)';
    const pipeline = await workspace.pipeline([{ id: 'big', sql, output: { target: 'tempdb', table: 't' } }]);
    const { finished } = await server.launch(workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.staging.memory_limit_exceeded', details: { limit_mb: 64, spill_limit_mb: 1 } },
    });
    await expectClean(server);
  });

  it('fails a result over the cap and keeps nothing of it', async () => {
    const server = await serverWith({ DATAPIPELINES_RESULT_MAX_SIZE_BYTES: '100000' });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'big', sql: `SELECT repeat('x', 100) AS x FROM range(5000)` }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const outcome = await finished;
    expect(outcome).toMatchObject({
      status: 'FAILED',
      failure: { code: 'result.too_large', details: { max_size_bytes: 100000 } },
    });
    expect(await server.service.read(me, executionId)).toMatchObject({ failed_node_id: 'big', result_row_count: null });
    await expectClean(server);
  });

  it('leaves SQL and exception out everywhere with error-detail=structured', async () => {
    const server = await serverWith({ DATAPIPELINES_EXECUTIONS_ERROR_DETAIL: 'structured' });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'bad', sql: 'SELECT * FROM nowhere_at_all' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const { failure } = await finished;
    expect(Object.keys(failure!)).not.toEqual(expect.arrayContaining(['sql']));
    const text = (await server.frames(me, executionId)).map(({ data }) => data).join();
    expect(text).not.toMatch(/"sql"|"exception"/);
    expect((await server.service.read(me, executionId)).error!.text).not.toMatch(/"sql"|"exception"/);
  });

  it('a template that does not render fails the node in the render phase, before anything is sent', async () => {
    const server = await serverWith();
    const pipeline = await workspace.pipeline([{ id: 'x', sql: 'SELECT :nobody AS a' }]);
    const { finished } = await server.launch(workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      failure: { code: 'pipeline.node.sql_parameter_missing', details: { missing: ['nobody'] } },
    });
    await db.database.execute(
      'DELETE FROM template_versions WHERE template_id IN (SELECT id FROM templates WHERE name LIKE $1)',
      [`t/${pipeline}/%`],
    );
    const gone = await server.launch(workspace.principal(), pipeline);
    expect(await gone.finished).toMatchObject({ failure: { code: 'pipeline.node.template_not_found' } });
  });
});

describe('cancellation', () => {
  it('stops a running statement at once; a second cancel finds nothing to stop', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([
      { id: 'slow', sql: HEAVY },
      { id: 'later', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' }, after: ['slow'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const stream = server.frames(me, executionId);
    await delay(30);
    await server.service.cancel(me, executionId);
    expect(await finished).toEqual({ executionId, status: 'ABORTED', reason: 'cancelled' });
    const frames = await stream;
    expect(typesOf(frames)).toEqual(['execution_started', 'node_started', 'execution_aborted']);
    expect(payload(frames.at(-1))).toMatchObject({ reason: 'cancelled', status: 'ABORTED' });
    await expect(server.service.cancel(me, executionId)).rejects.toMatchObject({
      code: 'pipeline.execution.not_running',
    });
    expect(await server.service.read(me, executionId)).toMatchObject({ status: 'ABORTED', error: null });
    await expectClean(server);
  });

  it('is for the one who started it and for administrators; others see the run and may not stop it', async () => {
    const server = await serverWith();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await server.launch(workspace.principal(), pipeline);
    const colleague = await TestWorkspace.create(db.database);
    const inside = workspace.principal({ userId: colleague.userId });
    expect(await server.service.read(inside, executionId)).toMatchObject({ status: 'RUNNING' });
    await expect(server.service.cancel(inside, executionId)).rejects.toMatchObject({ code: 'auth.role_required' });
    const foreigner = colleague.principal();
    for (const refused of [
      server.service.read(foreigner, executionId),
      server.service.cancel(foreigner, executionId),
      server.results.page(foreigner, executionId, {}),
      server.events.page(foreigner, executionId, { after: 0, limit: 10 }),
      server.service.read(foreigner, 'not-a-uuid'),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'result.execution_not_found' });
    }
    const admin = workspace.principal({ userId: colleague.userId });
    admin.workspace!.flags.admin = true;
    await server.service.cancel(admin, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED' });
  });

  it('an attached run ends with its last watcher after the grace, and one that is watched again does not', async () => {
    const server = await serverWith({ DATAPIPELINES_SSE_DISCONNECT_GRACE_SECONDS: '1' });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const abandoned = await server.launch(me, pipeline, { detached: false });
    const kept = await server.launch(me, pipeline, { detached: false });
    const detached = await server.launch(me, pipeline);
    const watching = new AbortController();
    const watch = await server.events.watch(me, kept.executionId, { after: 0, signal: watching.signal });
    expect(await abandoned.finished).toMatchObject({ status: 'ABORTED', reason: 'client_disconnect' });
    expect(server.instance.runs.get(kept.executionId)).toBeDefined();
    expect(server.instance.runs.get(detached.executionId)).toBeDefined();
    watching.abort();
    for await (const frame of watch.frames) expect(frame).toBeDefined();
    expect(await kept.finished).toMatchObject({ status: 'ABORTED', reason: 'client_disconnect' });
    await server.service.cancel(me, detached.executionId);
    await detached.finished;
  });
});

describe('launching', () => {
  it('refuses in the order of the contract and leaves no trace', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const counted = () => db.database.query<{ n: number }>('SELECT COUNT(*)::int AS n FROM pipeline_executions');
    const [before] = await counted();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT :n AS n' }], {
      parameters: { n: { type: 'INTEGER', required: true }, m: { type: 'INTEGER', required: true } },
    });
    await expect(server.launch(me, 'nope')).rejects.toMatchObject({ code: 'pipeline.execution.not_found' });
    await expect(server.launch(me, pipeline, { version: 7 })).rejects.toMatchObject({
      code: 'pipeline.execution.not_found',
    });
    const foreigner = (await TestWorkspace.create(db.database)).principal();
    await expect(server.launch(foreigner, pipeline)).rejects.toMatchObject({ code: 'pipeline.execution.not_found' });
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({
      code: 'pipeline.execution.parameter_required',
      details: { failures: [expect.anything(), expect.anything()] },
    });
    const cyclic = await workspace.pipeline([
      { id: 'a', sql: 'SELECT 1', after: ['b'] },
      { id: 'b', sql: 'SELECT 1', after: ['a'], output: { target: 'tempdb', table: 't' } },
    ]);
    await expect(server.launch(me, cyclic)).rejects.toMatchObject({ details: { reason: 'invalid_graph' } });
    server.instance.refuseLaunches();
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({ code: 'server.draining', status: 503 });
    expect((await counted())[0]).toEqual(before);
    await expectClean(server);
  });

  it('counts slots per person and per instance, and gives every one back', async () => {
    const server = await serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '2',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '3',
    });
    const me = workspace.principal();
    const other = workspace.principal({ userId: (await TestWorkspace.create(db.database)).userId });
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const mine = [await server.launch(me, pipeline), await server.launch(me, pipeline)];
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
    await expectClean(server);
  });

  it('one idempotency key through many racing requests starts one run; another request with it is refused', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT :n AS n' }], {
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
    const [{ n }] = (await db.database.query<{ n: number }>(
      'SELECT COUNT(*)::int AS n FROM pipeline_executions WHERE pipeline_id = $1',
      [pipeline],
    )) as [{ n: number }];
    expect(n).toBe(1);
  });

  it('many at once share statements and each gets its own row and end', async () => {
    const server = await serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '50',
      DATAPIPELINES_STAGING_MAX_MEMORY_MB: '64',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '4096',
    });
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const launched = await Promise.all(Array.from({ length: 40 }, () => server.launch(me, pipeline)));
    const outcomes = await Promise.all(launched.map(({ finished }) => finished));
    expect(outcomes.map(({ status }) => status)).toEqual(launched.map(() => 'SUCCESS'));
    for (const { executionId } of launched) {
      const [{ n, last }] = (await db.database.query<{ n: number; last: number }>(
        'SELECT COUNT(*)::int AS n, MAX(event_id) AS last FROM execution_events WHERE execution_id = $1',
        [executionId],
      )) as [{ n: number; last: number }];
      expect([n, last]).toEqual([5, 5]);
    }
    await expectClean(server);
  });
});

describe('reading', () => {
  it('lists newest first, by offset and by key, without repeating or skipping', async () => {
    const own = await TestWorkspace.create(db.database);
    const server = await serverWith({ DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '20' });
    const me = own.principal();
    const pipeline = await own.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }], { draft: true });
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      const { executionId, finished } = await server.launch(me, pipeline);
      await finished;
      ids.unshift(executionId);
    }
    const { items, total } = await server.service.list(me, {}, { offset: 0, limit: 50 });
    expect(items.map(({ execution_id }) => execution_id)).toEqual(ids);
    expect(total).toBe(7);
    expect(items.every(({ draft_run }) => draft_run)).toBe(true);
    const walked: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await server.service.listKeyset(me, {}, { first: 3, after });
      walked.push(...page.items.map(({ execution }) => execution.execution_id));
      after = page.items.at(-1)?.cursor;
      if (!page.hasNext) break;
    }
    expect(walked).toEqual(ids);
    const end = await server.service.listKeyset(me, {}, { last: 2 });
    expect(end.items.map(({ execution }) => execution.execution_id)).toEqual(ids.slice(-2));
    expect(end).toMatchObject({ hasNext: false, hasPrevious: true });
    await expect(server.service.listKeyset(me, {}, { after: 'nonsense' })).rejects.toMatchObject({
      code: 'graphql.cursor_invalid',
    });
    expect((await server.service.list(me, { status: 'FAILED' }, { offset: 0, limit: 5 })).total).toBe(0);
    expect((await server.service.list(me, { pipelineId: 'x' }, { offset: 0, limit: 5 })).total).toBe(0);
    const key = own.principal({ method: 'api_key', keyKind: 'endpoint', keyId: own.userId });
    await expect(server.service.list(key, {}, { offset: 0, limit: 5 })).rejects.toMatchObject({
      code: 'endpoint.key_kind_refused',
    });
  });

  it('an endpoint key sees exactly the runs its own audit rows prove', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const keyOf = (id: string) => workspace.principal({ method: 'api_key', keyKind: 'endpoint', keyId: id });
    const [proved, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const served = await server.launch(me, pipeline);
    await served.finished;
    await db.database.execute(
      `INSERT INTO audit_log (event, user_id, key_id, details_json) VALUES ('endpoint.served', $1, $2, $3::jsonb)`,
      [me.userId, proved, JSON.stringify({ execution_id: served.executionId })],
    );
    const unproved = await server.launch(me, pipeline);
    await unproved.finished;
    expect((await server.results.page(keyOf(proved), served.executionId, {})).row_count).toBe(1);
    expect((await server.frames(keyOf(proved), served.executionId)).length).toBe(5);
    for (const [key, execution] of [
      [other, served.executionId],
      [proved, unproved.executionId],
    ] as const) {
      await expect(server.results.page(keyOf(key), execution, {})).rejects.toMatchObject({
        code: 'result.execution_not_found',
      });
    }
  });

  it('streams CSV with header, quotes, NULL and the formula guard', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const sql = `SELECT * FROM (VALUES ('=1+1', -5, NULL), ('a "q", b', 7, ''), ('+x', 0, '@y')) t(a, n, "ü")`;
    const pipeline = await workspace.pipeline([{ id: 'a', sql }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    await finished;
    let text = '';
    for await (const piece of await server.results.csv(me, executionId)) text += piece;
    expect(text).toBe(`a,n,ü\r\n'=1+1,-5,\r\n"a ""q"", b",7,""\r\n'+x,0,'@y\r\n`);
  });

  it('replays from the table with the original times, resumes behind any event, and says when the record is gone', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const live = await server.frames(me, executionId);
    await finished;
    await server.instance.flush();
    const elsewhere = await serverWith();
    const replay = await elsewhere.frames(me, executionId);
    expect(replay.map(({ eventId, type, timestamp }) => [eventId, type, timestamp])).toEqual(
      live.map(({ eventId, type, timestamp }) => [eventId, type, timestamp]),
    );
    expect(payload(replay[4])).toMatchObject({ rows: [], rows_omitted: true });
    expect(typesOf(await elsewhere.frames(me, executionId, 3))).toEqual(['pipeline_completed', 'data_ready']);
    const signal = new AbortController().signal;
    expect((await elsewhere.events.watch(me, executionId, { after: 5, signal })).nothingLeft).toBe(true);
    const page = await elsewhere.events.page(me, executionId, { after: 1, limit: 2 });
    expect(page).toMatchObject({ next_after: 3, has_more: true });
    await db.database.execute('DELETE FROM execution_events WHERE execution_id = $1', [executionId]);
    await expect(elsewhere.events.watch(me, executionId, { after: 0, signal })).rejects.toMatchObject({
      code: 'result.expired',
      details: { reason: 'event_record_expired' },
    });
    const attached = await elsewhere.events.watch(me, executionId, { after: 0, signal, attach: true });
    const rebuilt = [];
    for await (const frame of attached.frames) rebuilt.push(frame.type);
    expect(rebuilt).toEqual(['pipeline_completed']);
  });
});

describe('the end of an instance', () => {
  it('drains: launches are refused, what runs is cancelled shutdown, rows and events are written', async () => {
    const server = await serverWith();
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    await delay(20);
    await server.drain.begin();
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'shutdown' });
    await expect(server.launch(me, pipeline)).rejects.toMatchObject({ code: 'server.draining' });
    const [row] = await db.database.query<{ n: number }>(
      `SELECT COUNT(*)::int AS n FROM execution_events WHERE execution_id = $1 AND event_type = 'execution_aborted'`,
      [executionId],
    );
    expect(row).toEqual({ n: 1 });
    await expectClean(server);
    await server.instance.stop();
    expect(existsSync(server.spillRoot) && readdirSync(server.spillRoot)).toEqual([]);
  });
});

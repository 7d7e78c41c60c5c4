import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { DatabaseFailure } from '#libs/persistence';
import { ExecutionsBench, milestones, TestWorkspace } from './executions.fixture.js';

let bench: ExecutionsBench;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

const typesOf = (frames: readonly { type: string }[]) => frames.map(({ type }) => type);
const payload = (frame: { data: string } | undefined) => readJson(frame!.data) as JsonObject;

describe('reading', () => {
  it('lists newest first, by offset and by key, without repeating or skipping', async () => {
    const own = await TestWorkspace.create(bench.db.database);
    const server = await bench.serverWith({ DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '20' });
    const me = own.principal();
    const pipeline = await own.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }], { draft: true });
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      const { executionId, finished } = await server.launch(me, pipeline);
      await finished;
      ids.unshift(executionId);
    }
    const { items } = await server.service.list(me, {}, {});
    expect(items.map(({ execution }) => execution.execution_id)).toEqual(ids);
    expect(await server.service.count(me, {})).toBe(7);
    const skipped = await server.service.list(me, {}, { first: 2, skip: 4 });
    expect(skipped.items.map(({ execution }) => execution.execution_id)).toEqual(ids.slice(4, 6));
    expect(skipped).toMatchObject({ hasNext: true, hasPrevious: true });
    expect(items.every(({ execution }) => execution.draft_run)).toBe(true);
    const walked: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await server.service.list(me, {}, { first: 3, after });
      walked.push(...page.items.map(({ execution }) => execution.execution_id));
      after = page.items.at(-1)?.cursor;
      if (!page.hasNext) break;
    }
    expect(walked).toEqual(ids);
    const end = await server.service.list(me, {}, { last: 2 });
    expect(end.items.map(({ execution }) => execution.execution_id)).toEqual(ids.slice(-2));
    expect(end).toMatchObject({ hasNext: false, hasPrevious: true });
    const id = ids[0]!;
    // What only looks like a cursor is refused here: the database would fail on it.
    for (const cursor of ['nonsense', `2026-02-31T00:00:00Z~${id}`, `2026-01-01T00:00:00Z~${'-'.repeat(36)}`]) {
      await expect(server.service.list(me, {}, { after: cursor })).rejects.toMatchObject({
        code: 'graphql.cursor_invalid',
      });
    }
    expect(await server.service.count(me, { status: 'FAILED' })).toBe(0);
    expect(await server.service.count(me, { pipelineId: 'x' })).toBe(0);
    const key = own.principal({ method: 'api_key', keyKind: 'endpoint', keyId: own.userId });
    for (const refused of [
      server.service.list(key, {}, {}),
      server.service.count(key, {}),
      server.batches.executionsOf(key, ids),
      server.batches.expiries(key, ids),
      server.batches.pages(key, 'pipeline', [pipeline], {}, { first: 5 }),
      server.batches.counts(key, 'pipeline', [pipeline], {}),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'endpoint.key_kind_refused' });
    }
  });

  it('an endpoint key sees exactly the runs its own audit rows prove', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const keyOf = (id: string) => bench.workspace.principal({ method: 'api_key', keyKind: 'endpoint', keyId: id });
    const [proved, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const served = await server.launch(me, pipeline);
    await served.finished;
    await bench.db.database.execute(
      `INSERT INTO audit_log (event, user_id, key_id, details_json) VALUES ('endpoint.served', $1, $2, $3::jsonb)`,
      [me.userId, proved, JSON.stringify({ execution_id: served.executionId })],
    );
    const unproved = await server.launch(me, pipeline);
    await unproved.finished;
    expect((await server.results.page(keyOf(proved), served.executionId, {})).row_count).toBe(1);
    expect(milestones(await server.frames(keyOf(proved), served.executionId))).toHaveLength(5);
    for (const [key, execution] of [
      [other, served.executionId],
      [proved, unproved.executionId],
    ] as const) {
      await expect(server.results.page(keyOf(key), execution, {})).rejects.toMatchObject({
        code: 'result.execution_not_found',
      });
    }
  });

  it('asks once for all streams whose turn it is whether they may go on, and answers each for itself', async () => {
    const server = await bench.serverWith();
    const { database } = bench.db;
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const [served, unproved] = [await server.launch(me, pipeline), await server.launch(me, pipeline)];
    await Promise.all([served.finished, unproved.finished]);
    const keyId = crypto.randomUUID();
    await database.execute(
      `INSERT INTO audit_log (event, user_id, key_id, details_json) VALUES ('endpoint.served', $1, $2, $3::jsonb)`,
      [me.userId, keyId, JSON.stringify({ execution_id: served.executionId })],
    );
    const stranger = (await TestWorkspace.create(database)).principal();
    const key = bench.workspace.principal({ method: 'api_key', keyKind: 'endpoint', keyId });
    const nameless = bench.workspace.principal({ method: 'api_key', keyKind: 'endpoint', keyId: undefined });
    const asked = [
      [me, served.executionId, true],
      [me, unproved.executionId, true],
      [stranger, served.executionId, false],
      [key, served.executionId, true],
      [key, unproved.executionId, false],
      [nameless, served.executionId, false],
      [me, crypto.randomUUID(), false],
      [me, served.executionId.toUpperCase(), true],
    ] as const;
    const statements = jest.spyOn(database, 'query');
    const answers = await Promise.all(asked.map(([who, id]) => server.events.mayStillWatch(who, id)));
    expect(statements).toHaveBeenCalledTimes(1);
    expect(answers).toEqual(asked.map(([, , may]) => may));
    // Nothing new is shown while the database is away, and nothing is taken.
    const away = new DatabaseFailure('terminating connection', '57P01', undefined, undefined, '', true);
    statements.mockRejectedValue(away);
    expect(await server.events.mayStillWatch(me, served.executionId)).toBe(true);
    statements.mockRejectedValue(new DatabaseFailure('a defect', '42883', undefined, undefined, '', false));
    expect(await server.events.mayStillWatch(me, served.executionId)).toBe(false);
    statements.mockRestore();
  });

  it('streams CSV with header, quotes, NULL and the formula guard', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const sql = `SELECT * FROM (VALUES ('=1+1', -5, NULL), ('a "q", b', 7, ''), ('+x', 0, '@y')) t(a, n, "ü")`;
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    await finished;
    let text = '';
    for await (const piece of await server.results.csv(me, executionId)) text += piece;
    expect(text).toBe(`a,n,ü\r\n'=1+1,-5,\r\n"a ""q"", b",7,""\r\n'+x,0,'@y\r\n`);
  });

  it('finds row, result and link of a run whose id is written in capitals', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 7 AS a' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    await finished;
    const written = executionId.toUpperCase();
    expect(await server.results.page(me, written, {})).toMatchObject({ execution_id: executionId, row_count: 1 });
    const pieces: string[] = [];
    for await (const piece of await server.results.csv(me, written)) pieces.push(piece);
    expect(pieces.join('')).toBe('a\r\n7\r\n');
    const { result_url } = await server.service.read(me, written);
    expect(result_url).toContain(`/executions/${executionId}/result`);
  });

  it('replays from the table with the original times, resumes behind any event, and says when the record is gone', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const live = await server.frames(me, executionId);
    await finished;
    await server.instance.flush();
    const elsewhere = await bench.serverWith();
    const replay = await elsewhere.frames(me, executionId);
    expect(replay.map(({ timestamp, block }) => [timestamp, block]).slice(0, -1)).toEqual(
      live.map(({ timestamp, block }) => [timestamp, block]).slice(0, -1),
    );
    expect(payload(replay.at(-1))).toMatchObject({ rows: [], rows_omitted: true });
    const { length } = live;
    expect(typesOf(await elsewhere.frames(me, executionId, length - 2))).toEqual(['pipeline_completed', 'data_ready']);
    const signal = new AbortController().signal;
    expect((await elsewhere.events.watch(me, executionId, { after: length, signal })).nothingLeft).toBe(true);
    const page = await elsewhere.events.page(me, executionId, { after: 1, limit: 2 });
    expect(page).toMatchObject({ next_after: 3, has_more: true });
    await bench.db.database.execute('DELETE FROM execution_events WHERE execution_id = $1', [executionId]);
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

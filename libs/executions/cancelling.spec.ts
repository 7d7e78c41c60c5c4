import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { ExecutionsBench, HEAVY, leftovers, NOTHING_LEFT, TestWorkspace, milestones } from './executions.fixture.js';

let bench: ExecutionsBench;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

const payload = (frame: { data: string } | undefined) => readJson(frame!.data) as JsonObject;

describe('cancellation', () => {
  it('stops a running statement at once; a second cancel finds nothing to stop', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([
      { id: 'slow', sql: HEAVY },
      { id: 'later', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' }, after: ['slow'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const stream = server.frames(me, executionId);
    await server.nodeStarts(me, executionId);
    await server.service.cancel(me, executionId);
    expect(await finished).toEqual({ executionId, status: 'ABORTED', reason: 'cancelled' });
    const frames = await stream;
    expect(milestones(frames)).toEqual(['execution_started', 'node_started', 'execution_aborted']);
    expect(payload(frames.at(-1))).toMatchObject({ reason: 'cancelled', status: 'ABORTED' });
    await expect(server.service.cancel(me, executionId)).rejects.toMatchObject({
      code: 'pipeline.execution.not_running',
    });
    expect(await server.service.read(me, executionId)).toMatchObject({ status: 'ABORTED', error: null });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('is for the one who started it and for administrators; others see the run and may not stop it', async () => {
    const server = await bench.serverWith();
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await server.launch(bench.workspace.principal(), pipeline);
    const colleague = await TestWorkspace.create(bench.db.database);
    const inside = bench.workspace.principal({ userId: colleague.userId });
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
    const admin = bench.workspace.principal({ userId: colleague.userId });
    admin.workspace!.flags.admin = true;
    await server.service.cancel(admin, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED' });
  });

  it('an attached run ends with its last watcher after the grace, and one that is watched again does not', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_SSE_DISCONNECT_GRACE_SECONDS: '1' });
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
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

  it('a client that is gone before its watch opens keeps no run alive', async () => {
    // A listener that is added to a signal after its abort never hears of it: the watcher would count for ever.
    const server = await bench.serverWith({ DATAPIPELINES_SSE_DISCONNECT_GRACE_SECONDS: '1' });
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { executionId, finished } = await server.launch(me, pipeline, { detached: false });
    await server.events.watch(me, executionId, { after: 0, signal: AbortSignal.abort() });
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'client_disconnect' });
  });
});

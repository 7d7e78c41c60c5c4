import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import { ADMIN } from '../fixtures/server-process.js';

const SLOTS = 4;
/** A statement of this length ends while its owner is stopped. */
const WHILE_STOPPED = 2;

describeWithProgram('redis-server', 'three servers of which two are lost', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  /** By what happens to them. */
  let killed: ApiClient;
  let stopped: ApiClient;
  let left: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 3,
      env: {
        DATAPIPELINES_EXECUTOR_HEARTBEAT_SECONDS: '1',
        DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: String(SLOTS),
      },
    });
    scene = await RunScene.build(deployment);
    [killed, stopped, left] = deployment.servers.map(({ baseUrl }) => deployment.author.on(baseUrl)) as [
      ApiClient,
      ApiClient,
      ApiClient,
    ];
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  it('boot at once on an empty database: every migration and every first person once, all three ready', async () => {
    for (const { baseUrl } of deployment.servers) {
      const ready = await fetch(`${baseUrl}/ready`);
      expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'UP' }]);
    }
    const users = await deployment.metadata<{ email: string; provider: string }>('SELECT email, provider FROM users');
    expect(users.filter(({ email }) => email === ADMIN.email)).toHaveLength(1);
    expect(users.filter(({ provider }) => provider === 'system')).toHaveLength(1);
    const applied = deployment.servers.filter(({ output }) => /Applied \d+ migrations/.test(output));
    expect(applied).toHaveLength(1);
  });

  it('end the runs of the dead and of the stalled as lost; the stalled one wakes and changes nothing', async () => {
    const lost = await scene.launch(killed, scene.sleeping, { seconds: 60 });
    const other = await scene.launch(killed, scene.silent, { seconds: 60 });
    // Both sleepers of this run end while its owner is stopped: it wakes with two results in hand.
    const stalled = await scene.launch(stopped, scene.silent, { seconds: WHILE_STOPPED });
    const stalledCaller = await scene.launch(stopped, scene.sleeping, { seconds: WHILE_STOPPED });
    const all = [lost, other, stalled, stalledCaller];
    const watchers = await Promise.all(all.map((id) => EventStream.watch(left, id)));
    await scene.untilSleeping(6);
    const full = await left.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
    expect([full.status, full.body.error?.code]).toEqual([429, 'pipeline.execution.concurrency_limit']);

    deployment.servers[1]!.signal('SIGSTOP');
    await deployment.servers[0]!.end('SIGKILL');

    for (const watcher of watchers) {
      const aborted = await watcher.until('execution_aborted');
      expect(aborted).toMatchObject({ reason: 'instance_lost', status: 'ABORTED' });
      for (const node of aborted.node_stats) expect(node.status).toBe('ABORTED');
      await watcher.last();
      expect(watcher.ids).toEqual(watcher.ids.map((_, index) => index + 1));
    }
    const rows = await left.data('GET', `/api/v1/executions/${lost}`);
    expect(rows).toMatchObject({ status: 'ABORTED', error: { code: 'pipeline.execution.instance_lost' } });
    const freed = await EventStream.run(left, scene.quick);
    expect(await freed.last()).toBe('data_ready');

    // The statements of the stopped server are over; its sockets hold their answers.
    const before = await Promise.all(all.map((id) => record(deployment, id)));
    deployment.servers[1]!.signal('SIGCONT');
    await eventually('the woken server to know that it was fenced', () => {
      const fenced = deployment.servers[1]!.output.split('\n').filter((line) => line.includes('execution.fenced'));
      return fenced.length === 2;
    });
    expect((await stopped.call('GET', `/api/v1/executions/${stalled}`)).body.data.status).toBe('ABORTED');
    // Whatever it still had to flush has been flushed by the end of a whole new run of its own.
    const after = await EventStream.run(stopped, scene.staged, { rows: 100 });
    expect(await after.last()).toBe('data_ready');
    expect(await Promise.all(all.map((id) => record(deployment, id)))).toEqual(before);
    const result = await left.call('GET', `/api/v1/executions/${stalledCaller}/result`);
    expect([result.status, result.body.error.code]).toEqual([410, 'result.execution_failed']);
    expect(await deployment.redis.client.keys(`dp:result:${stalledCaller}:*`)).toEqual([]);
    for (const client of [left, stopped]) {
      for (const [index, id] of all.entries()) {
        const replay = await EventStream.watch(client, id);
        await replay.last();
        expect(replay.frames).toEqual(watchers[index]?.frames);
      }
    }
  });

  it('ran all this without an unhandled failure', () => {
    for (const { output } of deployment.servers) expect(output).not.toMatch(/unhandled|uncaught/i);
  });
});

/** All that is kept of a run: its row, its events in the table and in the store. */
async function record(deployment: Deployment, executionId: string): Promise<unknown> {
  const rows = await deployment.metadata(
    'SELECT to_jsonb(e)::text AS row FROM pipeline_executions e WHERE execution_id = $1',
    [executionId],
  );
  const events = await deployment.metadata(
    'SELECT event_id, event_type, payload_json::text FROM execution_events WHERE execution_id = $1 ORDER BY event_id',
    [executionId],
  );
  const stream = await deployment.redis.client.xrange(`dp:events:${executionId}`, '-', '+');
  return { rows, events, stream };
}

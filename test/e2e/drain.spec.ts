import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import type { ServerProcess } from '../fixtures/server-process.js';

const PATIENT = { DATAPIPELINES_SHUTDOWN_DRAIN_WAIT_SECONDS: '60' };

describeWithProgram('redis-server', 'a server that is told to end', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    scene = await RunScene.build(deployment);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  const on = ({ baseUrl }: ServerProcess) => deployment.author.on(baseUrl);

  it('lets its runs finish while it takes no new ones, if it may wait', async () => {
    // A rolling deployment must not cost anybody a run.
    const leaving = await deployment.addServer(PATIENT);
    const client = on(leaving);
    const attached = await EventStream.run(client, scene.sleeping, { seconds: 1.5 });
    const far = await EventStream.watch(deployment.author, attached.executionId);
    await scene.untilSleeping(1);
    const exit = leaving.end('SIGTERM');
    await eventuallyDraining(leaving);
    const ready = await client.call('GET', '/ready');
    expect([ready.status, ready.body]).toMatchObject([503, { status: 'DOWN', phase: 'draining' }]);
    expect((await client.call('GET', '/health')).status).toBe(200);
    const refused = await client.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
    expect([refused.status, refused.body.error.code]).toEqual([503, 'server.draining']);
    expect(refused.headers.get('Retry-After')).toBe('5');
    // Reading goes on, and so does watching: also for who comes only now.
    expect((await client.call('GET', `/api/v1/executions/${attached.executionId}`)).status).toBe(200);
    const late = await EventStream.watch(client, attached.executionId);
    expect(await exit).toBe(0);
    for (const stream of [attached, far, late]) {
      expect(await stream.last()).toBe('data_ready');
      expect(stream.ids).toEqual(stream.blocks.map((_, index) => index + 1));
    }
    const page = await deployment.author.data('GET', `/api/v1/executions/${attached.executionId}/result`);
    expect(Number(page.total_rows)).toBe(1);
  });

  it('leaves in the trail how many refused keys it had no row for', async () => {
    const leaving = await deployment.addServer();
    const { id, key } = await deployment.admin.data('POST', '/api/v1/auth/api-keys', { name: 'guessed at' });
    const thief = ApiClient.withKey(leaving.baseUrl, `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`);
    for (let n = 0; n < 65; n++) expect((await thief.call('GET', '/api/v1/auth/me')).status).toBe(401);
    expect(await leaving.end('SIGTERM')).toBe(0);
    const rows = await deployment.metadata<{ suppressed: string | null }>(
      `SELECT details_json->>'suppressed' AS suppressed FROM audit_log
        WHERE event = 'auth.api_key.rejected' AND key_id = $1 ORDER BY id`,
      [id],
    );
    expect(rows.map(({ suppressed }) => suppressed)).toEqual([...Array<null>(60).fill(null), '5']);
  });

  it('cancels them if it may not wait: their watchers see why, the statement stops, nothing is left', async () => {
    const leaving = await deployment.addServer();
    const attached = await EventStream.run(on(leaving), scene.sleeping, { seconds: 60 });
    const far = await EventStream.watch(deployment.author, attached.executionId);
    await scene.untilSleeping(1);
    expect(await leaving.end('SIGTERM')).toBe(0);
    for (const stream of [attached, far]) {
      expect(await stream.until('execution_aborted')).toMatchObject({ reason: 'shutdown', status: 'ABORTED' });
      expect(await stream.last()).toBe('execution_aborted');
    }
    expect(await scene.sleepers()).toBe(0);
    expect(await scene.ended(attached.executionId)).toBe('ABORTED');
    expect(await scene.terminalEvents(attached.executionId)).toEqual(['execution_aborted']);
    const keys = await deployment.redis.client.keys('dp:*');
    expect(keys.filter((key) => /^dp:(slots|cancel):/.test(key))).toEqual([]);
    expect(leaving.output).not.toMatch(/unhandled|uncaught/i);
  });

  it('ends with 0 though clients hold connections open and watch a run of another server', async () => {
    const leaving = await deployment.addServer();
    const id = await scene.launch(deployment.author, scene.sleeping, { seconds: 60 });
    const watcher = await EventStream.watch(on(leaving), id);
    await watcher.until('node_started');
    expect(await leaving.end('SIGINT')).toBe(0);
    await watcher.ended;
    // The run is not its own, so it goes on, and the watcher resumes elsewhere.
    const resumed = await EventStream.watch(deployment.author, id, watcher.ids.at(-1));
    await deployment.author.data('DELETE', `/api/v1/executions/${id}`);
    expect(await resumed.until('execution_aborted')).toMatchObject({ reason: 'cancelled' });
  });

  it('ends at once with 1 at a second signal; one that comes along with the first is the same wish', async () => {
    const leaving = await deployment.addServer(PATIENT);
    const id = await scene.launch(on(leaving), scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    leaving.signal('SIGTERM');
    // As a terminal does: to the process and, through its parents, once more.
    leaving.signal('SIGINT');
    await eventuallyDraining(leaving);
    await delay(1100);
    expect(leaving.process.exitCode).toBeNull();
    expect(await leaving.end('SIGTERM')).toBe(1);
    // What it ran is left to the sweep.
    const [row] = await deployment.metadata('SELECT status FROM pipeline_executions WHERE execution_id = $1', [id]);
    expect(row).toEqual({ status: 'RUNNING' });
  });
});

async function eventuallyDraining(server: ServerProcess): Promise<void> {
  await eventually('the drain', () => server.output.includes('shutdown.readiness_refused'));
}

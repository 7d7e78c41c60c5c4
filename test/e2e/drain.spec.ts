import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import type { ServerProcess } from '../fixtures/server-process.js';

const BREAKABLE = { NODE_OPTIONS: `--require=${join(import.meta.dirname, '../fixtures/uncaught-exception.mjs')}` };
const PATIENT = { DATAPIPELINES_SHUTDOWN_DRAIN_WAIT_SECONDS: '60' };

describeWithProgram('redis-server', 'a server that is told to end', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  /** Two that may wait for what they run, and one that may not. */
  let patient: ServerProcess;
  let stubborn: ServerProcess;
  let hasty: ServerProcess;
  /** One that may wait too, and breaks at SIGUSR2. */
  let broken: ServerProcess;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    [scene, patient, stubborn, hasty, broken] = await Promise.all([
      RunScene.build(deployment),
      deployment.addServer(PATIENT),
      deployment.addServer(PATIENT),
      deployment.addServer(),
      deployment.addServer({ ...BREAKABLE, DATAPIPELINES_SHUTDOWN_DRAIN_WAIT_SECONDS: '600' }),
    ]);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  const on = ({ baseUrl }: ServerProcess) => deployment.author.on(baseUrl);

  /** Presents a wrong secret 65 times, of which the trail writes down 60 at once; the id of the key. */
  async function guessKeysOn(server: ServerProcess): Promise<string> {
    const { id, key } = await deployment.admin.data('POST', '/api/v1/auth/api-keys', { name: 'guessed at' });
    const thief = ApiClient.withKey(server.baseUrl, `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`);
    const answers = await Promise.all(Array.from({ length: 65 }, () => thief.call('GET', '/api/v1/auth/me')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    return id;
  }

  it('lets its runs finish while it takes no new ones, if it may wait', async () => {
    // A rolling deployment must not cost anybody a run.
    const leaving = patient;
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

  it('cancels them if it may not wait: their watchers see why, the statement stops, nothing is left', async () => {
    const attached = await EventStream.run(on(hasty), scene.sleeping, { seconds: 60 });
    const far = await EventStream.watch(deployment.author, attached.executionId);
    await scene.untilSleeping(1);
    // Connections that clients hold open, and a run of another server that is watched here, keep it from nothing.
    const elsewhere = await scene.launch(deployment.author, scene.sleeping, { seconds: 60 });
    const watcher = await EventStream.watch(on(hasty), elsewhere);
    await watcher.until('node_started');
    const guessed = await guessKeysOn(hasty);
    expect(await hasty.end('SIGINT')).toBe(0);
    for (const stream of [attached, far]) {
      expect(await stream.until('execution_aborted')).toMatchObject({ reason: 'shutdown', status: 'ABORTED' });
      expect(await stream.last()).toBe('execution_aborted');
    }
    expect(await scene.ended(attached.executionId)).toBe('ABORTED');
    expect(await scene.terminalEvents(attached.executionId)).toEqual(['execution_aborted']);
    // The other run goes on, and its watcher resumes elsewhere.
    await watcher.ended;
    await scene.untilSleeping(1);
    const resumed = await EventStream.watch(deployment.author, elsewhere, watcher.ids.at(-1));
    await deployment.author.data('DELETE', `/api/v1/executions/${elsewhere}`);
    expect(await resumed.until('execution_aborted')).toMatchObject({ reason: 'cancelled' });
    expect(await scene.sleepers()).toBe(0);
    const keys = await deployment.redis.client.keys('dp:*');
    expect(keys.filter((key) => /^dp:(slots|cancel):/.test(key))).toEqual([]);
    expect(hasty.output).not.toMatch(/unhandled|uncaught/i);
    // What it had counted and not yet written down is in the trail.
    const rows = await deployment.metadata<{ suppressed: string | null }>(
      `SELECT details_json->>'suppressed' AS suppressed FROM audit_log
        WHERE event = 'auth.api_key.rejected' AND key_id = $1 ORDER BY id`,
      [guessed],
    );
    expect(rows.map(({ suppressed }) => suppressed)).toEqual([...Array<null>(60).fill(null), '5']);
  });

  it('waits for no run after an uncaught exception, however patient it is: it records their end and exits with 1', async () => {
    const id = await scene.launch(on(broken), scene.sleeping, { seconds: 80 });
    await scene.untilSleeping(1);
    expect(await broken.end('SIGUSR2')).toBe(1);
    expect(broken.output).toContain('Uncaught exception: draining.');
    expect(await scene.ended(id)).toBe('ABORTED');
    expect(await scene.terminalEvents(id)).toEqual(['execution_aborted']);
    expect(await scene.sleepers()).toBe(0);
  });

  it('ends at once with 1 at a second signal; one that comes along with the first is the same wish', async () => {
    const leaving = stubborn;
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

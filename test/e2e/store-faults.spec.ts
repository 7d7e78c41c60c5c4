import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

describeWithProgram('redis-server', 'Redis fails under two servers', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  let onA: ApiClient;
  let onB: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 2,
      env: { DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1' },
    });
    scene = await RunScene.build(deployment);
    onA = deployment.author;
    onB = deployment.author.on(deployment.servers[1]!.baseUrl);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  /** Both servers say that all their stores answer, and serve. */
  const recovered = () =>
    eventually('both servers ready again', async () => {
      const answers = await Promise.all(
        [onA, onB].flatMap((client) => [client.call('GET', '/ready'), client.call('GET', '/api/v1/pipelines')]),
      );
      return answers.every(({ status }) => status === 200);
    });

  it('gone: requests are refused with the catalogued code, the servers live and say what is down', async () => {
    await deployment.redis.kill();
    try {
      for (const client of [onA, onB]) {
        await eventually('a server to notice', async () => (await client.call('GET', '/ready')).status === 503);
        const health = await client.call('GET', '/health');
        expect([health.status, health.body]).toMatchObject([200, { status: 'DOWN', components: { redis: 'DOWN' } }]);
        const refused = await client.call('GET', '/api/v1/pipelines');
        expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit.unavailable']);
        expect(refused.headers.get('Retry-After')).not.toBeNull();
        const launch = await client.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
        expect([launch.status, launch.body.error.code]).toEqual([429, 'rate_limit.unavailable']);
        const query = '{ instance { version } system { runsInFlight instances { id } } }';
        const system = await client.call('POST', '/graphql', { query });
        expect([system.status, system.body.errors[0].extensions.code]).toEqual([429, 'rate_limit.unavailable']);
      }
    } finally {
      await deployment.redis.restart();
    }
    await recovered();
  });

  it('killed during a run that has rows for a caller: the run fails with the reason, on its live stream too', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 1 });
    await scene.untilSleeping(1);
    await deployment.redis.kill();
    try {
      const failed = await stream.until('pipeline_failed');
      expect(failed.error.code).toBe('result.storage_unavailable');
      expect(await stream.last()).toBe('pipeline_failed');
    } finally {
      await deployment.redis.restart();
    }
    expect(await scene.ended(stream.executionId)).toBe('FAILED');
    expect(await scene.terminalEvents(stream.executionId)).toEqual(['pipeline_failed']);
    await recovered();
    // The log is told again from the table, on every instance.
    const replay = await EventStream.watch(onB, stream.executionId);
    await replay.last();
    expect(replay.frames).toEqual(stream.frames);
    const result = await onB.call('GET', `/api/v1/executions/${stream.executionId}/result`);
    expect([result.status, result.body.error.code]).toEqual([410, 'result.execution_failed']);
  });

  it('killed and back, empty, during a run without a caller: the run succeeds and nobody misses an event', async () => {
    const stream = await EventStream.run(onA, scene.silent, { seconds: 1.2 });
    const far = await EventStream.watch(onB, stream.executionId);
    await scene.untilSleeping(2);
    await deployment.redis.kill();
    await deployment.redis.restart();
    await recovered();
    expect(await stream.last()).toBe('pipeline_completed');
    expect(await far.last()).toBe('pipeline_completed');
    expect(far.frames).toEqual(stream.frames);
    expect(stream.ids).toEqual(stream.blocks.map((_, index) => index + 1));
    expect(await scene.ended(stream.executionId)).toBe('SUCCESS');
  });

  it('loses results and says so: an expired result is 410, never an empty page', async () => {
    const stream = await EventStream.run(onA, scene.quick);
    await stream.last();
    await deployment.redis.kill();
    await deployment.redis.restart();
    await recovered();
    const result = await onB.call('GET', `/api/v1/executions/${stream.executionId}/result`);
    expect([result.status, result.body.error.code]).toEqual([410, 'result.expired']);
    const replay = await EventStream.watch(onB, stream.executionId);
    expect(await replay.until('data_ready')).toMatchObject({ rows: [], rows_omitted: true });
  });

  it('killed and back under a burst: every request is answered, by success or by a catalogued refusal', async () => {
    const answers: Promise<Answer>[] = [];
    let launching = true;
    const burst = (async () => {
      for (let n = 0; launching || n < 60; n += 1) {
        const client = n % 2 === 0 ? onA : onB;
        const launch = n % 5 === 0;
        answers.push(
          launch
            ? client.call('POST', `/api/v1/pipelines/${n % 10 === 0 ? scene.quick : scene.staged}/execute`, {
                parameters: n % 10 === 0 ? {} : { rows: 500 },
              })
            : client.call('GET', '/api/v1/pipelines'),
        );
        await delay(8);
      }
    })();
    await delay(150);
    await deployment.redis.kill();
    await delay(300);
    await deployment.redis.restart();
    await recovered();
    launching = false;
    await burst;
    const seen = new Set(
      (await Promise.all(answers)).map(({ status, body }) => `${status} ${body?.error?.code ?? ''}`),
    );
    const allowed = ['200 ', '429 rate_limit.unavailable', '429 pipeline.execution.concurrency_limit'];
    expect([...seen].filter((each) => !allowed.includes(each))).toEqual([]);
    expect(seen).toContain('200 ');
    expect(seen).toContain('429 rate_limit.unavailable');
    await settled();
  });

  it('full: it refuses writes instead of forgetting, and the run says so', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 0.7 });
    await scene.untilSleeping(1);
    await deployment.redis.client.config('SET', 'maxmemory', '1');
    try {
      expect((await stream.until('pipeline_failed')).error.code).toBe('result.storage_unavailable');
      const refused = await onB.call('GET', '/api/v1/pipelines');
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit.unavailable']);
    } finally {
      await deployment.redis.client.config('SET', 'maxmemory', '0');
    }
    await recovered();
    await settled();
  });

  it('frozen: nothing hangs, what needs it is refused, what does not goes on', async () => {
    const stream = await EventStream.run(onA, scene.silent, { seconds: 1 });
    await scene.untilSleeping(2);
    await deployment.redis.freeze();
    try {
      const answers = await Promise.all([onA, onB].map((client) => client.call('GET', '/api/v1/pipelines')));
      expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
        [429, 'rate_limit.unavailable'],
        [429, 'rate_limit.unavailable'],
      ]);
      expect(await stream.last()).toBe('pipeline_completed');
    } finally {
      deployment.redis.thaw();
    }
    await recovered();
    const far = await EventStream.watch(onB, stream.executionId);
    await far.last();
    expect(far.frames).toEqual(stream.frames);
    await settled();
  });

  it('frozen when a server is told to end: it records the end of its run and ends with 0', async () => {
    const leaving = await deployment.addServer();
    const id = await scene.launch(onA.on(leaving.baseUrl), scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    await deployment.redis.freeze();
    try {
      expect(await leaving.end('SIGTERM')).toBe(0);
    } finally {
      deployment.redis.thaw();
    }
    expect([await scene.ended(id), await scene.terminalEvents(id)]).toEqual(['ABORTED', ['execution_aborted']]);
    await recovered();
    const replay = await EventStream.watch(onB, id);
    expect(await replay.until('execution_aborted')).toMatchObject({ reason: 'shutdown' });
  });

  it('ran all this without an unhandled failure', () => {
    for (const { output, process: child } of deployment.servers.slice(0, 2)) {
      expect(child.exitCode).toBeNull();
      expect(output).not.toMatch(/unhandled|uncaught/i);
    }
  });

  /** Every run has ended in one terminal state with one terminal event, and holds nothing any more. */
  async function settled(): Promise<void> {
    await eventually('the end of every run', async () => {
      const [row] = await deployment.metadata<{ n: number }>(
        `SELECT count(*)::int AS n FROM pipeline_executions WHERE status = 'RUNNING'`,
      );
      return row?.n === 0;
    });
    expect(
      await deployment.metadata(
        `SELECT e.execution_id, e.status, count(v.event_id)::int AS terminals
           FROM pipeline_executions e LEFT JOIN execution_events v ON v.execution_id = e.execution_id
                AND v.event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted')
          GROUP BY e.execution_id HAVING count(v.event_id) <> 1`,
      ),
    ).toEqual([]);
  }
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { OwnPostgres } from '../fixtures/own-postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import { ask } from '../fixtures/sql.js';

const OWN_CONNECTIONS = `FROM pg_stat_activity WHERE application_name LIKE 'penstock%' AND pid <> pg_backend_pid()`;

describeWithProgram('redis-server', 'PostgreSQL fails under two servers', (redis) => {
  let postgres: OwnPostgres;
  let deployment: Deployment;
  let scene: RunScene;
  let onA: ApiClient;
  let onB: ApiClient;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    deployment = await Deployment.start({
      redis,
      database: postgres,
      servers: 2,
      env: {
        DATAPIPELINES_EXECUTOR_HEARTBEAT_SECONDS: '1',
        DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '200',
      },
    });
    scene = await RunScene.build(deployment);
    onA = deployment.author;
    onB = deployment.author.on(deployment.servers[1]!.baseUrl);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  const recovered = () =>
    eventually('both servers ready again', async () => {
      const answers = await Promise.all([onA, onB].map((client) => client.call('GET', '/ready')));
      return answers.every(({ status }) => status === 200);
    });

  it('every session ended by the operator, again and again, under runs and requests: each ends in one way', async () => {
    const answers: Promise<Answer>[] = [];
    const launches: Promise<string | undefined>[] = [];
    for (let n = 0; n < 60; n += 1) {
      const client = n % 2 === 0 ? onA : onB;
      answers.push(client.call('GET', '/api/v1/pipelines'));
      launches.push(
        client
          .call(
            'POST',
            `/api/v1/pipelines/${n % 3 === 0 ? scene.staged : scene.quick}/execute`,
            { parameters: n % 3 === 0 ? { rows: 3000 } : {} },
            { headers: { Prefer: 'respond-async' } },
          )
          .then((answer) => {
            if (answer.status === 202) return answer.body.data.execution_id as string;
            answers.push(Promise.resolve(answer));
            return undefined;
          }),
      );
      if (n % 12 === 5) await ask(postgres.superuserUrl, `SELECT pg_terminate_backend(pid) ${OWN_CONNECTIONS}`);
      await delay(10);
    }
    const ids = (await Promise.all(launches)).filter((id) => id !== undefined);
    expect(ids.length).toBeGreaterThan(10);
    const ends = await Promise.all(ids.map((id) => scene.ended(id)));
    expect(ends.filter((end) => end !== 'SUCCESS' && end !== 'FAILED')).toEqual([]);
    await oneEndEach();
    expect(await codes(answers)).toEqual(expect.arrayContaining(['200']));
    expect((await codes(answers)).filter((each) => !EXPECTED.has(each))).toEqual([]);
    await recovered();
  });

  it('restarted under a run: it outlives the outage and its end is recorded when the database is back', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 1.5 });
    const far = await EventStream.watch(onB, stream.executionId);
    await scene.untilSleeping(1);
    await postgres.stop();
    try {
      for (const client of [onA, onB]) {
        await eventually('a server to notice', async () => (await client.call('GET', '/ready')).status === 503);
        const health = await client.call('GET', '/health');
        expect([health.status, health.body]).toMatchObject([200, { status: 'DOWN', components: { database: 'DOWN' } }]);
        const refused = await client.call('GET', '/api/v1/pipelines');
        expect(EXPECTED).toContain(`${refused.status} ${refused.body.error.code}`);
        expect(refused.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1|terminating connection/);
        const launch = await client.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
        expect(EXPECTED).toContain(`${launch.status} ${launch.body.error.code}`);
      }
      // Long enough for the statement to end while nothing can be recorded.
      await scene.untilSleeping(0);
      await delay(500);
      expect(stream.events).not.toContain('pipeline_completed');
    } finally {
      await postgres.startAgain();
    }
    await recovered();
    expect(await stream.last()).toBe('data_ready');
    expect(await far.last()).toBe('data_ready');
    expect(stream.ids).toEqual(stream.blocks.map((_, index) => index + 1));
    expect(far.frames).toEqual(stream.frames);
    expect(await scene.ended(stream.executionId)).toBe('SUCCESS');
    await oneEndEach();
  });

  it('lost without a word: connections that broke are not used again', async () => {
    const stream = await EventStream.run(onB, scene.sleeping, { seconds: 1 });
    await scene.untilSleeping(1);
    postgres.cut();
    expect(await stream.last()).toBe('data_ready');
    await recovered();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => (n % 2 ? onA : onB).call('GET', '/api/v1/pipelines')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200));
  });

  it('read-only for a while, as in a failover: the run’s end waits for a database that takes it', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 1 });
    await scene.untilSleeping(1);
    await readOnly('on');
    try {
      await eventually('every session to be told', async () => {
        const launch = await onA.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
        const [told] = await codes([Promise.resolve(launch)]);
        expect(EXPECTED).toContain(told);
        return told === '500 pipeline.execution.aborted';
      });
      await scene.untilSleeping(0);
      await delay(500);
      expect(stream.events).not.toContain('pipeline_completed');
    } finally {
      await readOnly('off');
    }
    expect(await stream.last()).toBe('data_ready');
    expect(await scene.ended(stream.executionId)).toBe('SUCCESS');
    await recovered();
    await oneEndEach();
  });

  it('a source that ends a run’s session fails the node with the reason, and the next run has a new connection', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    await ask(
      scene.source.superuserUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const failed = await stream.until('pipeline_failed');
    expect(failed.failed_node_id).toBe('read');
    expect(['pipeline.node.datasource_connection_failed', 'pipeline.node.query_execution_failed']).toContain(
      failed.error.code,
    );
    const next = await EventStream.run(onA, scene.quick);
    expect(await next.last()).toBe('data_ready');
  });

  it('a server told to end while the database is away ends all the same; the sweep ends its run later', async () => {
    const leaving = await deployment.addServer({ DATAPIPELINES_SERVER_SHUTDOWN_DRAIN_SECONDS: '1' });
    const id = await scene.launch(onA.on(leaving.baseUrl), scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    await postgres.stop();
    try {
      expect(await leaving.end('SIGTERM')).toBe(0);
      // The statement is not in the database that is away, and was stopped.
      await scene.untilSleeping(0);
    } finally {
      await postgres.startAgain();
    }
    expect(await scene.ended(id)).toBe('ABORTED');
    expect(await scene.terminalEvents(id)).toEqual(['execution_aborted']);
    const replay = await EventStream.watch(onB, id);
    expect(await replay.until('execution_aborted')).toMatchObject({ reason: 'instance_lost' });
    await recovered();
  }, 60_000);

  it('reaps no live run: only that one was taken for lost, and no process died', async () => {
    const lost = await deployment.metadata(
      `SELECT execution_id FROM pipeline_executions WHERE error_json->>'code' = 'pipeline.execution.instance_lost'`,
    );
    expect(lost).toHaveLength(1);
    for (const { output, process: child } of deployment.servers.slice(0, 2)) {
      expect(child.exitCode).toBeNull();
      expect(output).not.toMatch(/unhandled|uncaught/i);
    }
  });

  async function readOnly(value: 'on' | 'off'): Promise<void> {
    await ask(postgres.superuserUrl, `ALTER ROLE penstock SET default_transaction_read_only = ${value}`);
    await ask(postgres.superuserUrl, `SELECT pg_terminate_backend(pid) ${OWN_CONNECTIONS}`);
  }

  /** Every run has one terminal state and one terminal event. */
  async function oneEndEach(): Promise<void> {
    expect(
      await deployment.metadata(
        `SELECT e.execution_id, e.status, count(v.event_id)::int AS terminals
           FROM pipeline_executions e LEFT JOIN execution_events v ON v.execution_id = e.execution_id
                AND v.event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted')
          GROUP BY e.execution_id HAVING e.status = 'RUNNING' OR count(v.event_id) <> 1`,
      ),
    ).toEqual([]);
  }
});

/** What a caller may be told while the metadata database is away. */
const EXPECTED = new Set(['200', '503 server.unavailable', '500 pipeline.execution.aborted']);

async function codes(answers: readonly Promise<Answer>[]): Promise<string[]> {
  const seen = (await Promise.all(answers)).map(({ status, body }) =>
    body?.error ? `${status} ${body.error.code}` : String(status),
  );
  return [...new Set(seen)];
}

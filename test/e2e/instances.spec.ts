import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { oneNodePipeline, releasedTemplate } from '../fixtures/authoring.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import { ask } from '../fixtures/sql.js';

/** Runs a person may have at once, over all instances. */
const SLOTS = 4;
/** A notice from the other instance takes a moment; without one a cache lives for a minute. */
const NOTICE_MS = 10_000;

describeWithProgram('redis-server', 'two servers behind one address', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  let onA: ApiClient;
  let onB: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 2,
      env: { DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: String(SLOTS) },
    });
    scene = await RunScene.build(deployment);
    onA = deployment.author;
    onB = deployment.author.on(deployment.servers[1]!.baseUrl);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  it('show one run the same, block for block, whichever is asked and wherever one resumes', async () => {
    // A console behind a balancer watches on another instance than the one that runs; a lost or doubled event there
    // is a node that never ends on the screen.
    const started = await EventStream.run(onA, scene.staged, { rows: 5000 });
    const live = await EventStream.watch(onB, started.executionId);
    await Promise.all([started.last(), live.last()]);
    expect(started.ids).toEqual(started.blocks.map((_, index) => index + 1));
    expect(started.events.slice(-2)).toEqual(['pipeline_completed', 'data_ready']);
    expect(live.blocks).toEqual(started.blocks);
    for (const client of [onA, onB]) {
      for (let after = 0; after < started.blocks.length; after += 1) {
        const resumed = await EventStream.watch(client, started.executionId, after);
        await resumed.last();
        expect(resumed.blocks).toEqual(started.blocks.slice(after));
      }
    }
  });

  it('let a watcher change the instance in mid-run and miss nothing', async () => {
    const started = await EventStream.run(onA, scene.sleeping, { seconds: 0.8 });
    const first = await EventStream.watch(onB, started.executionId);
    await first.until('node_started');
    first.drop();
    const second = await EventStream.watch(onB, started.executionId, first.ids.at(-1));
    await Promise.all([started.last(), second.last()]);
    expect([...first.blocks, ...second.blocks]).toEqual(started.blocks);
  });

  it('tell an open editor on one what somebody saves, releases and takes away on the other', async () => {
    await releasedTemplate(onA, { id: 'instances/edited.sql', dialect: 'DUCKDB', body: 'SELECT 1 AS n' });
    const node = { id: 'read', type: 'DQL', source: 'tempdb', template: { id: 'instances/edited.sql', version: 1 } };
    const document = {
      schema_version: 1,
      name: 'instances/edited',
      display_name: 'Edited',
      description: '',
      nodes: [node],
    };
    const before = await onA.data('POST', '/api/v1/pipelines', document);
    const made: string = before.id;
    const path = `/api/v1/pipelines/${made}`;
    const editor = await EventStream.open(onB, 'POST', '/graphql/stream', {
      query:
        'subscription($id: ID!) { contentChanged(pipelineId: $id) { pipelineId version status bodyHash updatedAt updatedBy { displayName } } }',
      variables: { id: made },
    });
    const told = async (count: number) => {
      const block = await eventually(`change ${count} of the open pipeline`, () => editor.blocks[count - 1]);
      return JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '').data.contentChanged;
    };
    expect(await told(1)).toMatchObject({ pipelineId: made, version: 1, status: 'DRAFT', bodyHash: before.body_hash });
    const saved = await onA.data(
      'PUT',
      path,
      { ...document, description: 'More.' },
      { headers: { 'If-Match': before.body_hash } },
    );
    expect(saved.body_hash).not.toBe(before.body_hash);
    expect(await told(2)).toMatchObject({
      version: 1,
      status: 'DRAFT',
      bodyHash: saved.body_hash,
      updatedAt: saved.version_stamps.updated_at,
      updatedBy: { displayName: expect.any(String) },
    });
    await deployment.admin.in('default').data('DELETE', path);
    expect(await editor.last()).toBe('complete');
    expect(editor.blocks.at(-2)).toContain('pipeline.execution.not_found');
  });

  it('cancel from the one that does not run it, and the statement really stops in the database', async () => {
    const id = await scene.launch(onA, scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    const [near, far] = await Promise.all([EventStream.watch(onA, id), EventStream.watch(onB, id)]);
    expect((await onB.call('DELETE', `/api/v1/executions/${id}`)).status).toBe(204);
    await scene.untilSleeping(0);
    for (const stream of [near, far]) {
      expect(await stream.until('execution_aborted')).toMatchObject({ reason: 'cancelled', status: 'ABORTED' });
      expect(await stream.last()).toBe('execution_aborted');
    }
    expect([await scene.ended(id), await scene.terminalEvents(id)]).toEqual(['ABORTED', ['execution_aborted']]);
    const again = await onB.call('DELETE', `/api/v1/executions/${id}`);
    expect([again.status, again.body.error.code]).toEqual([409, 'pipeline.execution.not_running']);
  });

  it('start one run for one idempotency key, however many ask at once on both', async () => {
    // A client that retries over a balancer must not pay twice.
    const count = async () =>
      (await deployment.metadata<{ n: number }>('SELECT count(*)::int AS n FROM pipeline_executions'))[0]?.n ?? 0;
    const before = await count();
    const rounds = 6;
    for (let round = 0; round < rounds; round += 1) {
      const headers = { 'Idempotency-Key': `order-${round}` };
      const streams = await Promise.all(
        [onA, onB, onA, onB].map((client) => EventStream.run(client, scene.quick, {}, { headers })),
      );
      await Promise.all(streams.map((stream) => stream.last()));
      const [first] = streams;
      for (const stream of streams) {
        expect([stream.executionId, stream.frames]).toEqual([first?.executionId, first?.frames]);
      }
      const replayed = streams.map(({ response }) => response.headers.get('Idempotent-Replayed') ?? 'false');
      expect(replayed.sort()).toEqual(['false', 'true', 'true', 'true']);
    }
    expect((await count()) - before).toBe(rounds);
  });

  it('count a person’s runs together, and give the slots back', async () => {
    // Counted per process, the limit would grow with every replica.
    const clients = [onA, onB, onA, onB];
    const ids = await Promise.all(clients.map((client) => scene.launch(client, scene.sleeping, { seconds: 60 })));
    for (const client of [onA, onB]) {
      const refused = await client.call('POST', `/api/v1/pipelines/${scene.quick}/execute`, {});
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
      expect(refused.body.error.code).toBe('pipeline.execution.concurrency_limit');
      expect(refused.body.error.details.scope).toBe('per_user');
    }
    await Promise.all(ids.map((id, index) => clients[index]!.data('DELETE', `/api/v1/executions/${id}`)));
    await Promise.all(ids.map((id) => scene.ended(id)));
    await eventually(
      'all slots given back',
      async () => (await deployment.redis.client.keys('dp:slots:*')).length === 0,
    );
    const freed = await EventStream.run(onB, scene.quick);
    expect(await freed.last()).toBe('data_ready');
  });

  it('refuse a revoked key: where it was revoked from the answer on, elsewhere from the notice on, and for good', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { key, api_key } = await mint(deployment, `short-lived-${round}`);
      const [first, second] = deployment.servers.map(({ baseUrl }) => ApiClient.withKey(baseUrl, key));
      expect((await first!.call('GET', '/api/v1/pipelines')).status).toBe(200);
      expect((await second!.call('GET', '/api/v1/pipelines')).status).toBe(200);
      await deployment.admin.in('default').data('DELETE', `/api/v1/auth/api-keys/${api_key}`);
      expect((await first!.call('GET', '/api/v1/pipelines')).status).toBe(401);
      const other = async () => (await second!.call('GET', '/api/v1/pipelines')).status;
      await eventually('the notice', async () => (await other()) === 401, NOTICE_MS);
      expect(await Promise.all([other(), other(), other()])).toEqual([401, 401, 401]);
    }
  });

  it('leave no pool on old credentials: after the change not one query runs under the old role', async () => {
    const roles = [`old_${scene.source.name}`, `new_${scene.source.name}`] as const;
    await ask(
      scene.source.superuserUrl,
      `CREATE ROLE ${roles[0]} LOGIN PASSWORD 'first'; CREATE ROLE ${roles[1]} LOGIN PASSWORD 'second'`,
    );
    try {
      const { host, pathname } = new URL(scene.source.url);
      const body = (username: string, secret: string) => ({
        name: 'rotated',
        display_name: 'Rotated',
        dialect: 'POSTGRES',
        jdbc_url: `jdbc:postgresql://${host}${pathname}`,
        credential: { kind: 'password', username, secret },
      });
      const admin = deployment.admin.in('default');
      await admin.data('POST', '/api/v1/datasources', body(roles[0], 'first'));
      const pipeline = await oneNodePipeline(onA, {
        ...{ name: 'run/who', source: 'rotated', dialect: 'POSTGRES', sql: 'SELECT current_user::text AS who' },
      });
      const who = async (client: ApiClient): Promise<string> => {
        const stream = await EventStream.run(client, pipeline);
        return String((await stream.until('data_ready')).rows[0][0]);
      };
      expect([await who(onA), await who(onB)]).toEqual([roles[0], roles[0]]);
      await admin.data('PUT', '/api/v1/datasources/rotated', body(roles[1], 'second'));
      expect(await who(onA)).toBe(roles[1]);
      await eventually('the notice', async () => (await who(onB)) === roles[1], NOTICE_MS);
      expect([await who(onB), await who(onA), await who(onB)]).toEqual([roles[1], roles[1], roles[1]]);
      const left = await eventually('the end of the old connections', async () => {
        const rows = await ask(scene.source.superuserUrl, 'SELECT pid FROM pg_stat_activity WHERE usename = $1', [
          roles[0],
        ]);
        return rows.length === 0 && rows;
      });
      expect(left).toEqual([]);
      await admin.data('PUT', '/api/v1/datasources/rotated', body(roles[1], 'wrong'));
      const refused = await EventStream.run(onA, pipeline);
      expect(await refused.last()).toBe('pipeline_failed');
      expect((await refused.until('pipeline_failed')).error.code).toBe('pipeline.execution.datasource_unreachable');
    } finally {
      await ask(
        scene.source.superuserUrl,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY ($1)`,
        [[...roles]],
      );
      await ask(scene.source.superuserUrl, `DROP ROLE ${roles.join(', ')}`);
    }
  });

  it('serve what the other published, and no longer what it took back', async () => {
    await onA.data('POST', '/api/v1/endpoints', { path: '/run/quick', pipeline: 'run/quick' });
    const { key } = await mint(deployment, 'caller', { kind: 'endpoint', bindings: ['/run'] });
    const app = ApiClient.withKey(deployment.servers[1]!.baseUrl, key);
    const served = await eventually(
      'the notice',
      async () => {
        const answer = await app.call('GET', '/api/x/run/quick');
        return answer.status === 200 && answer;
      },
      NOTICE_MS,
    );
    expect(served.body.rows.map(String)).toEqual(['1']);
    await onA.data('DELETE', `/api/v1/endpoints?path=/run/quick`);
    await eventually('the notice', async () => (await app.call('GET', '/api/x/run/quick')).status === 404, NOTICE_MS);
  });

  it('ran all this without an unhandled failure', () => {
    for (const { output } of deployment.servers) expect(output).not.toMatch(/unhandled|uncaught/i);
  });
});

async function mint(
  deployment: Deployment,
  name: string,
  body: Record<string, unknown> = { scopes: ['read'] },
): Promise<{ key: string; api_key: string }> {
  const created = await deployment.admin.in('default').data('POST', '/api/v1/auth/api-keys', { name, ...body });
  return { key: created.key, api_key: created.id };
}

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { data } from '../fixtures/graphql.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

interface Member {
  id: string;
  depth: number;
  status: string;
  code: string | null;
  endings: string[];
}

describeWithProgram('redis-server', 'pipelines that call pipelines, over three servers', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  /** By what happens to them. */
  let owner: ApiClient;
  let other: ApiClient;
  /** grandparent → parent → `run/sleeping`, which sleeps `seconds` in the source and returns a row. */
  let sleeping: string;

  const calling = (name: string, child: string) =>
    releasedPipeline(deployment.author, {
      name,
      parameters: { seconds: { type: 'DECIMAL', precision: 6, scale: 2, required: true } },
      nodes: [
        {
          id: 'call',
          type: 'PIPELINE',
          pipeline: { name: child, version: 1 },
          parameters: { seconds: '${seconds}' },
          output: { target: 'caller' },
        },
      ],
    });

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 3,
      env: { DATAPIPELINES_EXECUTOR_HEARTBEAT_SECONDS: '1' },
    });
    scene = await RunScene.build(deployment);
    [owner, other] = [0, 1].map((at) => deployment.author.on(deployment.servers[at]!.baseUrl)) as [
      ApiClient,
      ApiClient,
    ];
    await calling('family/parent', 'run/sleeping');
    sleeping = await calling('family/grandparent', 'family/parent');
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  /** Root first. */
  const family = (root: string): Promise<Member[]> =>
    deployment.metadata<Member & Record<string, unknown>>(
      `WITH RECURSIVE f AS (
         SELECT e.execution_id, 1 AS depth FROM pipeline_executions e WHERE e.execution_id = $1
         UNION ALL
         SELECT e.execution_id, f.depth + 1 FROM pipeline_executions e JOIN f ON e.parent_execution_id = f.execution_id)
       SELECT e.execution_id AS id, f.depth, e.status, e.error_json->>'code' AS code,
              ARRAY(SELECT v.event_type FROM execution_events v WHERE v.execution_id = e.execution_id
                     AND v.event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted')) AS endings
         FROM f JOIN pipeline_executions e USING (execution_id) WHERE e.root_execution_id = $1 ORDER BY f.depth`,
      [root],
    );

  it('show their lineage over REST and GraphQL, and nothing of it to another workspace', async () => {
    const run = await EventStream.run(owner, sleeping, { seconds: 0.01 });
    expect(await run.last()).toBe('data_ready');
    const root = run.executionId;
    const [, middle, leaf] = await family(root);
    const view = await other.data('GET', `/api/v1/executions/${middle!.id}`);
    expect(view).toMatchObject({
      parent_execution_id: root,
      parent_node_id: 'call',
      root_execution_id: root,
      triggered_via: 'PIPELINE',
      result_row_count: null,
      node_stats: [{ node_id: 'call', child_execution_id: leaf!.id }],
    });
    expect(view.result_url ?? null).toBeNull();
    const listed = async (query: string) =>
      (await other.data('GET', `/api/v1/executions?${query}`)).items.map(
        ({ execution_id: id }: { execution_id: string }) => id,
      );
    expect(await listed(`root_execution_id=${root}`)).toEqual([leaf!.id, middle!.id, root]);
    expect(await listed(`root_execution_id=${root}&triggered_via=PIPELINE`)).toEqual([leaf!.id, middle!.id]);
    expect(await listed(`root_execution_id=${middle!.id}`)).toEqual([]);

    const { execution, executions } = await data(
      other,
      `query($id: ID!, $root: ID!) {
         execution(id: $id) {
           parentNodeId triggeredVia parent { id root { id } } root { id parent { id } }
           children { totalCount nodes { id pipeline { name } children { totalCount } } }
           nodeStats { nodeId childExecutionId }
         }
         executions(filter: { rootExecutionId: $root, triggeredVia: PIPELINE }) { totalCount nodes { id } }
       }`,
      { id: middle!.id, root },
    );
    expect(execution).toEqual({
      parentNodeId: 'call',
      triggeredVia: 'PIPELINE',
      parent: { id: root, root: { id: root } },
      root: { id: root, parent: null },
      children: {
        totalCount: expect.anything(),
        nodes: [expect.objectContaining({ id: leaf!.id, pipeline: { name: 'run/sleeping' } })],
      },
      nodeStats: [{ nodeId: 'call', childExecutionId: leaf!.id }],
    });
    expect(executions.nodes.map(({ id }: { id: string }) => id)).toEqual([leaf!.id, middle!.id]);

    await deployment.admin.data('POST', '/api/v1/workspaces', { name: 'elsewhere', display_name: 'Elsewhere' });
    const foreign = deployment.admin.in('elsewhere');
    for (const id of [root, middle!.id, leaf!.id]) {
      const answer = await foreign.call('GET', `/api/v1/executions/${id}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'result.execution_not_found']);
    }
    expect((await foreign.data('GET', `/api/v1/executions?root_execution_id=${root}`)).items).toEqual([]);
    const theft = await foreign.call('POST', '/api/v1/pipelines', {
      ...{ name: 'family/theft', display_name: 'T', description: '', parameters: {} },
      nodes: [{ id: 'call', type: 'PIPELINE', pipeline: { name: 'family/parent', version: 1 } }],
    });
    expect([theft.status, theft.body.error.code]).toEqual([400, 'pipeline.validation.pipeline_not_found']);
  });

  it('are served as an endpoint as long as every pipeline below only reads', async () => {
    const { author } = deployment;
    await releasedTemplate(author, { id: 'family/wipe.sql', dialect: 'POSTGRES', body: 'DELETE FROM nothing' });
    await releasedPipeline(author, {
      name: 'family/wiping',
      nodes: [{ id: 'wipe', type: 'DML', source: 'source', template: { id: 'family/wipe.sql', version: 1 } }],
    });
    await releasedPipeline(author, {
      name: 'family/innocent',
      nodes: [{ id: 'call', type: 'PIPELINE', pipeline: { name: 'family/wiping', version: 1 } }],
    });
    const refused = await author.call('POST', '/api/v1/endpoints', { path: '/innocent', pipeline: 'family/innocent' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'endpoint.pipeline_not_readonly']);
    expect(refused.body.error.details).toMatchObject({ node_id: 'call', datasource: 'source' });

    await author.data('POST', '/api/v1/endpoints', { path: '/asleep', pipeline: 'family/grandparent' });
    const { key } = await deployment.admin
      .in('default')
      .data('POST', '/api/v1/auth/api-keys', { name: 'caller', kind: 'endpoint', bindings: ['/asleep'] });
    const served = await ApiClient.withKey(owner.baseUrl, key).call('GET', '/api/x/asleep?seconds=0.01');
    expect([served.status, served.body]).toMatchObject([200, { rows: [['']] }]);
    const root = served.headers.get('DP-Execution-Id') ?? '';
    expect((await family(root)).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    const wrong = await ApiClient.withKey(owner.baseUrl, key).call('GET', '/api/x/asleep?seconds=soon');
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'endpoint.request.invalid']);
  });

  it('are watched from any server, parent and child alike, in gap-free numbers', async () => {
    const root = await scene.launch(owner, sleeping, { seconds: 0.5 });
    const middle = await eventually('the child', async () => (await family(root))[1]?.id);
    const streams = await Promise.all(
      [root, middle].flatMap((id) => [EventStream.watch(owner, id), EventStream.watch(other, id)]),
    );
    for (const stream of streams) {
      await stream.last();
      expect(stream.ids).toEqual(stream.ids.map((_, at) => at + 1));
    }
    const [near, far, childNear, childFar] = streams as [EventStream, EventStream, EventStream, EventStream];
    expect(far.blocks).toEqual(near.blocks);
    expect(childFar.blocks).toEqual(childNear.blocks);
    expect(await near.until('node_completed')).toMatchObject({ node_id: 'call', child_execution_id: middle });
    expect(near.events.at(-1)).toBe('data_ready');
    // A child stores no result of its own: there is nothing to announce.
    expect(childNear.events.at(-1)).toBe('pipeline_completed');
  });

  it('end whole when the root is cancelled on another server, down to the statement in the source', async () => {
    const root = await scene.launch(owner, sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    expect((await other.call('DELETE', `/api/v1/executions/${root}`)).status).toBe(204);
    await scene.untilSleeping(0);
    await scene.ended(root);
    const ended = { status: 'ABORTED', code: null, endings: ['execution_aborted'] };
    expect(await family(root)).toMatchObject([ended, ended, ended]);
    for (const { id } of await family(root)) {
      const stream = await EventStream.watch(other, id);
      expect(await stream.until('execution_aborted')).toMatchObject({ reason: 'cancelled' });
    }
  });

  it('fail at the calling node when a child is cancelled on another server, and the parent says which', async () => {
    const root = await scene.launch(owner, sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    const leaf = (await family(root))[2]!;
    expect((await other.call('DELETE', `/api/v1/executions/${leaf.id}`)).status).toBe(204);
    expect(await scene.ended(root)).toBe('FAILED');
    const { error } = await other.data('GET', `/api/v1/executions/${root}`);
    expect(error).toMatchObject({
      code: 'pipeline.node.child_execution_failed',
      details: {
        path: [
          { pipeline: 'family/parent', node: 'call' },
          { pipeline: 'run/sleeping', execution_id: leaf.id },
        ],
      },
    });
    expect((await family(root)).map(({ status }) => status)).toEqual(['FAILED', 'FAILED', 'ABORTED']);
    await scene.untilSleeping(0);
  });

  it('are lost together, each once, when their server is killed in the middle of the child', async () => {
    const root = await scene.launch(owner, sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    const members = await family(root);
    const watchers = await Promise.all(members.map(({ id }) => EventStream.watch(other, id)));
    await deployment.servers[0]!.end('SIGKILL');
    for (const watcher of watchers) {
      expect(await watcher.until('execution_aborted')).toMatchObject({ reason: 'instance_lost', status: 'ABORTED' });
      expect(await watcher.last()).toBe('execution_aborted');
      expect(watcher.ids).toEqual(watcher.ids.map((_, at) => at + 1));
    }
    // Two servers sweep: whoever comes second finds nothing left to end.
    const lost = { status: 'ABORTED', code: 'pipeline.execution.instance_lost', endings: ['execution_aborted'] };
    expect(await family(root)).toMatchObject([lost, lost, lost]);
    const again = await EventStream.run(other, sleeping, { seconds: 0.01 });
    expect(await again.last()).toBe('data_ready');
  });

  it('ran all this without an unhandled failure', () => {
    for (const { output } of deployment.servers) expect(output).not.toMatch(/unhandled|uncaught/i);
  });
});

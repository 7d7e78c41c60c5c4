import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline, releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

/** Stays inside the engine until somebody stops it. */
const ENDLESS = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b';

const THREADS = {
  DATAPIPELINES_EXECUTOR_HOST: 'threads',
  DATAPIPELINES_EXECUTOR_HOST_THREADS: '2',
  DATAPIPELINES_EXECUTOR_HOST_THREAD_HEAP_MB: '100',
  DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
  NODE_OPTIONS: `--require=${join(import.meta.dirname, '../fixtures/thread-heap-filler.mjs')}`,
};

describeWithProgram('redis-server', 'executions in threads of their own', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;
  let author: ApiClient;

  beforeAll(async () => {
    const declared = join(mkdtempSync(join(tmpdir(), 'penstock-declared-')), 'datasources.yaml');
    writeFileSync(declared, 'datasources: []\n');
    deployment = await Deployment.start({
      redis,
      env: { ...THREADS, DATAPIPELINES_BOOTSTRAP_DATASOURCES_FILE: declared },
    });
    // Read at the boot, by the server alone: a thread that is born later needs it no more.
    rmSync(dirname(declared), { recursive: true });
    author = deployment.author;
    scene = await RunScene.build(deployment);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  const rowOf = async (executionId: string) =>
    author.data('GET', `/api/v1/executions/${executionId}`) as Promise<Record<string, unknown>>;

  it('stage, deliver and show every event once and in order, live and again', async () => {
    const stream = await EventStream.run(author, scene.staged, { rows: 5000 });
    expect(await stream.ended).toBe('ended');
    expect(stream.ids).toEqual(stream.ids.map((_, index) => index + 1));
    expect([stream.events[0], stream.events.at(-1)]).toEqual(['execution_started', 'data_ready']);
    const again = await EventStream.watch(author, stream.executionId);
    await again.ended;
    expect(again.ids).toEqual(stream.ids);
    const page = await author.data('GET', `/api/v1/executions/${stream.executionId}/result?offset=4999&limit=10`);
    expect(Number(page.rows[0][0])).toBe(5000);
  });

  it('say in the audit trail how a served call started and how it ended, as everywhere', async () => {
    await oneNodePipeline(author, {
      name: 'threads/served',
      source: 'tempdb',
      dialect: 'DUCKDB',
      sql: 'SELECT 1 AS n',
    });
    await oneNodePipeline(author, {
      ...{ name: 'threads/refused', source: 'tempdb', dialect: 'DUCKDB', sql: "SELECT error('no') AS n" },
    });
    for (const name of ['served', 'refused'])
      await author.data('POST', '/api/v1/endpoints', { path: `/threads/${name}`, pipeline: `threads/${name}` });
    expect((await author.call('GET', '/api/x/threads/served')).status).toBe(200);
    expect((await author.call('GET', '/api/x/threads/refused')).status).toBe(502);
    const told = await deployment.metadata<{ outcome: string }>(
      `SELECT details_json->>'outcome' AS outcome FROM audit_log WHERE event = 'endpoint.served' ORDER BY id`,
    );
    expect(told.map(({ outcome }) => outcome)).toEqual(['started', 'completed', 'started', 'failed']);
  });

  it('are cancelled at once, and their statement stops in the database', async () => {
    const executionId = await scene.launch(author, scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    expect((await author.call('DELETE', `/api/v1/executions/${executionId}`)).status).toBe(204);
    expect(await scene.ended(executionId)).toBe('ABORTED');
    await scene.untilSleeping(0);
  });

  it('call each other, and a family ends together when its child is cancelled', async () => {
    await releasedTemplate(author, {
      id: 'threads/one.sql',
      dialect: 'POSTGRES',
      body: 'SELECT pg_sleep(60)::text AS s',
    });
    const child = await releasedPipeline(author, {
      name: 'threads/child',
      nodes: [
        {
          id: 'read',
          type: 'DQL',
          source: 'source',
          template: { id: 'threads/one.sql', version: 1 },
          output: { target: 'caller' },
        },
      ],
    });
    expect(child).toBeTruthy();
    const parent = await releasedPipeline(author, {
      name: 'threads/parent',
      nodes: [
        { id: 'call', type: 'PIPELINE', pipeline: { name: 'threads/child', version: 1 }, output: { target: 'caller' } },
      ],
    });
    const root = await scene.launch(author, parent);
    await scene.untilSleeping(1);
    const [row] = await deployment.metadata<{ execution_id: string }>(
      'SELECT execution_id FROM pipeline_executions WHERE parent_execution_id = $1',
      [root],
    );
    await author.call('DELETE', `/api/v1/executions/${row!.execution_id}`);
    expect(await scene.ended(row!.execution_id)).toBe('ABORTED');
    expect(await scene.ended(root)).toBe('FAILED');
    await scene.untilSleeping(0);
  });

  it('take only their own thread with them when it runs out of memory; another takes its place', async () => {
    const before = await counted(deployment);
    // One run in each thread, inside the engine: the thread that dies takes one of them with it, in mid-statement.
    const heavy = await oneNodePipeline(author, {
      ...{ name: 'threads/heavy', source: 'tempdb', dialect: 'DUCKDB', sql: ENDLESS },
    });
    const beside = [await scene.launch(author, heavy), await scene.launch(author, heavy)];
    await eventually('both at work', async () => {
      const rows = await Promise.all(beside.map(rowOf));
      return rows.every(({ node_stats: stats }) => (stats as unknown[] | null)?.length === 1);
    });
    const watchers = await Promise.all(beside.map((id) => EventStream.watch(author, id)));
    deployment.server.signal('SIGUSR2');
    const statuses = async () => (await Promise.all(beside.map(rowOf))).map(({ status }) => String(status));
    await eventually('one of them to be ended', async () => (await statuses()).includes('FAILED'));
    const lost = (await statuses()).indexOf('FAILED');
    expect(await rowOf(beside[lost]!)).toMatchObject({
      status: 'FAILED',
      error: { code: 'pipeline.execution.aborted', details: { reason: 'host_thread_lost' } },
      node_stats: [{ node_id: 'read', status: 'ABORTED' }],
    });
    const stream = watchers[lost]!;
    expect(await stream.ended).toBe('ended');
    expect(stream.frames.at(-1)).toMatchObject({
      ...{ event: 'pipeline_failed', data: { duration_ms: expect.any(Number), failed_node_id: null } },
    });
    expect(stream.ids).toEqual(stream.ids.map((_, index) => index + 1));
    const survivor = beside[1 - lost]!;
    expect(await rowOf(survivor)).toMatchObject({ status: 'RUNNING' });
    expect((await author.call('DELETE', `/api/v1/executions/${survivor}`)).status).toBe(204);
    expect(await scene.ended(survivor)).toBe('ABORTED');
    for (const id of beside) expect(await scene.terminalEvents(id)).toHaveLength(1);
    await eventually('the threads to be two again', async () => {
      const runs = await Promise.all([1, 2, 3, 4].map(() => scene.launch(author, scene.staged, { rows: 100 })));
      return (await Promise.all(runs.map((id) => scene.ended(id)))).every((status) => status === 'SUCCESS');
    });
    // A counter that goes down reads as a restart: whoever watches rates would count every run once more.
    const after = await counted(deployment);
    for (const [series, value] of before) expect([series, (after.get(series) ?? 0) >= value]).toEqual([series, true]);
    const failed = [...after].filter(([series]) => /^datapipelines_executions_total\{.*status="FAILED"/.test(series));
    expect(failed.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(1);
    expect((await author.call('GET', '/health')).status).toBe(200);
    expect(deployment.server.output).not.toContain('datasources file');
  });

  it('are counted together in the metrics of the process', async () => {
    const text = await (await fetch(`${deployment.server.managementUrl}/metrics`)).text();
    expect(text).toMatch(/^datapipelines_executions_total\{.*status="SUCCESS".*\} [1-9]/m);
    expect(text).toMatch(/^datapipelines_nodes_duration_seconds_count\{/m);
  });

  it('end with their server, which cancels what runs and leaves nothing', async () => {
    const executionId = await scene.launch(author, scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    // The statement that died with its thread is still inside the engine: nothing but force ends that process.
    expect(await deployment.server.end('SIGTERM')).toBeNull();
    expect(deployment.server.output).toContain('shutdown.drain_complete');
    const [row] = await deployment.metadata<{ status: string }>(
      'SELECT status FROM pipeline_executions WHERE execution_id = $1',
      [executionId],
    );
    expect(row).toEqual({ status: 'ABORTED' });
    expect(await scene.terminalEvents(executionId)).toEqual(['execution_aborted']);
    await scene.untilSleeping(0);
  });
});

/** What only grows, by series: one scrape of the server. */
async function counted(deployment: Deployment): Promise<Map<string, number>> {
  const text = await (await fetch(`${deployment.server.managementUrl}/metrics`)).text();
  const growing = text.split('\n').filter((line) => /^datapipelines_\w+_(total|count|bucket)[ {]/.test(line));
  return new Map(
    growing.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

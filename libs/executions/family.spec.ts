import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import {
  ExecutionsBench,
  HEAVY,
  leftovers,
  NOTHING_LEFT,
  TestWorkspace,
  type TestInstance,
} from './executions.fixture.js';
import { eventually } from '../../test/fixtures/eventually.js';

let bench: ExecutionsBench;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

interface Relative {
  execution_id: string;
  parent_execution_id: string | null;
  parent_node_id: string | null;
  status: string;
  triggered_via: string;
  triggered_by: string;
  correlation_id: string;
  result_row_count: string | null;
  error_code: string | null;
  parameters_json: string;
}

/** A root and all below it, oldest first. */
async function family(root: string): Promise<Relative[]> {
  return bench.db.database.query<Relative>(
    `SELECT execution_id, parent_execution_id, parent_node_id, status, triggered_via, triggered_by, correlation_id,
            result_row_count, error_json->>'code' AS error_code, parameters_json
       FROM pipeline_executions WHERE root_execution_id = $1 ORDER BY started_at, execution_id`,
    [root],
  );
}

const rowsOf = async (server: TestInstance, executionId: string) =>
  (await server.results.page(bench.workspace.principal(), executionId, {})).rows.map(({ text }) => text);
const table = (name: string) => ({ target: 'tempdb', table: name });
const caller = { target: 'caller' };

/** A chain of pipelines, each calling the next; the last one runs `sql`. Returns the first. */
async function chain(depth: number, sql: string): Promise<string> {
  let pipeline = await bench.workspace.pipeline([{ id: 'leaf', sql }]);
  for (let level = 1; level < depth; level++) {
    pipeline = await bench.workspace.pipeline([{ id: 'call', child: pipeline, output: caller }]);
  }
  return pipeline;
}

describe('a PIPELINE node', () => {
  it('runs its child as an execution of its own and stages the rows it returns', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline(
      [{ id: 'rows', sql: `SELECT range AS n, :word AS word FROM range(5000)` }],
      {
        parameters: { word: { type: 'STRING', required: true } },
      },
    );
    const parent = await bench.workspace.pipeline(
      [
        { id: 'call', child, parameters: { word: '${greeting}' }, output: table('got') },
        { id: 'out', sql: 'SELECT count(*) AS n, sum(n) AS s, min(word) AS w FROM got', after: ['call'] },
      ],
      { parameters: { greeting: { type: 'STRING', default: 'hé "\u{1F680}" ’' } } },
    );
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await rowsOf(server, executionId)).toEqual(['["5000","12497500","hé \\"\u{1F680}\\" ’"]']);
    const [root, kid, ...others] = await family(executionId);
    expect(others).toEqual([]);
    expect(root).toMatchObject({ execution_id: executionId, parent_execution_id: null, triggered_via: 'UI' });
    expect(kid).toMatchObject({
      parent_execution_id: executionId,
      parent_node_id: 'call',
      status: 'SUCCESS',
      triggered_via: 'PIPELINE',
      triggered_by: me.userId,
      correlation_id: root!.correlation_id,
      result_row_count: null,
    });
    expect(readJson(kid!.parameters_json)).toMatchObject({ execution_id: kid!.execution_id });
    const view = await server.service.read(me, executionId);
    expect(readJson(view.node_stats!.text)).toMatchObject([{ child_execution_id: kid!.execution_id }, {}]);
    const completed = (await server.frames(me, executionId)).find(
      ({ type, data }) => type === 'node_completed' && data.includes('"node_id":"call"'),
    );
    expect(readJson(completed!.data)).toMatchObject({ child_execution_id: kid!.execution_id });
    const progressOf = async (id: string) =>
      (await server.frames(me, id)).filter(({ type }) => type === 'node_progress').map(({ data }) => readJson(data));
    expect(
      (await progressOf(executionId)).filter((sample) => (sample as JsonObject).node_id === 'call').at(-1),
    ).toMatchObject({
      operation: 'child',
      destination: { kind: 'tempdb', table: 'got' },
      state: 'completed',
      child_execution_id: kid!.execution_id,
    });
    expect((await progressOf(kid!.execution_id)).at(-1)).toMatchObject({ destination: { kind: 'parent' } });
    const told = (await server.frames(me, kid!.execution_id)).map(({ type }) => type);
    expect(told.filter((type) => type !== 'node_progress')).toEqual([
      'execution_started',
      'node_started',
      'node_completed',
      'pipeline_completed',
    ]);
    expect(await server.results.page(me, kid!.execution_id, {})).toMatchObject({ rows: [], total_rows: 0 });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('with the caller as its target makes the child’s rows the result', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(3, 'SELECT * FROM range(3000)'));
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 3000 } });
    expect((await rowsOf(server, executionId)).slice(0, 2)).toEqual(['["0"]', '["1"]']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('without output lets its child work and drops what it returns', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([{ id: 'rows', sql: 'SELECT * FROM range(4000)' }]);
    const parent = await bench.workspace.pipeline([{ id: 'call', child }]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toEqual({ executionId, status: 'SUCCESS' });
    const view = await server.service.read(me, executionId);
    expect(readJson(view.node_stats!.text)).toMatchObject([{ node_id: 'call', rows_out: { value: '4000' } }]);
  });

  it('whose child has no caller node succeeds with it', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a', output: table('t') }]);
    const parent = await bench.workspace.pipeline([
      { id: 'call', child },
      { id: 'out', sql: 'SELECT 7 AS seven', after: ['call'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect((await family(executionId)).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
  });

  it('stages a child’s empty result with its columns', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([
      { id: 'none', sql: `SELECT 1 AS n, DATE '2024-02-29' AS d, 1.50::DECIMAL(20,2) AS x WHERE 1 = 0` },
    ]);
    const parent = await bench.workspace.pipeline([
      { id: 'call', child, output: table('got') },
      { id: 'out', sql: 'SELECT count(*) AS c, max(d) AS d, max(x) AS x FROM got', after: ['call'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await rowsOf(server, executionId)).toEqual(['["0",null,null]']);
  });

  it('takes every type through a child exactly as a node of its own would', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const sql = `SELECT 9007199254740993::BIGINT AS i, 0.10::DECIMAL(4,2) AS d, 12345678901234567890.12::DECIMAL(38,2) AS b,
      'ü\u{1F680}' AS s, '\\x00\\xff'::BLOB AS y, DATE '0001-01-01' AS da, TIME '23:59:59.999999' AS t,
      TIMESTAMPTZ '9999-12-31 23:59:59.999999+00' AS ts, true AS bo, NULL::INTEGER AS nu`;
    const direct = await bench.workspace.pipeline([{ id: 'one', sql }]);
    const through = await bench.workspace.pipeline([{ id: 'call', child: direct, output: caller }]);
    const runs = [await server.launch(me, direct), await server.launch(me, through)];
    for (const { finished } of runs) expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const [one, two] = await Promise.all(runs.map(({ executionId }) => server.results.page(me, executionId, {})));
    expect(two!.rows).toEqual(one!.rows);
    expect(two!.schema).toEqual(one!.schema);
  });

  it('gives the child values that are bound within the child’s own bounds', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT :d AS d, :w AS w' }], {
      parameters: {
        d: { type: 'DECIMAL', precision: 4, scale: 1, required: true },
        w: { type: 'STRING', default: 'mine' },
      },
    });
    const parent = await bench.workspace.pipeline([{ id: 'call', child, parameters: { d: '${x}' }, output: caller }], {
      parameters: { x: { type: 'DECIMAL', precision: 10, scale: 4 } },
    });
    const run = async (x: string) => {
      const launched = await server.launch(me, parent, { parameters: readJson(`{"x": ${x}}`) as JsonObject });
      return { ...launched, outcome: await launched.finished };
    };
    const good = await run('12.5');
    expect(await rowsOf(server, good.executionId)).toEqual(['[12.5,"mine"]']);
    for (const [x, code] of [
      ['12.55', 'pipeline.execution.parameter_constraint_violation'],
      ['null', 'pipeline.execution.parameter_required'],
    ] as const) {
      const { outcome, executionId } = await run(x);
      expect(outcome).toMatchObject({
        status: 'FAILED',
        failure: {
          code: 'pipeline.node.child_execution_failed',
          details: { child_code: code, child_execution_id: null },
          node: { id: 'call', type: 'PIPELINE', pipeline_version: 1 },
        },
      });
      expect(await family(executionId)).toHaveLength(1);
    }
  });

  it('fails with its child, naming the child’s code and execution through every generation', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(3, `SELECT error('no ' || 'rows')`));
    const outcome = await finished;
    const [root, middle, leaf] = await family(executionId);
    expect([root, middle, leaf].map((one) => one?.error_code)).toEqual([
      'pipeline.node.child_execution_failed',
      'pipeline.node.child_execution_failed',
      'pipeline.node.query_execution_failed',
    ]);
    expect(outcome.failure).toMatchObject({
      code: 'pipeline.node.child_execution_failed',
      details: {
        child_code: 'pipeline.node.child_execution_failed',
        child_execution_id: middle!.execution_id,
        child_status: 'FAILED',
        path: [
          {
            execution_id: middle!.execution_id,
            node: 'call',
            pipeline_version: 1,
            code: 'pipeline.node.child_execution_failed',
          },
          {
            execution_id: leaf!.execution_id,
            node: 'leaf',
            pipeline_version: 1,
            code: 'pipeline.node.query_execution_failed',
          },
        ],
      },
    });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('keeps nothing of a child that fails after its rows were through', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([
      { id: 'rows', sql: 'SELECT * FROM range(10)' },
      { id: 'late', type: 'DQL', sql: `SELECT error('late') FROM range(1)`, after: ['rows'], output: table('x') },
    ]);
    const parent = await bench.workspace.pipeline([{ id: 'call', child, output: caller }]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED' });
    await expect(server.results.page(me, executionId, {})).rejects.toMatchObject({ code: 'result.execution_failed' });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('counts depth again at run: a composition deeper than today’s bound stops at that node', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_PIPELINES_MAX_COMPOSITION_DEPTH: '2' });
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(3, 'SELECT 1 AS a'));
    expect(await finished).toMatchObject({
      failure: { details: { child_code: 'pipeline.node.composition_depth_exceeded' } },
    });
    expect((await family(executionId)).map(({ error_code }) => error_code)).toEqual([
      'pipeline.node.child_execution_failed',
      'pipeline.node.composition_depth_exceeded',
    ]);
  });

  it('does not find a pipeline of another workspace, however exactly it is named', async () => {
    const server = await bench.serverWith();
    const stranger = await TestWorkspace.create(bench.db.database);
    const theirs = await stranger.pipeline([{ id: 'secret', sql: 'SELECT 42 AS secret' }]);
    const parent = await bench.workspace.pipeline([{ id: 'call', child: theirs, output: caller }]);
    const { executionId, finished } = await server.launch(bench.workspace.principal(), parent);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { details: { child_code: 'pipeline.execution.not_found', child_execution_id: null } },
    });
    expect(await family(executionId)).toHaveLength(1);
  });
});

describe('a family', () => {
  it('five deep runs where one person has one slot and the instance one place', async () => {
    // Parents that wait for children must not hold what the children need.
    const server = await bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '1',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '1',
      DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '1',
      DATAPIPELINES_STAGING_MAX_CONNECTIONS: '1',
      DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '1',
    });
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(5, 'SELECT * FROM range(20000)'));
    await expect(server.launch(me, await chain(1, 'SELECT 1'))).rejects.toMatchObject({
      code: 'pipeline.execution.concurrency_limit',
    });
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 20000 } });
    expect(await family(executionId)).toHaveLength(5);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('of three generations in a diamond runs every call as an execution of its own', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const leaf = await bench.workspace.pipeline([{ id: 'n', sql: 'SELECT :from AS a, range AS n FROM range(100)' }], {
      parameters: { from: { type: 'STRING', required: true } },
    });
    const middle = await bench.workspace.pipeline(
      [
        { id: 'one', child: leaf, parameters: { from: '${side}' }, output: table('one') },
        { id: 'two', child: leaf, parameters: { from: 'literal' }, output: table('two') },
        { id: 'all', sql: 'FROM one UNION ALL FROM two', after: ['one', 'two'] },
      ],
      { parameters: { side: { type: 'STRING', required: true } } },
    );
    const top = await bench.workspace.pipeline([
      { id: 'left', child: middle, parameters: { side: 'left' }, output: table('l') },
      { id: 'right', child: middle, parameters: { side: 'right' }, output: table('r') },
      {
        id: 'out',
        sql: 'SELECT a, count(*) AS n FROM (FROM l UNION ALL FROM r) GROUP BY a ORDER BY a',
        after: ['left', 'right'],
      },
    ]);
    const { executionId, finished } = await server.launch(me, top);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await rowsOf(server, executionId)).toEqual(['["left","100"]', '["literal","200"]', '["right","100"]']);
    const all = await family(executionId);
    expect(all).toHaveLength(7);
    expect(all.every(({ status }) => status === 'SUCCESS')).toBe(true);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('of fifty children shares few permits and little memory without getting stuck', async () => {
    const server = await bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '3',
      DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '2',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '1024',
    });
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([{ id: 'n', sql: 'SELECT :k AS k, range AS n FROM range(50)' }], {
      parameters: { k: { type: 'INTEGER', required: true } },
    });
    const ids = Array.from({ length: 50 }, (_, k) => `c${k}`);
    const parent = await bench.workspace.pipeline([
      ...ids.map((id, k) => ({ id, child, parameters: { k }, output: table(id) })),
      {
        id: 'out',
        sql: `SELECT count(*) AS n, count(DISTINCT k) AS ks FROM (${ids.map((id) => `FROM ${id}`).join(' UNION ALL ')})`,
        after: ids,
      },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await rowsOf(server, executionId)).toEqual(['["2500","50"]']);
    expect(await family(executionId)).toHaveLength(51);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('ends with its root: each descendant ABORTED with the root’s reason', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(4, HEAVY));
    await eventually('four generations', async () => (await family(executionId)).length === 4);
    await server.service.cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    const all = await family(executionId);
    expect(all.map(({ status }) => status)).toEqual(['ABORTED', 'ABORTED', 'ABORTED', 'ABORTED']);
    for (const { execution_id } of all) {
      const last = (await server.frames(me, execution_id)).at(-1)!;
      expect([last.type, readJson(last.data)]).toMatchObject(['execution_aborted', { reason: 'cancelled' }]);
    }
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('whose child is cancelled fails at the node that called it', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(3, HEAVY));
    await eventually('three generations', async () => (await family(executionId)).length === 3);
    const [, middle] = await family(executionId);
    await server.service.cancel(me, middle!.execution_id);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: {
        code: 'pipeline.node.child_execution_failed',
        details: { child_execution_id: middle!.execution_id, child_status: 'ABORTED', reason: 'cancelled' },
      },
    });
    expect((await family(executionId)).map(({ status }) => status)).toEqual(['FAILED', 'ABORTED', 'ABORTED']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('whose calling node runs out of time loses its child with it, and blames the node', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const slow = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await bench.workspace.pipeline([
      { id: 'call', child: slow, output: caller, settings: { timeout_seconds: 1 } },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'pipeline.node.timeout' } });
    const [, kid] = await family(executionId);
    expect(kid).toMatchObject({ status: 'ABORTED', error_code: null });
    const last = (await server.frames(me, kid!.execution_id)).at(-1)!;
    expect(readJson(last.data)).toMatchObject({ reason: 'cancelled' });
  });

  it('stops whole when a sibling of the calling node fails', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const slow = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await bench.workspace.pipeline([
      { id: 'call', child: slow, output: table('x') },
      { id: 'busy', sql: 'SELECT count(*) AS n FROM range(100000000)', output: table('b') },
      { id: 'bad', sql: `SELECT error('bad') FROM b`, output: table('y'), after: ['busy'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { node: { id: 'bad' } } });
    expect((await family(executionId)).map(({ status }) => status)).toEqual(['FAILED', 'ABORTED']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('drains as one: a shutdown aborts parent and child with its own reason', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await chain(2, HEAVY));
    await eventually('the child', async () => (await family(executionId)).length === 2);
    await server.drain.begin({ hurry: true });
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'shutdown' });
    expect((await family(executionId)).map(({ status }) => status)).toEqual(['ABORTED', 'ABORTED']);
  });

  it('that runs while the instance drains may still call its children', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_SHUTDOWN_DRAIN_WAIT_SECONDS: '20' });
    const me = bench.workspace.principal();
    const child = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 5 AS five' }]);
    const parent = await bench.workspace.pipeline([
      { id: 'first', sql: 'SELECT count(*) AS n FROM range(20000000) a', output: table('t') },
      { id: 'call', child, output: caller, after: ['first'] },
    ]);
    const { finished } = await server.launch(me, parent);
    await server.drain.begin();
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
  });
});

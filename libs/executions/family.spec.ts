import { describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { leftovers, NOTHING_LEFT, TestWorkspace } from './executions.fixture.js';
import { caller, familyScene, table } from './family.fixture.js';

const scene = familyScene();

describe('a PIPELINE node', () => {
  it('runs its child as an execution of its own and stages the rows it returns', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline(
      [{ id: 'rows', sql: `SELECT range AS n, :word AS word FROM range(5000)` }],
      {
        parameters: { word: { type: 'STRING', required: true } },
      },
    );
    const parent = await scene.bench.workspace.pipeline(
      [
        { id: 'call', child, parameters: { word: '${greeting}' }, output: table('got') },
        { id: 'out', sql: 'SELECT count(*) AS n, sum(n) AS s, min(word) AS w FROM got', after: ['call'] },
      ],
      { parameters: { greeting: { type: 'STRING', default: 'hé "\u{1F680}" ’' } } },
    );
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await scene.rowsOf(server, executionId)).toEqual(['["5000","12497500","hé \\"\u{1F680}\\" ’"]']);
    const [root, kid, ...others] = await scene.family(executionId);
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
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(3, 'SELECT * FROM range(3000)'));
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 3000 } });
    expect((await scene.rowsOf(server, executionId)).slice(0, 2)).toEqual(['["0"]', '["1"]']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('without output lets its child work and drops what it returns', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([{ id: 'rows', sql: 'SELECT * FROM range(4000)' }]);
    const parent = await scene.bench.workspace.pipeline([{ id: 'call', child }]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toEqual({ executionId, status: 'SUCCESS' });
    const view = await server.service.read(me, executionId);
    expect(readJson(view.node_stats!.text)).toMatchObject([{ node_id: 'call', rows_out: { value: '4000' } }]);
  });

  it('whose child has no caller node succeeds with it', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a', output: table('t') }]);
    const parent = await scene.bench.workspace.pipeline([
      { id: 'call', child },
      { id: 'out', sql: 'SELECT 7 AS seven', after: ['call'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect((await scene.family(executionId)).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
  });

  it('stages a child’s empty result with its columns', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([
      { id: 'none', sql: `SELECT 1 AS n, DATE '2024-02-29' AS d, 1.50::DECIMAL(20,2) AS x WHERE 1 = 0` },
    ]);
    const parent = await scene.bench.workspace.pipeline([
      { id: 'call', child, output: table('got') },
      { id: 'out', sql: 'SELECT count(*) AS c, max(d) AS d, max(x) AS x FROM got', after: ['call'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await scene.rowsOf(server, executionId)).toEqual(['["0",null,null]']);
  });

  it('takes every type through a child exactly as a node of its own would', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const sql = `SELECT 9007199254740993::BIGINT AS i, 0.10::DECIMAL(4,2) AS d, 12345678901234567890.12::DECIMAL(38,2) AS b,
      'ü\u{1F680}' AS s, '\\x00\\xff'::BLOB AS y, DATE '0001-01-01' AS da, TIME '23:59:59.999999' AS t,
      TIMESTAMPTZ '9999-12-31 23:59:59.999999+00' AS ts, true AS bo, NULL::INTEGER AS nu`;
    const direct = await scene.bench.workspace.pipeline([{ id: 'one', sql }]);
    const through = await scene.bench.workspace.pipeline([{ id: 'call', child: direct, output: caller }]);
    const runs = [await server.launch(me, direct), await server.launch(me, through)];
    for (const { finished } of runs) expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const [one, two] = await Promise.all(runs.map(({ executionId }) => server.results.page(me, executionId, {})));
    expect(two!.rows).toEqual(one!.rows);
    expect(two!.schema).toEqual(one!.schema);
  });

  it('gives the child values that are bound within the child’s own bounds', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([{ id: 'a', sql: 'SELECT :d AS d, :w AS w' }], {
      parameters: {
        d: { type: 'DECIMAL', precision: 4, scale: 1, required: true },
        w: { type: 'STRING', default: 'mine' },
      },
    });
    const parent = await scene.bench.workspace.pipeline(
      [{ id: 'call', child, parameters: { d: '${x}' }, output: caller }],
      {
        parameters: { x: { type: 'DECIMAL', precision: 10, scale: 4 } },
      },
    );
    const run = async (x: string) => {
      const launched = await server.launch(me, parent, { parameters: readJson(`{"x": ${x}}`) as JsonObject });
      return { ...launched, outcome: await launched.finished };
    };
    const good = await run('12.5');
    expect(await scene.rowsOf(server, good.executionId)).toEqual(['[12.5,"mine"]']);
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
      expect(await scene.family(executionId)).toHaveLength(1);
    }
  });

  it('fails with its child, naming the child’s code and execution through every generation', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(3, `SELECT error('no ' || 'rows')`));
    const outcome = await finished;
    const [root, middle, leaf] = await scene.family(executionId);
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
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([
      { id: 'rows', sql: 'SELECT * FROM range(10)' },
      { id: 'late', type: 'DQL', sql: `SELECT error('late') FROM range(1)`, after: ['rows'], output: table('x') },
    ]);
    const parent = await scene.bench.workspace.pipeline([{ id: 'call', child, output: caller }]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED' });
    await expect(server.results.page(me, executionId, {})).rejects.toMatchObject({ code: 'result.execution_failed' });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('counts depth again at run: a composition deeper than today’s bound stops at that node', async () => {
    const server = await scene.bench.serverWith({ DATAPIPELINES_PIPELINES_MAX_COMPOSITION_DEPTH: '2' });
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(3, 'SELECT 1 AS a'));
    expect(await finished).toMatchObject({
      failure: { details: { child_code: 'pipeline.node.composition_depth_exceeded' } },
    });
    expect((await scene.family(executionId)).map(({ error_code }) => error_code)).toEqual([
      'pipeline.node.child_execution_failed',
      'pipeline.node.composition_depth_exceeded',
    ]);
  });

  it('does not find a pipeline of another workspace, however exactly it is named', async () => {
    const server = await scene.bench.serverWith();
    const stranger = await TestWorkspace.create(scene.bench.db.database);
    const theirs = await stranger.pipeline([{ id: 'secret', sql: 'SELECT 42 AS secret' }]);
    const parent = await scene.bench.workspace.pipeline([{ id: 'call', child: theirs, output: caller }]);
    const { executionId, finished } = await server.launch(scene.bench.workspace.principal(), parent);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { details: { child_code: 'pipeline.execution.not_found', child_execution_id: null } },
    });
    expect(await scene.family(executionId)).toHaveLength(1);
  });
});

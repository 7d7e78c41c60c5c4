import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, readJson, type JsonObject } from '#libs/kernel';
import { eventually } from '../../test/fixtures/eventually.js';
import {
  ExecutionsBench,
  HEAVY,
  leftovers,
  NOTHING_LEFT,
  TestWorkspace,
  type TestInstance,
  type TestNode,
} from './executions.fixture.js';

let bench: ExecutionsBench;
let server: TestInstance;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

const caller = { target: 'caller' };
const me = () => bench.workspace.principal();
const DAY = { day: { type: 'DATE', default: '2024-02-29' } };

/** A pipeline that computes `quarter` and the week of `day`, and says what it saw. */
const calendar = () =>
  bench.workspace.pipeline(
    [
      { id: 'q', calculator: { kind: 'quarter_of_year', inputs: { date: '$day' }, context_key: 'quarter' } },
      {
        id: 'wk',
        calculator: {
          kind: 'period_bounds',
          inputs: { date: '$day', unit: 'week' },
          context_keys: { start: 'wk_from', end: 'wk_to' },
        },
      },
      {
        id: 'say',
        sql: 'SELECT :day AS day, :quarter AS q, :wk_from AS a, :wk_to AS b, :current_date AS today',
        after: ['q', 'wk'],
      },
    ],
    { parameters: DAY },
  );

async function run(nodes: readonly TestNode[], declared: object = {}, sent = '{}') {
  server = await bench.serverWith();
  const pipeline = await bench.workspace.pipeline(nodes, { parameters: declared });
  const { executionId, finished } = await server.launch(me(), pipeline, { parameters: readJson(sent) as JsonObject });
  const outcome = await finished;
  const page = outcome.dataReady ? await server.results.page(me(), executionId, {}) : undefined;
  const rows = page?.rows.map(({ text }) => JSON.parse(text) as unknown[]) ?? [];
  return { executionId, outcome, rows, children: await childrenOf(executionId) };
}

async function childrenOf(executionId: string) {
  const rows = await bench.db.database.query<Record<'execution_id' | 'status' | 'sent' | 'stats', string>>(
    `SELECT execution_id, status, parameters_json AS sent, node_stats_json AS stats FROM pipeline_executions
      WHERE parent_execution_id = $1 ORDER BY started_at`,
    [executionId],
  );
  return rows.map(({ sent, stats, ...row }) => ({
    ...row,
    context: JSON.parse(sent) as Record<string, unknown>,
    nodes: JSON.parse(stats) as Record<string, unknown>[],
  }));
}

describe('the calculators of a child', () => {
  it('compute out of the child’s own parameters, not the parent’s of the same name', async () => {
    const child = await calendar();
    const { outcome, rows, children } = await run(
      [{ id: 'call', child, parameters: { day: '2023-11-05' }, output: caller }],
      { day: { type: 'DATE', default: '1999-12-31' }, quarter: { type: 'INTEGER', default: 9 } },
    );
    expect(outcome).toMatchObject({ status: 'SUCCESS' });
    expect(rows[0]!.slice(0, 4)).toEqual(['2023-11-05', 4, '2023-10-30', '2023-11-05']);
    expect(children[0]!.context).toMatchObject({ day: '2023-11-05', quarter: 4, wk_from: '2023-10-30' });
  });

  it('take nothing of the parent that was not given to them', async () => {
    const child = await calendar();
    const { rows } = await run([{ id: 'call', child, output: caller }], {
      day: { type: 'DATE', default: '1999-12-31' },
    });
    expect(rows[0]!.slice(0, 2)).toEqual(['2024-02-29', 1]);
  });

  it('are skipped when the parent gives their keys: a literal, or what its own calculators computed', async () => {
    const child = await calendar();
    const { outcome, rows, children } = await run([
      {
        id: 'mine',
        calculator: { kind: 'add_days', inputs: { date: '2024-12-31', days: 1 }, context_key: 'new_year' },
      },
      {
        id: 'call',
        child,
        parameters: { quarter: 3, wk_from: '${new_year}', wk_to: '2025-01-07' },
        after: ['mine'],
        output: caller,
      },
    ]);
    expect(outcome).toMatchObject({ status: 'SUCCESS' });
    expect(rows[0]!.slice(0, 4)).toEqual(['2024-02-29', 3, '2025-01-01', '2025-01-07']);
    expect(children[0]!.nodes.map(({ node_id, provided_by }) => [node_id, provided_by])).toEqual([
      ['q', 'caller'],
      ['wk', 'caller'],
      ['say', undefined],
    ]);
  });

  it('that shadow a platform key do so for the node behind them only, and pass that value on', async () => {
    const child = await calendar();
    const { rows } = await run([
      {
        id: 'shadow',
        calculator: { kind: 'date_trunc', inputs: { date: '2001-02-03', unit: 'year' }, context_key: 'current_date' },
      },
      { id: 'call', child, parameters: { day: '${current_date}' }, after: ['shadow'], output: caller },
    ]);
    expect(rows[0]![0]).toBe('2001-01-01');
    // The child's own platform key is its own.
    expect(rows[0]![4]).not.toBe('2001-01-01');
  });

  it('fail in the child, and the parent says which node, which child and why', async () => {
    const child = await bench.workspace.pipeline(
      [
        {
          id: 'change',
          calculator: { kind: 'percent_change', inputs: { current: 1, previous: '$base' }, context_key: 'pct' },
        },
        { id: 'say', sql: 'SELECT :pct AS p', after: ['change'] },
      ],
      { parameters: { base: { type: 'INTEGER', default: 0 } } },
    );
    const { outcome, children } = await run([{ id: 'call', child, output: caller }]);
    expect(outcome.failure).toMatchObject({
      code: 'pipeline.node.child_execution_failed',
      node: { id: 'call', type: 'PIPELINE', pipeline: `p/${child}`, pipeline_version: 1 },
      details: {
        child_code: 'pipeline.node.calculator_failed',
        child_execution_id: children[0]!.execution_id,
        child_node: 'change',
      },
    });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });
});

describe('a value of any type', () => {
  const anyChild = () =>
    bench.workspace.pipeline(
      [
        { id: 'c', calculator: { kind: 'coalesce', inputs: { values: ['unset'] }, context_key: 'either' } },
        { id: 'say', sql: 'SELECT :either AS v, typeof(:either) AS t', after: ['c'] },
      ],
      {},
    );

  it('keeps its type on the way into a child: a BIGINTEGER does not become the text of its wire form', async () => {
    const child = await anyChild();
    const parameters = {
      big: { type: 'BIGINTEGER', default: '9007199254740993' },
      exact: { type: 'BIGDECIMAL', scale: 2, default: '12345678901234567890.12' },
      at: { type: 'TIMESTAMP', default: '2024-02-29T23:59:59.999999Z' },
      on: { type: 'DATE', default: '0001-01-01' },
      yes: { type: 'BOOLEAN', default: true },
    };
    const seen: unknown[] = [];
    for (const key of Object.keys(parameters)) {
      const { rows } = await run(
        [{ id: 'call', child, parameters: { either: `\${${key}}` }, output: caller }],
        parameters,
      );
      seen.push(rows[0]);
      await bench.stopServers();
    }
    expect(seen).toEqual([
      ['9007199254740993', 'BIGINT'],
      ['12345678901234567890.12', 'DECIMAL(38,2)'],
      ['2024-02-29T23:59:59.999999Z', 'TIMESTAMP WITH TIME ZONE'],
      ['0001-01-01', 'DATE'],
      [true, 'BOOLEAN'],
    ]);
  });

  it('that is null counts as not given: the child computes its own', async () => {
    const child = await anyChild();
    const { rows } = await run([{ id: 'call', child, parameters: { either: '${nothing}' }, output: caller }], {
      nothing: { type: 'DATE' },
    });
    expect(rows).toEqual([['unset', 'VARCHAR']]);
  });

  it('out of a calculator is read by its form where the child declares a type, and refused where it does not fit', async () => {
    const child = await calendar();
    const given = (value: unknown): TestNode[] => [
      { id: 'any', calculator: { kind: 'coalesce', inputs: { values: [value] }, context_key: 'something' } },
      { id: 'call', child, parameters: { day: '${something}' }, after: ['any'], output: caller },
    ];
    const good = await run(given('2020-06-30'));
    expect(good.rows[0]!.slice(0, 2)).toEqual(['2020-06-30', 2]);
    const bad = await run(given('30.06.2020'));
    expect(bad.outcome.failure).toMatchObject({
      code: 'pipeline.node.child_execution_failed',
      details: { child_code: 'pipeline.execution.invalid_parameter_type', child_execution_id: null },
    });
    expect(JSON.stringify(bad.outcome.failure)).toContain('day');
    expect(bad.children).toEqual([]);
  });

  it('makes several outputs of one calculator partial when one of them is null at run', async () => {
    const child = await calendar();
    const { outcome } = await run(
      [{ id: 'call', child, parameters: { wk_from: '2024-01-01', wk_to: '${nothing}' }, output: caller }],
      { nothing: { type: 'DATE' } },
    );
    expect(outcome.failure).toMatchObject({
      details: { child_code: 'pipeline.execution.calculator_keys_partial', child_execution_id: null },
    });
  });
});

describe('what happened to a pin since the parent was saved', () => {
  const status = (child: string, to: 'DISCARDED' | 'DRAFT') =>
    bench.db.database.execute(
      `UPDATE pipeline_versions SET status = $2, discarded_at = CASE WHEN $2 = 'DISCARDED' THEN NOW() END,
              discarded_by = CASE WHEN $2 = 'DISCARDED' THEN $3::uuid END WHERE pipeline_id = $1`,
      [child, to, bench.workspace.userId],
    );

  it.each(['discarded', 'purged', 'moved to another workspace'])(
    'a child that was %s fails its node before it has a row, and says so',
    async (what) => {
      const child = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
      if (what === 'discarded') await status(child, 'DISCARDED');
      else if (what === 'purged') {
        await bench.db.database.execute('DELETE FROM pipeline_versions WHERE pipeline_id = $1', [child]);
      } else {
        const other = await TestWorkspace.create(bench.db.database);
        await bench.db.database.execute('UPDATE pipelines SET workspace_id = $2 WHERE id = $1', [
          child,
          other.workspaceId,
        ]);
      }
      const { outcome, children } = await run([{ id: 'call', child, output: caller }]);
      expect(outcome).toMatchObject({
        status: 'FAILED',
        failure: {
          code: 'pipeline.node.child_execution_failed',
          node: { id: 'call', pipeline: `p/${child}`, pipeline_version: 1 },
          details: { child_code: 'pipeline.execution.not_found', child_execution_id: null },
        },
      });
      expect(children).toEqual([]);
      expect(await leftovers(server)).toEqual(NOTHING_LEFT);
    },
  );

  it('a circle, which only damaged data can make, ends at the depth bound', async () => {
    const child = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
    await bench.db.database.execute(
      `UPDATE pipeline_versions SET body_json = jsonb_set(body_json, '{nodes}', $2::jsonb) WHERE pipeline_id = $1`,
      [child, JSON.stringify([{ id: 'me', type: 'PIPELINE', pipeline: { name: `p/${child}`, version: 1 } }])],
    );
    const { outcome, executionId } = await run([{ id: 'call', child }]);
    expect(outcome).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.child_execution_failed' },
    });
    const [row] = await bench.db.database.query<{ n: number; deepest: number }>(
      `SELECT COUNT(*)::int AS n, COUNT(*) FILTER (WHERE error_json->>'code' = 'pipeline.node.composition_depth_exceeded')::int AS deepest
         FROM pipeline_executions WHERE root_execution_id = $1 AND status = 'FAILED'`,
      [executionId],
    );
    expect(row).toEqual({ n: 5, deepest: 1 });
  });
});

describe('the stream of a parent', () => {
  it('tells of forty children in gap-free numbers, each completed once, while the children keep streams of their own', async () => {
    const child = await bench.workspace.pipeline([{ id: 'rows', sql: 'SELECT * FROM range(100)' }]);
    const calls = Array.from({ length: 40 }, (_, at) => ({ id: `c${at}`, child }));
    const { executionId, outcome, children } = await run([...calls, { id: 'out', sql: 'SELECT 1 AS a' }]);
    expect(outcome).toMatchObject({ status: 'SUCCESS' });
    const frames = await server.frames(me(), executionId);
    expect(frames.map(({ eventId }) => eventId)).toEqual(frames.map((_, at) => at + 1));
    const completed = frames.flatMap(({ type, data }) => {
      const payload = readJson(data);
      return type === 'node_completed' && isJsonObject(payload) ? (payload.child_execution_id ?? []) : [];
    });
    expect([...completed].sort()).toEqual(children.map(({ execution_id }) => execution_id).sort());
    for (const { execution_id } of children) {
      const own = await server.frames(me(), execution_id);
      expect(own.map(({ eventId }) => eventId)).toEqual(own.map((_, at) => at + 1));
      expect(own.every(({ data }) => data.includes(execution_id))).toBe(true);
    }
  });

  it('shows the rows of a running child, and its id from the moment it runs', async () => {
    server = await bench.serverWith({ DATAPIPELINES_EXECUTOR_PROGRESS_SAMPLE_INTERVAL_SECONDS: '1' });
    const child = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const pipeline = await bench.workspace.pipeline([{ id: 'call', child, output: caller }]);
    const { executionId, finished } = await server.launch(me(), pipeline);
    const live = await eventually('the child', async () => {
      const { node_stats: stats } = await server.service.read(me(), executionId);
      const [entry] = stats ? (JSON.parse(stats.text) as Record<string, unknown>[]) : [];
      return entry?.['child_execution_id'] !== undefined && entry;
    });
    expect(live).toMatchObject({ node_id: 'call', status: 'RUNNING' });
    await server.service.cancel(me(), executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    expect((await childrenOf(executionId)).map(({ status }) => status)).toEqual(['ABORTED']);
  });
});

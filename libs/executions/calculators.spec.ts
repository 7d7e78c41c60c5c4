import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isPenstockError, readJson, type JsonObject } from '#libs/kernel';
import {
  ExecutionsBench,
  leftovers,
  milestones,
  NOTHING_LEFT,
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

const WEEK = {
  kind: 'period_bounds',
  inputs: { date: '$day', unit: 'week', week_start: '$org_week_start' },
  context_keys: { start: 'wk_start', end: 'wk_end' },
};
const PARAMETERS = { day: { type: 'DATE', required: false, default: '2026-03-04' } };

/** Runs to the end: outcome, rows, what the record says. */
async function run(nodes: readonly TestNode[], parameters: string = '{}', declared: object = PARAMETERS) {
  server = await bench.serverWith();
  const me = bench.workspace.principal();
  const pipeline = await bench.workspace.pipeline(nodes, { parameters: declared });
  const { executionId, finished } = await server.launch(me, pipeline, {
    parameters: readJson(parameters) as JsonObject,
  });
  const outcome = await finished;
  const rows = outcome.dataReady ? (await server.results.page(me, executionId, {})).rows.map(({ text }) => text) : [];
  const [row] = await bench.db.database.query<{ parameters_json: string; node_stats_json: string }>(
    'SELECT parameters_json, node_stats_json FROM pipeline_executions WHERE execution_id = $1',
    [executionId],
  );
  const record = {
    context: JSON.parse(row!.parameters_json) as Record<string, unknown>,
    stats: JSON.parse(row!.node_stats_json) as Record<string, unknown>[],
  };
  return { outcome, rows, ...record, frames: await server.frames(me, executionId) };
}

describe('calculators in a run', () => {
  it('compute where they stand, and give typed values to what depends on them', async () => {
    const { outcome, rows, context, stats, frames } = await run([
      { id: 'week', calculator: WEEK },
      {
        id: 'long',
        calculator: {
          kind: 'date_diff',
          inputs: { from: '$wk_start', to: '$wk_end', unit: 'day' },
          context_key: 'days',
        },
        after: ['week'],
      },
      {
        id: 'out',
        sql: 'SELECT :wk_start AS a, :wk_end AS b, :days + 1 AS n, typeof(:wk_start) AS t',
        after: ['week', 'long'],
      },
    ]);
    expect(outcome).toMatchObject({ status: 'SUCCESS' });
    expect(rows).toEqual(['["2026-03-02","2026-03-08",7,"DATE"]']);
    expect(context).toMatchObject({ day: '2026-03-04', wk_start: '2026-03-02', wk_end: '2026-03-08', days: 6 });
    expect(stats).toMatchObject([
      { node_id: 'week', status: 'SUCCESS', rows_out: 0, context_values: { wk_start: '2026-03-02' } },
      { node_id: 'long', status: 'SUCCESS', rows_out: 0, context_key: 'days', context_value: 6 },
      { node_id: 'out', status: 'SUCCESS', rows_out: 1 },
    ]);
    expect(stats[0]).not.toHaveProperty('provided_by');
    expect(milestones(frames)).toEqual([
      'execution_started',
      ...Array.from({ length: 3 }, () => ['node_started', 'node_completed']).flat(),
      'pipeline_completed',
      'data_ready',
    ]);
    const completed = frames
      .filter(({ type }) => type === 'node_completed')
      .map(({ data }) => JSON.parse(data) as object);
    expect(completed[1]).toMatchObject({ node_id: 'long', rows_out: 0, context_key: 'days', context_value: 6 });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('may be all there is: a run without a caller has values and no result', async () => {
    const { outcome, context } = await run([{ id: 'week', calculator: WEEK }]);
    expect(outcome).toMatchObject({ status: 'SUCCESS' });
    expect(outcome.dataReady).toBeUndefined();
    expect(context).toMatchObject({ wk_end: '2026-03-08' });
  });

  it('are skipped when the caller gives their values, which count like computed ones', async () => {
    const { rows, context, stats } = await run(
      [
        { id: 'week', calculator: WEEK },
        { id: 'out', sql: 'SELECT :wk_start AS a', after: ['week'] },
      ],
      '{"wk_start":"2020-01-01","wk_end":"2020-02-01"}',
    );
    expect(rows).toEqual(['["2020-01-01"]']);
    expect(context).toMatchObject({ wk_start: '2020-01-01', wk_end: '2020-02-01' });
    expect(stats[0]).toMatchObject({
      status: 'SUCCESS',
      provided_by: 'caller',
      context_values: { wk_start: '2020-01-01', wk_end: '2020-02-01' },
    });
  });

  it('are not started with half of their values', async () => {
    await expect(run([{ id: 'week', calculator: WEEK }], '{"wk_start":"2020-01-01"}')).rejects.toMatchObject({
      code: 'pipeline.execution.calculator_keys_partial',
      status: 400,
    });
  });

  it('shadow a platform key for those behind them only, whoever is faster', async () => {
    const { rows, context } = await run([
      {
        id: 'shift',
        calculator: { kind: 'add_days', inputs: { date: '2000-01-01', days: 1 }, context_key: 'current_date' },
      },
      { id: 'beside', sql: 'SELECT :current_date AS d', output: { target: 'tempdb', table: 'beside' } },
      {
        id: 'out',
        sql: "SELECT d < DATE '2020-01-01' AS early, :current_date AS mine FROM beside",
        after: ['shift', 'beside'],
      },
    ]);
    expect(rows).toEqual(['[false,"2000-01-02"]']);
    expect(context['current_date']).toBe('2000-01-02');
  });

  it('pass a null on to kinds that take one, and fail the run where a value is needed', async () => {
    const day = { day: { type: 'DATE', required: false } };
    const { rows } = await run(
      [
        {
          id: 'pick',
          calculator: { kind: 'coalesce', inputs: { values: ['$day', '2026-01-01'] }, context_key: 'picked' },
        },
        { id: 'out', sql: 'SELECT :picked AS d', after: ['pick'] },
      ],
      '{}',
      day,
    );
    expect(rows).toEqual(['["2026-01-01"]']);
    const { outcome, stats, context, frames } = await run(
      [
        { id: 'week', calculator: WEEK },
        { id: 'out', sql: 'SELECT :wk_start AS d', after: ['week'] },
      ],
      '{}',
      day,
    );
    expect(outcome).toMatchObject({
      status: 'FAILED',
      failure: {
        code: 'pipeline.node.calculator_failed',
        details: { node: 'week', kind: 'period_bounds', input: 'date', reason: 'null' },
        node: { id: 'week', type: 'CALCULATOR', kind: 'period_bounds' },
      },
    });
    expect(stats).toMatchObject([
      { node_id: 'week', status: 'FAILED', rows_out: -1, error_code: 'pipeline.node.calculator_failed' },
      { node_id: 'out', status: 'ABORTED' },
    ]);
    expect(context).not.toHaveProperty('wk_start');
    expect(milestones(frames).slice(-2)).toEqual(['node_failed', 'pipeline_failed']);
  });

  it('fail on a value that only the run shows to be wrong', async () => {
    const { outcome } = await run(
      [
        {
          id: 'z',
          calculator: { kind: 'percent_change', inputs: { current: 1, previous: '$was' }, context_key: 'pc' },
        },
      ],
      '{"was":0}',
      { was: { type: 'INTEGER', required: true } },
    );
    expect(outcome.failure).toMatchObject({ details: { input: 'previous', reason: 'value' } });
  });

  it('take the organisation’s calendar: its fiscal start, 29 February included, its week and its date', async () => {
    server = await bench.serverWith({
      DATAPIPELINES_ORG_FISCAL_START_DATE: '02-29',
      DATAPIPELINES_ORG_WEEK_START: 'sunday',
    });
    const me = bench.workspace.principal();
    const fiscal = { mode: 'fiscal', fiscal_start: '$org_fiscal_start_date' };
    const pipeline = await bench.workspace.pipeline([
      {
        id: 'year',
        calculator: {
          kind: 'period_bounds',
          inputs: { date: '2025-03-01', unit: 'year', ...fiscal },
          context_keys: { start: 'a', end: 'b' },
        },
      },
      {
        id: 'week',
        calculator: {
          kind: 'period_start',
          inputs: { date: '2026-03-04', unit: 'week', week_start: '$org_week_start' },
          context_key: 'w',
        },
      },
      {
        id: 'none',
        calculator: {
          kind: 'date_diff',
          inputs: { from: '$current_date', to: '$current_date', unit: 'day' },
          context_key: 'z',
        },
      },
      { id: 'out', sql: 'SELECT :a AS a, :b AS b, :w AS w, :z AS z', after: ['year', 'week', 'none'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect((await server.results.page(me, executionId, {})).rows.map(({ text }) => text)).toEqual([
      '["2025-02-28","2026-02-27","2026-03-01",0]',
    ]);
  });

  it('run one after another in a long chain, each seeing the one before', async () => {
    server = await bench.serverWith({ DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '1' });
    const me = bench.workspace.principal();
    const chain = Array.from({ length: 200 }, (_, index) => ({
      id: `c${index}`,
      calculator: {
        kind: 'add_days',
        inputs: { date: index === 0 ? '2026-01-01' : `$k${index - 1}`, days: 1 },
        context_key: `k${index}`,
      },
      after: index === 0 ? [] : [`c${index - 1}`],
    }));
    const pipeline = await bench.workspace.pipeline([
      ...chain,
      { id: 'out', sql: 'SELECT :k199 AS d', after: ['c199'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect((await server.results.page(me, executionId, {})).rows.map(({ text }) => text)).toEqual(['["2026-07-20"]']);
  });

  it('do not let a long text be multiplied until the memory is full', async () => {
    const copies = Array.from({ length: 20 }, (_, index) => ({
      id: `c${index}`,
      calculator: { kind: 'if_null', inputs: { value: '$long', default: 'x' }, context_key: `k${index}` },
    }));
    const { outcome, stats } = await run(copies, JSON.stringify({ long: 'ä'.repeat(1 << 20) }), {
      long: { type: 'STRING', required: true },
    });
    expect(outcome.failure).toMatchObject({ code: 'pipeline.node.calculator_failed', details: { reason: 'size' } });
    expect(JSON.stringify(stats).length).toBeLessThan(20_000);
  });

  it('repeat in the record only what it can be rewritten with at every node; the rest stands in the parameters', async () => {
    const copies = Array.from({ length: 100 }, (_, index) => ({
      id: `c${index}`,
      calculator: { kind: 'if_null', inputs: { value: '$long', default: 'x' }, context_key: `k${index}` },
    }));
    const { outcome, stats, context } = await run(copies, JSON.stringify({ long: 'x'.repeat(4000) }), {
      long: { type: 'STRING', required: true },
    });
    expect(outcome.status).toBe('SUCCESS');
    expect(stats[0]!['context_value']).toHaveLength(4000);
    expect(stats[99]!['context_value']).toBeUndefined();
    expect(stats[99]!['context_key']).toBe('k99');
    expect(JSON.stringify(stats).length).toBeLessThan(300_000);
    expect(context['k99']).toHaveLength(4000);
  });

  it('of one document refuse a wrong value before anything is recorded', async () => {
    const before = await bench.db.database.query('SELECT 1 FROM pipeline_executions');
    const error: unknown = await run([{ id: 'week', calculator: WEEK }], '{"wk_start":1,"wk_end":"2026-01-01"}').catch(
      (problem: unknown) => problem,
    );
    expect(isPenstockError(error) && error.code).toBe('pipeline.execution.invalid_parameter_type');
    expect(await bench.db.database.query('SELECT 1 FROM pipeline_executions')).toHaveLength(before.length);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PipelineView } from '#libs/pipelines';
import { usePipelineBench } from '../../../test/fixtures/pipeline-bench.js';
import { DocumentValidation } from '../validation/document-validation.js';

type Json = Record<string, unknown>;
const bench = usePipelineBench();
let child: PipelineView;

beforeAll(async () => {
  bench.template = await bench.newTemplate();
  child = await bench.released(
    bench.body({
      parameters: { day: { type: 'DATE', default: '2024-02-29' } },
      nodes: [
        { id: 'q', type: 'CALCULATOR', kind: 'quarter_of_year', inputs: { date: '$day' }, context_key: 'quarter' },
        {
          id: 'wk',
          type: 'CALCULATOR',
          kind: 'period_bounds',
          inputs: { date: '$day', unit: 'week' },
          context_keys: { start: 'wk_from', end: 'wk_to' },
        },
        { id: 'r', type: 'CALCULATOR', kind: 'round', inputs: { value: 1.25, places: 1 }, context_key: 'rate' },
        { id: 'c', type: 'CALCULATOR', kind: 'coalesce', inputs: { values: ['$day'] }, context_key: 'either' },
        bench.node({ depends_on: ['q', 'wk', 'r', 'c'] }),
      ],
    }),
  );
});

/** Calculators of the parent: one INTEGER, one of any type, one DATE that nothing waits for. */
const COMPUTED = [
  { id: 'p_q', type: 'CALCULATOR', kind: 'quarter_of_year', inputs: { date: '2024-05-01' }, context_key: 'my_quarter' },
  { id: 'p_any', type: 'CALCULATOR', kind: 'coalesce', inputs: { values: ['x'] }, context_key: 'my_any' },
  {
    id: 'p_late',
    type: 'CALCULATOR',
    kind: 'add_days',
    inputs: { date: '2024-05-01', days: 1 },
    context_key: 'my_date',
  },
];

async function judge(parameters: Json, over: Json = {}) {
  const call = {
    id: 'call',
    type: 'PIPELINE',
    pipeline: { name: child.name, version: 1 },
    depends_on: ['p_q', 'p_any'],
    parameters,
    ...over,
  };
  const body = bench.body({ nodes: [...COMPUTED, call], parameters: { n: { type: 'INTEGER' } } });
  const { failures } = await bench.instance.get(DocumentValidation).judge(bench.team.id, body);
  return failures.map(({ code, path, details, message }) => ({ code: code.split('.').at(-1), path, details, message }));
}

describe('what a PIPELINE node may give to its child', () => {
  it('are the keys of the child’s calculators too: literals, references, several of one node together', async () => {
    expect(await judge({ quarter: 3 })).toEqual([]);
    expect(await judge({ quarter: '${my_quarter}' })).toEqual([]);
    expect(await judge({ quarter: '${n}', rate: 1.5, wk_from: '2024-01-01', wk_to: '${current_date}' })).toEqual([]);
  });

  it('must have the type of the output, and its scale', async () => {
    expect(await judge({ quarter: '3' })).toMatchObject([
      { code: 'pipeline_parameter_type_mismatch', path: 'nodes[3].parameters.quarter', details: { reason: 'literal' } },
    ]);
    expect(await judge({ rate: 1.25 })).toMatchObject([
      { code: 'pipeline_parameter_type_mismatch', path: 'nodes[3].parameters.rate' },
    ]);
    expect(await judge({ quarter: '${current_date}' })).toMatchObject([
      { code: 'pipeline_parameter_type_mismatch', details: { found: 'DATE', expected: 'INTEGER' } },
    ]);
  });

  it('of ANY takes every scalar and every reference; an ANY reference fits every key', async () => {
    for (const value of ['text', 12.5, true, '${n}', '${current_date}', '${my_any}']) {
      expect(await judge({ either: value })).toEqual([]);
    }
    expect(await judge({ either: ['a list'] })).toMatchObject([
      { code: 'pipeline_parameter_type_mismatch', details: { expected: 'ANY', reason: 'literal' } },
    ]);
    expect(await judge({ day: '${my_any}', quarter: '${my_any}' })).toEqual([]);
  });

  it('of a calculator with several outputs come together or not at all', async () => {
    expect(await judge({ wk_to: '2024-01-01' })).toMatchObject([
      {
        code: 'pipeline_parameter_unmapped',
        path: 'nodes[3].parameters',
        details: { reason: 'calculator_keys_partial', calculator: 'wk', missing: ['wk_from'] },
      },
    ]);
  });

  it('that a calculator of the parent computes must be computed by then', async () => {
    const [failure, ...others] = await judge({ day: '${my_date}' });
    expect(others).toEqual([]);
    expect(failure).toMatchObject({
      code: 'calculator_input_unordered',
      path: 'nodes[3].parameters.day',
      details: { parameter: 'day', key: 'my_date', writer: 'nodes[2]' },
    });
    expect(failure!.message).toContain('depends_on');
    expect(await judge({ day: '${my_date}' }, { depends_on: ['p_late'] })).toEqual([]);
  });

  it('is listed when a key is unknown, those of calculators behind the declared ones', async () => {
    const [failure] = await judge({ quarters: 1 });
    expect(failure).toMatchObject({ code: 'pipeline_parameter_unknown' });
    expect(failure!.message).toContain('It takes: day, quarter, wk_to, wk_from, rate, either.');
  });
});

describe('versions that call each other over time', () => {
  const calling = ({ name }: PipelineView, version: number): Json => ({
    id: `to_${version}`,
    type: 'PIPELINE',
    pipeline: { name, version },
  });
  const me = () => bench.team.principal();
  const next = async (view: PipelineView, nodes: Json[]): Promise<PipelineView> => {
    const draft = await bench.authoring.update(me(), view.id, bench.rewrite(view, { nodes }), view.body_hash);
    return bench.lifecycle.release(me(), view.id, draft.body_hash, { releasePinnedTemplates: true });
  };

  it('make no circle: a later version above an earlier one is a finite chain, bounded by its depth', async () => {
    const a1 = await bench.released();
    const b1 = await bench.released(bench.body({ nodes: [calling(a1, 1)] }));
    const a2 = await next(a1, [calling(b1, 1)]);
    const b2 = await next(b1, [calling(a2, 2)]);
    // a@3 → b@2 → a@2 → b@1 → a@1 is five deep, and the next one is too deep.
    const a3 = await next(a2, [calling(b2, 2)]);
    expect(a3.version).toBe(3);
    const body = bench.rewrite(b2, { nodes: [calling(a3, 3)] });
    const { failures } = await bench.instance.get(DocumentValidation).judge(bench.team.id, body);
    expect(failures).toMatchObject([
      {
        code: 'pipeline.validation.composition_too_deep',
        details: {
          depth: 6,
          chain: [`${a3.name}@3`, `${b2.name}@2`, `${a2.name}@2`, `${b1.name}@1`, `${a1.name}@1`],
        },
      },
    ]);
  });

  it('that form a circle all the same, as damaged data may, are refused by their depth and not walked for ever', async () => {
    const a = await bench.released();
    const many = Array.from({ length: 40 }, (_, at) => ({ ...calling(a, 1), id: `c${at}` }));
    await bench.db.database.execute(
      `UPDATE pipeline_versions SET body_json = jsonb_set(body_json, '{nodes}', $2::jsonb) WHERE pipeline_id = $1`,
      [a.id, JSON.stringify(many.slice(0, 1))],
    );
    const validation = bench.instance.get(DocumentValidation);
    const judged = await validation.judge(bench.team.id, bench.body({ nodes: [calling(a, 1)] }));
    expect(judged.failures).toMatchObject([{ details: { reason: 'depth', depth: 6 } }]);
    await bench.db.database.execute(
      `UPDATE pipeline_versions SET body_json = jsonb_set(body_json, '{nodes}', $2::jsonb) WHERE pipeline_id = $1`,
      [a.id, JSON.stringify(many)],
    );
    const wide = await validation.judge(bench.team.id, bench.body({ nodes: [calling(a, 1)] }));
    expect(wide.failures).toMatchObject([{ details: { reason: 'tree_size' } }]);
  });
});

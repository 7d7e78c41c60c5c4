import {
  calculator,
  node,
  pipeline,
  template,
  withCalculator,
  withNode,
  type Json,
} from '../../../test/fixtures/documents.js';

/** By code, without its prefix: documents that raise it, and where. */
export type RuleCases = Record<string, [body: Json, path: string, details?: Json][]>;

/** The calculator group of contract 01 §10. */
export const CALCULATOR_CASES: RuleCases = {
  calculator_node_incomplete: [
    [withCalculator({ kind: undefined }), 'nodes[0]', { missing: ['kind'] }],
    [withCalculator({ kind: 7, inputs: null }), 'nodes[0]', { missing: ['kind', 'inputs'] }],
  ],
  calculator_fields_on_non_calculator: [
    [withNode({ kind: 'date_trunc' }), 'nodes[0].kind'],
    [
      withNode({ inputs: {}, context_keys: {}, context_key: 'a' }),
      'nodes[0].inputs',
      { fields: ['inputs', 'context_key', 'context_keys'] },
    ],
  ],
  calculator_node_has_sql_fields: [
    [withCalculator({ source: 'tempdb' }), 'nodes[0].source', { fields: ['source'] }],
    [
      withCalculator({ template: template('t/ok.sql'), output: { target: 'caller' } }),
      'nodes[0].template',
      { fields: ['template', 'output'] },
    ],
  ],
  calculator_unknown: [
    [withCalculator({ kind: 'Round' }), 'nodes[0].kind', { kind: 'Round' }],
    [withCalculator({ kind: '__proto__' }), 'nodes[0].kind'],
  ],
  calculator_input_missing: [
    [withCalculator({ inputs: {} }), 'nodes[0].inputs.date', { input: 'date', expected: 'DATE' }],
    [withCalculator({ inputs: { date: null } }), 'nodes[0].inputs.date'],
  ],
  calculator_input_unknown: [
    [
      withCalculator({ inputs: { date: '2026-01-01', dates: 1 } }),
      'nodes[0].inputs.dates',
      { reason: 'input', input: 'dates' },
    ],
    [withCalculator({ inputs: { date: '$nope' } }), 'nodes[0].inputs.date', { reason: 'reference', reference: 'nope' }],
    [
      withCalculator({ kind: 'coalesce', inputs: { values: [1, '$nope'] } }),
      'nodes[0].inputs.values[1]',
      { reason: 'reference' },
    ],
  ],
  calculator_input_type_mismatch: [
    [withCalculator({ inputs: { date: 1 } }), 'nodes[0].inputs.date', { reason: 'literal' }],
    [withCalculator({ inputs: { date: '2026-02-30' } }), 'nodes[0].inputs.date', { reason: 'literal' }],
    [withCalculator({ inputs: { date: '$' } }), 'nodes[0].inputs.date', { reason: 'literal' }],
    [
      withCalculator({ inputs: { date: '$p' } }, { p: { type: 'TIMESTAMP' } }),
      'nodes[0].inputs.date',
      { reason: 'reference', expected: 'DATE', found: 'TIMESTAMP' },
    ],
    [withCalculator({ inputs: { date: '$current_timestamp' } }), 'nodes[0].inputs.date', { found: 'TIMESTAMP' }],
    [withCalculator({ inputs: { date: '$org_timezone' } }), 'nodes[0].inputs.date', { found: 'STRING' }],
    [
      withCalculator({ kind: 'period_start', inputs: { date: '$current_date', unit: 'decade' } }),
      'nodes[0].inputs.unit',
      { reason: 'literal' },
    ],
    [withCalculator({ kind: 'round', inputs: { value: '1' } }), 'nodes[0].inputs.value'],
    [withCalculator({ kind: 'round', inputs: { value: 1, places: 16 } }), 'nodes[0].inputs.places'],
    [withCalculator({ kind: 'coalesce', inputs: { values: 1 } }), 'nodes[0].inputs.values'],
    [withCalculator({ kind: 'coalesce', inputs: { values: [1, [2]] } }), 'nodes[0].inputs.values[1]'],
    [withCalculator({ kind: 'map', inputs: { value: 1, from: [1, 2], to: [1] } }), 'nodes[0].inputs.to'],
    [
      pipeline({
        nodes: [
          calculator(),
          calculator({ id: 'd', inputs: { date: '$calc' }, context_key: 'calc2', depends_on: ['c'] }),
        ],
      }),
      'nodes[1].inputs.date',
      { found: 'INTEGER' },
    ],
  ],
  calculator_input_unordered: [
    [
      pipeline({
        nodes: [
          calculator({ inputs: { date: '$start' } }),
          calculator({
            id: 'd',
            kind: 'period_start',
            inputs: { date: '2026-01-01', unit: 'week' },
            context_key: 'start',
          }),
        ],
      }),
      'nodes[0].inputs.date',
      { key: 'start', writer: 'nodes[1]' },
    ],
    [withCalculator({ inputs: { date: '$calc' } }), 'nodes[0].inputs.date', { writer: 'nodes[0]' }],
    [
      pipeline({ nodes: [calculator(), node({ template: template('t/calc.sql') })] }),
      'nodes[1].template',
      { key: 'calc', writer: 'nodes[0]' },
    ],
  ],
  calculator_output_collision: [
    [withCalculator({}, { calc: { type: 'DATE' } }), 'nodes[0].context_key', { first: 'parameters.calc' }],
    [
      pipeline({ nodes: [calculator(), calculator({ id: 'd' })] }),
      'nodes[1].context_key',
      { key: 'calc', first: 'nodes[0].context_key' },
    ],
    [
      withCalculator({
        kind: 'period_bounds',
        inputs: { date: '2026-01-01', unit: 'week' },
        context_key: undefined,
        context_keys: { start: 'a', end: 'a' },
      }),
      'nodes[0].context_keys.end',
      { first: 'nodes[0].context_keys.start' },
    ],
  ],
  calculator_output_name_invalid: [
    [withCalculator({ context_key: 'Big' }), 'nodes[0].context_key', { key: 'Big' }],
    [withCalculator({ context_key: '__x__' }), 'nodes[0].context_key'],
    [withCalculator({ context_key: 7 }), 'nodes[0].context_key'],
    [withCalculator({ context_key: 'tempdb' }), 'nodes[0].context_key'],
  ],
  calculator_output_shape_mismatch: [
    [withCalculator({ context_keys: {} }), 'nodes[0].context_key', { reason: 'both_fields' }],
    [withCalculator({ context_key: null }), 'nodes[0].context_key', { reason: 'neither_field' }],
    [
      withCalculator({ context_key: undefined, context_keys: { result: 'a' } }),
      'nodes[0].context_keys',
      { reason: 'single_output_kind' },
    ],
    [
      withCalculator({ kind: 'period_bounds', inputs: { date: '2026-01-01', unit: 'week' } }),
      'nodes[0].context_key',
      { reason: 'multi_output_kind', outputs: ['start', 'end'] },
    ],
  ],
  calculator_output_unknown: [
    [
      withCalculator({
        kind: 'period_bounds',
        inputs: { date: '2026-01-01', unit: 'week' },
        context_key: undefined,
        context_keys: { start: 'a', end: 'b', middle: 'c' },
      }),
      'nodes[0].context_keys.middle',
      { output: 'middle' },
    ],
  ],
  calculator_outputs_incomplete: [
    [
      withCalculator({
        kind: 'period_bounds',
        inputs: { date: '2026-01-01', unit: 'week' },
        context_key: undefined,
        context_keys: { start: 'a', end: null },
      }),
      'nodes[0].context_keys',
      { missing: ['end'] },
    ],
  ],
};

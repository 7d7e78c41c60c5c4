import { describe, expect, it } from '@jest/globals';
import { loadConfiguration, readJson, type JsonValue } from '#libs/kernel';
import type { ParameterDeclaration, PipelineDocument } from '../document/pipeline-document.js';
import { ownVerdict } from '../read-only-pipeline.js';
import { bindParameters, bindTextParameters } from './bind-parameters.js';
import { ContextBuilder, encodeContext } from './context-builder.js';

type Declared = Pick<PipelineDocument, 'parameters'>;
const declare = (parameters: Record<string, Partial<ParameterDeclaration>>): Declared => ({
  parameters: new Map(
    Object.entries(parameters).map(([name, one]) => [name, { type: 'STRING', required: false, ...one }]),
  ),
});
const supplied = (text: string): JsonValue => readJson(text);

function valuesOf(document: Declared, text: string): Record<string, unknown> {
  const bound = bindParameters(document, supplied(text));
  if (!bound.ok) throw new TypeError(JSON.stringify(bound.failures));
  return Object.fromEntries([...bound.values].map(([name, { value }]) => [name, value]));
}

const failures = (bound: ReturnType<typeof bindParameters>): [string, string][] =>
  bound.ok ? [] : bound.failures.map(({ code, path }) => [code, path]);

describe('binding an execute request', () => {
  it('takes the value, else the default, else null – and null never beats a default', () => {
    const document = declare({
      given: {},
      fallback: { default: 'd' },
      nulled: { default: 'd' },
      absent: { type: 'DATE' },
      exact: { type: 'DECIMAL', precision: 6, scale: 3 },
    });
    expect(valuesOf(document, '{"given":"x","nulled":null,"exact":1.50,"ignored":[]}')).toEqual({
      given: 'x',
      fallback: 'd',
      nulled: 'd',
      absent: null,
      exact: expect.objectContaining({ unscaled: expect.anything() }),
    });
    expect(valuesOf(declare({ a: {} }), 'null')).toEqual({ a: null });
    expect(bindParameters(declare({ a: {} }), undefined)).toMatchObject({ ok: true });
  });

  it('collects all failures, tells form from bounds, and rounds nothing', () => {
    const document = declare({
      must: { required: true },
      form: { type: 'INTEGER' },
      bounds: { type: 'INTEGER' },
      scale: { type: 'DECIMAL', precision: 4, scale: 1 },
      big: { type: 'BIGDECIMAL', precision: 3, scale: 0 },
    });
    const bound = bindParameters(
      document,
      supplied('{"must":null,"form":"1","bounds":2147483648,"scale":1.25,"big":"12345"}'),
    );
    expect(failures(bound)).toEqual([
      ['pipeline.execution.parameter_required', 'parameters.must'],
      ['pipeline.execution.invalid_parameter_type', 'parameters.form'],
      ['pipeline.execution.parameter_constraint_violation', 'parameters.bounds'],
      ['pipeline.execution.parameter_constraint_violation', 'parameters.scale'],
      ['pipeline.execution.parameter_constraint_violation', 'parameters.big'],
    ]);
  });

  it('refuses parameters that are no object, and never echoes a whole value', () => {
    expect(failures(bindParameters(declare({}), supplied('[1]')))).toEqual([
      ['pipeline.execution.invalid_parameter_type', 'parameters'],
    ]);
    const bound = bindParameters(
      declare({ d: { type: 'DATE' } }),
      supplied(JSON.stringify({ d: `\u202e\n${'s3cret'.repeat(50)}` })),
    );
    if (bound.ok) throw new TypeError('expected a failure');
    expect(bound.failures[0]!.message.length).toBeLessThan(200);
    expect(bound.failures[0]!.message).not.toMatch(/[\n\u202e]/);
  });

  it('treats __proto__ and constructor as ordinary undeclared keys', () => {
    expect(valuesOf(declare({ a: { default: 'd' } }), '{"__proto__":{"a":"x"},"constructor":"y"}')).toEqual({ a: 'd' });
    const inherited = bindParameters(declare({ tostring: { required: true } }), supplied('{}'));
    expect(inherited.ok).toBe(false);
  });
});

describe('binding the query of an endpoint', () => {
  it('reads every type strictly from text', () => {
    const document = declare({
      n: { type: 'INTEGER' },
      b: { type: 'BOOLEAN' },
      s: {},
      d: { type: 'DECIMAL', precision: 5, scale: 2 },
    });
    const bound = bindTextParameters(document, [
      ['n', '-7'],
      ['b', 'true'],
      ['s', ''],
      ['d', '1.25'],
    ]);
    if (!bound.ok) throw new TypeError('expected values');
    expect([bound.values.get('n')?.value, bound.values.get('b')?.value, bound.values.get('s')?.value]).toEqual([
      -7,
      true,
      '',
    ]);
  });

  it('refuses unknown, repeated and huge ones together with everything else', () => {
    const document = declare({ n: { type: 'INTEGER' }, s: {}, must: { required: true } });
    const bound = bindTextParameters(document, [
      ['n', '1.5'],
      ['s', 'a'],
      ['s', 'b'],
      ['zzz', '1'],
      ['__proto__', '1'],
      ['must', 'é'.repeat(2049)],
    ]);
    expect(failures(bound).map(([code]) => code)).toEqual([
      'endpoint.request.parameter_repeated',
      'endpoint.request.parameter_unknown',
      'endpoint.request.parameter_unknown',
      'endpoint.request.value_too_large',
      'pipeline.execution.invalid_parameter_type',
      'pipeline.execution.parameter_required',
    ]);
  });
});

describe('values for calculator keys', () => {
  const bounds = { name: 'start', key: 'first', type: { type: 'DATE' } } as const;
  const document = {
    ...declare({ p: {} }),
    nodes: [
      { id: 'week', type: 'CALCULATOR', outputs: [bounds, { name: 'end', key: 'last', type: { type: 'DATE' } }] },
      {
        id: 'rate',
        type: 'CALCULATOR',
        outputs: [{ name: 'result', key: 'rate', type: { type: 'DECIMAL', precision: 15 } }],
      },
      { id: 'pick', type: 'CALCULATOR', outputs: [{ name: 'result', key: 'pick', type: undefined }] },
    ],
  } as unknown as PipelineDocument;
  const calculated = (text: string) => {
    const bound = bindParameters(document, supplied(text));
    return bound.ok ? encodeContext(bound.calculated) : bound.failures.map(({ code, path }) => `${code} ${path}`);
  };

  it('are typed by the output, exact to the digit, and any scalar where the kind gives any', () => {
    expect(calculated('{"first":"2026-01-05","last":"2026-01-11","rate":12.50,"pick":1.0}')).toBe(
      '{"first":"2026-01-05","last":"2026-01-11","rate":12.50,"pick":1.0}',
    );
    expect(calculated('{"pick":"x","rate":null}')).toBe('{"pick":"x"}');
    expect(calculated('{}')).toBe('{}');
  });

  it('come whole or not at all, and every wrong one is told', () => {
    expect(calculated('{"last":"2026-01-11","first":null}')).toEqual([
      'pipeline.execution.calculator_keys_partial parameters.last',
    ]);
    expect(calculated('{"first":"2026-13-05","last":7,"rate":1234567890123456,"pick":[1]}')).toEqual([
      'pipeline.execution.invalid_parameter_type parameters.first',
      'pipeline.execution.invalid_parameter_type parameters.last',
      'pipeline.execution.parameter_constraint_violation parameters.rate',
      'pipeline.execution.invalid_parameter_type parameters.pick',
    ]);
    const bound = bindParameters(document, supplied('{"first":"2026-01-05"}'));
    expect(bound).toMatchObject({
      failures: [{ details: { node: 'week', supplied: ['first'], missing: ['last'] } }],
    });
  });

  it('may stand in the query of an endpoint too', () => {
    const bound = bindTextParameters(document, [
      ['rate', '2.5'],
      ['pick', '7'],
      ['p', 'x'],
    ]);
    expect(bound.ok && encodeContext(bound.calculated)).toBe('{"rate":2.5,"pick":"7"}');
    expect(failures(bindTextParameters(document, [['first', '2026-01-05']]))).toEqual([
      ['pipeline.execution.calculator_keys_partial', 'parameters.first'],
    ]);
    expect(failures(bindTextParameters(document, [['nope', '1']]))).toEqual([
      ['endpoint.request.parameter_unknown', 'parameters.nope'],
    ]);
  });
});

describe('the Context', () => {
  const builder = new ContextBuilder(loadConfiguration({ DATAPIPELINES_ORG_TIMEZONE: 'Pacific/Auckland' }));
  const facts = { executionId: '0b0e4b3a-0000-4000-8000-000000000001', startedAt: '2026-06-30T23:30:00.123456Z' };

  it('holds the tiers, with the date of the organisation’s zone, and lets a parameter shadow a platform key', () => {
    const bound = bindParameters(
      declare({ org_currency_name: { default: 'Mine' }, day: { type: 'DATE' } }),
      supplied('{}'),
    );
    if (!bound.ok) throw new TypeError('expected values');
    const context = builder.build(bound.values, facts);
    expect(context.get('current_date')).toMatchObject({ value: '2026-07-01', origin: 'platform' });
    expect(context.get('current_timestamp')?.value).toBe(1782862200123456n);
    expect(context.get('org_currency_symbol')).toMatchObject({ value: '$', origin: 'org' });
    expect(context.get('org_currency_name')).toMatchObject({ value: 'Mine', origin: 'parameter' });
    expect(context.get('day')).toMatchObject({ value: null, origin: 'parameter' });
  });

  it('is stored in wire form, exact to the digit', () => {
    const bound = bindParameters(
      declare({
        big: { type: 'BIGINTEGER' },
        d: { type: 'DECIMAL', precision: 6, scale: 3 },
        ts: { type: 'TIMESTAMP' },
      }),
      supplied('{"big":"9007199254740993","d":1.5,"ts":"2026-03-01T07:05+02:00"}'),
    );
    if (!bound.ok) throw new TypeError('expected values');
    expect(encodeContext(bound.values)).toBe('{"big":"9007199254740993","d":1.500,"ts":"2026-03-01T05:05:00.000000Z"}');
    expect(readJson(encodeContext(builder.build(bound.values, facts)))).toMatchObject({
      execution_id: facts.executionId,
    });
  });
});

describe('read-only pipelines', () => {
  const nodes = (...over: object[]): PipelineDocument =>
    ({ nodes: over.map((one, index) => ({ id: `n${index}`, type: 'DQL', source: 'pg', ...one })) }) as never;

  it('read, stage and answer; anything that writes outside staging is named', () => {
    expect(ownVerdict(nodes({}, { output: { target: 'tempdb', table: 't' } }))).toEqual({ ok: true });
    expect(ownVerdict(nodes({}, { type: 'DML' }))).toEqual({ ok: false, nodeId: 'n1', datasource: 'pg' });
    expect(ownVerdict(nodes({ type: 'DDL', source: 'tempdb' }))).toMatchObject({ ok: false, nodeId: 'n0' });
    expect(
      ownVerdict(nodes({ output: { target: 'datasource', datasource: 'w', table: 't', mode: 'append' } })),
    ).toEqual({ ok: false, nodeId: 'n0', datasource: 'w' });
  });
});

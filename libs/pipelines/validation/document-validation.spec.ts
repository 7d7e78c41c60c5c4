import { describe, expect, it } from '@jest/globals';
import { readJson, writeJson } from '#libs/kernel';
import {
  calculator,
  node,
  pipeline,
  template,
  useDocumentBench,
  withCalculator,
  withNode,
  withParameter,
  type Json,
} from '../../../test/fixtures/documents.js';
import { authoringInstance, document, failuresOf, refusal } from '../../../test/fixtures/pipelines.js';
import { Ancestry } from '../document/ancestry.js';
import { Notes } from '../document/notes.js';
import { DocumentValidation } from './document-validation.js';
import { DryRender } from './dry-render.js';
import { DryScope } from './dry-scope.js';

const bench = useDocumentBench();

const PARAMETERS = {
  b: { type: 'BOOLEAN' },
  i: { type: 'INTEGER' },
  bi: { type: 'BIGINTEGER' },
  d: { type: 'DECIMAL', precision: 5, scale: 5 },
  bd: { type: 'BIGDECIMAL', precision: 20, scale: 2 },
  s: { type: 'STRING', default: 'ünï "q" \u{1F680}' },
  bin: { type: 'BINARY' },
  dt: { type: 'DATE' },
  tm: { type: 'TIME' },
  ts: { type: 'TIMESTAMP' },
};

describe('what passes', () => {
  it.each<[string, Json]>([
    ['the smallest document', pipeline()],
    [
      'every type as a sample and every platform key',
      pipeline({ parameters: PARAMETERS, nodes: [node({ template: template('t/typed.sql') })] }),
    ],
    ['FROM-first on tempdb', withNode({ source: 'tempdb', template: template('t/duck.sql') })],
    ['PIVOT with a value list on tempdb', withNode({ source: 'tempdb', template: template('t/duckpivot.sql') })],
    [
      'an H2 template where the engine word is H2',
      { ...withNode({ source: 'tempdb', template: template('t/h2.sql') }), settings: { tempdb: { engine: 'H2' } } },
    ],
    ['a known datasource whose name looks like an environment', withNode({ source: 'prod' })],
    ['no caller at all', withNode({ output: { target: 'tempdb', table: 'x' } })],
    [
      'DML and DDL',
      pipeline({
        nodes: [
          node({ type: 'DML', template: template('t/dml.sql') }),
          node({ id: 'm', type: 'DDL', template: template('t/ddl.sql') }),
        ],
      }),
    ],
    [
      'calculators in a chain, one of them shadowing a platform key, with a query behind them',
      pipeline({
        parameters: { day: { type: 'DATE', required: true }, n: { type: 'BIGINTEGER' } },
        nodes: [
          calculator({ inputs: { date: '$day' } }),
          calculator({
            id: 'd',
            kind: 'coalesce',
            inputs: { values: ['$calc', 1.5, 'x', '$n', true] },
            context_key: 'any_of',
            depends_on: ['c'],
          }),
          calculator({
            id: 'e',
            kind: 'add_days',
            inputs: { date: '$current_date', days: '$any_of' },
            context_key: 'current_date',
            depends_on: ['d'],
          }),
          calculator({ id: 'f', kind: 'round', inputs: { value: '$n', places: 2 }, context_key: 'rounded' }),
          node({ template: template('t/calc.sql'), depends_on: ['e'] }),
        ],
      }),
    ],
    ['a calculator alone', pipeline({ nodes: [calculator({ settings: { timeout_seconds: 5 } })] })],
    [
      'a query on tables whose stagers it depends on, one of them through another',
      pipeline({
        nodes: [
          node({ id: 'a', output: { target: 'tempdb', table: 'stg' } }),
          node({ id: 'b', output: { target: 'tempdb', table: 'other' }, depends_on: ['a'] }),
          node({ source: 'tempdb', template: template('t/ducktwo-tables.sql'), depends_on: ['b'] }),
        ],
      }),
    ],
    [
      'a WITH list of the name of a staged table',
      pipeline({
        nodes: [
          node({ id: 'a', output: { target: 'tempdb', table: 'own' } }),
          node({ source: 'tempdb', template: template('t/ducktwo-tables.sql') }),
        ],
      }),
    ],
    ['an approximate decimal', withParameter({ type: 'DECIMAL', precision: 15, default: 1.5 })],
    ['nulls as absences', pipeline({ settings: null, checks: null, description: null })],
  ])('%s', async (_title, body) => {
    expect(await bench.judge(body)).toEqual([]);
  });

  it('accepts ${p} where the policy binds it', async () => {
    const binding = await authoringInstance(bench.db.database, {
      DATAPIPELINES_TEMPLATES_INTERPOLATED_PARAMETERS: 'bind',
    });
    const body = { ...withParameter({ type: 'STRING' }), nodes: [node({ template: template('t/direct.sql') })] };
    expect((await binding.get(DocumentValidation).judge(bench.team.id, document(body))).failures).toEqual([]);
    await binding.close();
  });
});

describe('the answer', () => {
  it('holds all failures of all groups, in document order, then group order', async () => {
    const found = await bench.judge({
      schema_version: 3,
      name: 'flat',
      settings: { query_timeout_seconds: 0 },
      parameters: { z: { type: 'X' }, a: { type: 'DECIMAL' } },
      nodes: [
        node({ id: 'N', source: 'absent', template: template('t/none.sql'), depends_on: ['q'] }),
        node({ output: { target: 'disk' } }),
      ],
    });
    expect(found.map(({ code }) => code.split('.').at(-1))).toEqual([
      'schema_version_unsupported',
      'name_invalid',
      'pipeline_query_timeout_invalid',
      'parameter_type_invalid',
      'parameter_precision_missing',
      'invalid_identifier',
      'dangling_dependency',
      'unknown_datasource',
      'template_not_found',
      'output_target_invalid',
    ]);
  });

  it('is cut at 200 failures and says so', async () => {
    const nodes = Array.from({ length: 300 }, (_, index) => node({ id: `n${index}`, type: 'nope' }));
    const error = await refusal(bench.validation.accept(bench.team.id, document(pipeline({ nodes }))));
    expect(failuresOf(error)).toHaveLength(200);
    expect(error.details['truncated']).toBe(true);
  });

  it('warns of keys it drops, but not of the server’s own', async () => {
    const body = document({
      ...pipeline({ nodes: [node({ dependson: ['x'], pipeline: {}, output: { target: 'caller', table: 'x' } })] }),
      id: 'x',
      version: 7,
      body_hash: 'h',
      owner: 'o',
      colour: 'red',
    });
    const { warnings, stored, failures } = await bench.validation.judge(bench.team.id, body);
    expect(failures).toEqual([]);
    expect(warnings.map(({ path }) => path).sort()).toEqual([
      'colour',
      'nodes[0].dependson',
      'nodes[0].output.table',
      'nodes[0].pipeline',
    ]);
    expect(readJson(writeJson(stored))).toEqual(
      document({
        schema_version: 1,
        name: 'a/p',
        display_name: 'p',
        description: '',
        parameters: {},
        nodes: [node({ output: { target: 'caller' } })],
      }),
    );
  });

  it.each<[string, unknown, string]>([
    ['an array', [], 'body'],
    ['nodes as an object', pipeline({ nodes: {} }), 'nodes'],
    ['parameters as an array', pipeline({ parameters: [] }), 'parameters'],
    ['a node that is a string', pipeline({ nodes: ['x'] }), 'nodes[0]'],
    ['settings as a number', pipeline({ settings: 5 }), 'settings'],
    ['a template as text', withNode({ template: 't/ok.sql@1' }), 'nodes[0].template'],
    ['depends_on as text', withNode({ depends_on: 'a' }), 'nodes[0].depends_on'],
    ['checks as an object', pipeline({ checks: {} }), 'checks'],
    ['a parameter as text', pipeline({ parameters: { p: 'DATE' } }), 'parameters.p'],
  ])('calls %s malformed', async (_title, body, field) => {
    const error = await refusal(bench.validation.judge(bench.team.id, readJson(writeJson(body))));
    expect([error.code, error.status, error.details['field']]).toEqual([
      'pipeline.execution.invalid_parameter_type',
      400,
      field,
    ]);
  });

  it('never echoes a value that may be a secret, nor more than a line of anything', async () => {
    const secret = `x;password=${'hunter2'.repeat(20)}`;
    const error = await refusal(
      bench.validation.accept(
        bench.team.id,
        document(withNode({ source: secret, template: { id: `t/${'x'.repeat(9000)}`, version: 1 } })),
      ),
    );
    const told = JSON.stringify(error.toBody()).length;
    expect(told).toBeLessThan(3000);
    const leak = failuresOf(error).find(({ code }) => code.endsWith('forbidden_env_specific_value'))!;
    expect(JSON.stringify(leak)).not.toContain('hunter2');
  });
});

describe('the budget of dry renders', () => {
  it('fails what was not rendered when it ends, instead of waiting or passing it', async () => {
    const notes = new Notes();
    const closure = { template: { name: 't/x', version: 1, dialect: 'POSTGRES' }, libraries: new Map() } as never;
    const readNode = { index: 0, path: 'nodes[0]', type: 'DQL' as const, dependsOn: [], settings: {} };
    const ended = AbortSignal.abort();
    const scope = new DryScope(
      () => [new Map()],
      new Map(),
      () => Ancestry.of([readNode]),
    );
    await bench.instance
      .get(DryRender)
      .judge(
        [{ node: readNode, position: 0, type: 'DQL', closure, dialect: 'POSTGRES' }],
        new Set(),
        scope,
        '',
        ended,
        notes,
      );
    expect(notes.sorted([])).toMatchObject([
      { code: 'pipeline.validation.template_render_failed', path: 'nodes[0].template', details: { reason: 'budget' } },
    ]);
  });
});

describe('how many combinations of BOOLEAN parameters are rendered', () => {
  it('is what dry-render-variants says: with 1 the branch that the default takes is the only one judged', async () => {
    const single = await authoringInstance(bench.db.database, { DATAPIPELINES_TEMPLATES_DRY_RENDER_VARIANTS: '1' });
    try {
      const body = (flag: boolean) =>
        document(
          pipeline({
            parameters: { flag: { type: 'BOOLEAN', default: flag } },
            nodes: [node({ template: template('t/branch.sql') })],
          }),
        );
      const codes = async (validation: DocumentValidation, flag: boolean) =>
        (await validation.judge(bench.team.id, body(flag))).failures.map(({ code }) => code);
      const undeclared = ['pipeline.validation.template_parameter_undeclared'];
      const alone = single.get(DocumentValidation);
      expect([await codes(alone, true), await codes(alone, false)]).toEqual([[], undeclared]);
      expect([await codes(bench.validation, true), await codes(bench.validation, false)]).toEqual([
        undeclared,
        undeclared,
      ]);
    } finally {
      await single.close();
    }
  });
});

describe('staged tables', () => {
  const warned = async (body: Json) =>
    (await bench.validation.judge(bench.team.id, document(body))).warnings.map(({ code, path }) => `${code} ${path}`);

  it('that nobody stages are remarked on, unless a DDL node may create them', async () => {
    const reading = node({ source: 'tempdb', template: template('t/duck.sql') });
    expect(await warned(pipeline({ nodes: [reading] }))).toEqual([
      'pipeline.warning.tempdb_table_unknown nodes[0].template',
    ]);
    const creating = node({ id: 'd', type: 'DDL', source: 'tempdb', template: template('t/duckddl.sql') });
    expect(await warned(pipeline({ nodes: [reading, creating] }))).toEqual([]);
  });
});

describe('size', () => {
  it('judges a thousand calculators, each waiting for all before it and reading them', async () => {
    const nodes = Array.from({ length: 1000 }, (_, index) =>
      calculator({
        id: `n${index}`,
        kind: 'coalesce',
        inputs: { values: Array.from({ length: Math.min(index, 100) }, (__, back) => `$k${index - back - 1}`) },
        context_key: `k${index}`,
        depends_on: Array.from({ length: index }, (__, earlier) => `n${earlier}`),
      }),
    );
    expect(await bench.judge(pipeline({ nodes }))).toEqual([]);
  }, 20_000);

  it('stops after a thousand failures of lists and maps with a hundred thousand wrong members', async () => {
    const values = Array.from({ length: 100_000 }, (_, index) => (index % 2 ? [index] : `$no${index}`));
    const inputs = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]));
    for (const over of [{ kind: 'coalesce', inputs: { values } }, { inputs: { date: 'x', ...inputs } }]) {
      expect(await bench.judge(withCalculator(over))).toHaveLength(1000);
    }
    const context_keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 'A']));
    expect((await bench.judge(withCalculator({ context_key: undefined, context_keys }))).length).toBe(1000);
  }, 20_000);

  it('keeps a thousand failures of a body that is wrong in a hundred thousand places', async () => {
    // Each kept failure is an object to sort: without a bound one request held the process for seconds.
    const depends_on = Array.from({ length: 100_000 }, (_, index) => `x${index}`);
    const failures = await bench.judge(withNode({ depends_on }));
    expect(failures).toHaveLength(1000);
    expect(failures[0]).toMatchObject({ path: 'nodes[0].depends_on[0]' });
  });

  it('reads a text of a quarter of a megabyte once, however many nodes run it', async () => {
    // Read for each node, it held the process for minutes, and other servers swept its runs as lost.
    const nodes = Array.from({ length: 1000 }, (_, index) =>
      node({ id: `n${index}`, template: template('t/large.sql'), output: { target: 'tempdb', table: `t${index}` } }),
    );
    expect(await bench.judge(pipeline({ nodes }))).toEqual([]);
  }, 20_000);

  it('judges a thousand nodes, each waiting for all before it, without a deep stack', async () => {
    const nodes = Array.from({ length: 1000 }, (_, index) =>
      node({
        id: `n${index}`,
        output: { target: 'tempdb', table: `t${index}` },
        depends_on: Array.from({ length: index }, (__, earlier) => `n${earlier}`),
      }),
    );
    expect(await bench.judge(pipeline({ nodes }))).toEqual([]);
    (nodes[0] as { depends_on: string[] }).depends_on = ['n999'];
    const [circle, ...others] = await bench.judge(pipeline({ nodes }));
    expect(others).toEqual([]);
    expect(circle).toMatchObject({
      code: 'pipeline.validation.cycle_detected',
      details: { cycle_path: ['n0', 'n999', 'n0'] },
    });
  }, 20_000);

  it('finds every one of many separate circles', async () => {
    const nodes = Array.from({ length: 100 }, (_, index) =>
      node({
        id: `n${index}`,
        output: { target: 'tempdb', table: `t${index}` },
        depends_on: [`n${index % 2 ? index - 1 : index + 1}`],
      }),
    );
    const found = await bench.judge(pipeline({ nodes }));
    expect(found.filter(({ code }) => code.endsWith('cycle_detected'))).toHaveLength(50);
  });
});

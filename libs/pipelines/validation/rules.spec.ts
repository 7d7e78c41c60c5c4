import { describe, expect, it } from '@jest/globals';
import {
  calculator,
  node,
  pipeline,
  template,
  useDocumentBench,
  withCalculator,
  withNode,
  withParameter,
} from '../../../test/fixtures/documents.js';
import { RULE_GROUPS } from '../document/rule-groups.js';
import { CALCULATOR_CASES, type RuleCases } from './calculator-cases.fixture.js';

const bench = useDocumentBench();

/** One document per code of the table: what raises it, and where. */
const CASES: RuleCases = {
  schema_version_unsupported: [
    [pipeline({ schema_version: 2 }), 'schema_version'],
    [pipeline({ schema_version: '1' }), 'schema_version'],
  ],
  name_invalid: [
    [pipeline({ name: 'flat' }), 'name', { reason: 'folder_required' }],
    [pipeline({ name: 'A/b' }), 'name', { reason: 'grammar' }],
    [pipeline({ name: undefined }), 'name', { reason: 'grammar' }],
    [pipeline({ name: 7 }), 'name', { reason: 'grammar' }],
  ],
  invalid_identifier: [
    [withNode({ id: 'Nope' }), 'nodes[0].id'],
    [withNode({ id: undefined }), 'nodes[0].id'],
    [withNode({ id: 'a'.repeat(64) }), 'nodes[0].id'],
    [withNode({ output: { target: 'tempdb', table: 'a b' } }), 'nodes[0].output.table'],
  ],
  reserved_identifier: [
    [withNode({ id: 'tempdb' }), 'nodes[0].id'],
    [withNode({ output: { target: 'tempdb', table: '__x__' } }), 'nodes[0].output.table'],
  ],
  duplicate_node_id: [
    [
      pipeline({ nodes: [node({ output: { target: 'tempdb', table: 'a' } }), node()] }),
      'nodes[1].id',
      { first: 'nodes[0]' },
    ],
  ],
  duplicate_output_table: [
    [
      pipeline({
        nodes: [
          node({ output: { target: 'tempdb', table: 'a' } }),
          node({ id: 'm', output: { target: 'tempdb', table: 'a' } }),
        ],
      }),
      'nodes[1].output.table',
    ],
  ],
  forbidden_env_specific_value: [
    [withNode({ source: 'jdbc:postgresql://h/db' }), 'nodes[0].source', { heuristic: 'JDBC_URL' }],
    [withNode({ source: 's3://bucket' }), 'nodes[0].source', { heuristic: 'JDBC_URL' }],
    [withNode({ source: 'x;password=hunter2' }), 'nodes[0].source', { heuristic: 'CREDENTIAL' }],
    [withNode({ id: '8c2d1e5e-1111-4222-8333-444455556666' }), 'nodes[0].id', { heuristic: 'UUID' }],
    [withNode({ source: '10.0.0.1' }), 'nodes[0].source', { heuristic: 'IP_ADDRESS' }],
    [withNode({ source: 'fe80::1' }), 'nodes[0].source', { heuristic: 'IP_ADDRESS' }],
    [withNode({ source: 'db.internal.example' }), 'nodes[0].source', { heuristic: 'HOSTNAME' }],
    [withNode({ source: 'db:5432' }), 'nodes[0].source', { heuristic: 'HOSTNAME' }],
    [withNode({ source: '/var/lib/x.db' }), 'nodes[0].source', { heuristic: 'ABSOLUTE_PATH' }],
    [withNode({ id: 'staging' }), 'nodes[0].id', { heuristic: 'ENVIRONMENT_LITERAL' }],
    [withNode({ settings: { note: '/etc/passwd' } }), 'nodes[0].settings.note', { heuristic: 'ABSOLUTE_PATH' }],
    [pipeline({ settings: { 'db.example.org': 1 } }), 'settings.db.example.org', { heuristic: 'HOSTNAME' }],
  ],
  empty_pipeline: [
    [pipeline({ nodes: [] }), 'nodes'],
    [pipeline({ nodes: undefined }), 'nodes'],
  ],
  pipeline_too_large: [
    [
      pipeline({
        nodes: Array.from({ length: 1001 }, (_, i) =>
          node({ id: `n${i}`, output: { target: 'tempdb', table: `t${i}` } }),
        ),
      }),
      'nodes',
      { limit: 'nodes' },
    ],
    [
      pipeline({ parameters: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`p${i}`, { type: 'DATE' }])) }),
      'parameters',
      { limit: 'parameters' },
    ],
  ],
  dangling_dependency: [[withNode({ depends_on: ['x'] }), 'nodes[0].depends_on[0]', { dependency: 'x' }]],
  cycle_detected: [
    [withNode({ depends_on: ['n'] }), 'nodes[0].depends_on', { cycle_path: ['n', 'n'] }],
    [
      pipeline({
        nodes: [
          node({ id: 'a', depends_on: ['b'], output: { target: 'tempdb', table: 'a' } }),
          node({ id: 'b', depends_on: ['a'] }),
        ],
      }),
      'nodes[0].depends_on',
      { cycle_path: ['a', 'b', 'a'] },
    ],
  ],
  multiple_caller_nodes: [
    [
      pipeline({ nodes: [node(), node({ id: 'm', output: { target: 'caller' } })] }),
      'nodes[1].output',
      { first: 'nodes[0]' },
    ],
  ],
  type_invalid: [
    [withNode({ type: 'dql' }), 'nodes[0].type'],
    [withNode({ type: 'TRANSFORM' }), 'nodes[0].type'],
    [withNode({ type: undefined }), 'nodes[0].type'],
  ],
  dml_has_output: [
    [withNode({ type: 'DML', template: template('t/dml.sql'), output: { target: 'caller' } }), 'nodes[0].output'],
  ],
  ddl_has_output: [[withNode({ type: 'DDL', template: template('t/ddl.sql'), output: {} }), 'nodes[0].output']],
  output_target_invalid: [
    [withNode({ output: { target: 'disk' } }), 'nodes[0].output.target'],
    [withNode({ output: {} }), 'nodes[0].output.target'],
  ],
  output_table_missing: [
    [withNode({ output: { target: 'tempdb' } }), 'nodes[0].output.table'],
    [
      withNode({ output: { target: 'datasource', datasource: 'pg', mode: 'append', table: 7 } }),
      'nodes[0].output.table',
    ],
  ],
  output_datasource_missing: [
    [withNode({ output: { target: 'datasource', table: 't', mode: 'append' } }), 'nodes[0].output.datasource'],
  ],
  output_mode_invalid: [
    [withNode({ output: { target: 'datasource', datasource: 'pg', table: 't' } }), 'nodes[0].output.mode'],
    [
      withNode({ output: { target: 'datasource', datasource: 'pg', table: 't', mode: 'upsert' } }),
      'nodes[0].output.mode',
    ],
  ],
  statement_type_mismatch: [
    [withNode({ template: template('t/dml.sql') }), 'nodes[0].template', { reason: 'class' }],
    [withNode({ type: 'DML' }), 'nodes[0].template', { reason: 'class' }],
    [withNode({ type: 'DDL', template: template('t/dml.sql') }), 'nodes[0].template', { reason: 'class' }],
    [withNode({ template: template('t/two.sql') }), 'nodes[0].template', { reason: 'multiple_statements' }],
    [withNode({ template: template('t/empty.sql') }), 'nodes[0].template', { reason: 'empty' }],
    [withNode({ source: 'tempdb', template: template('t/duckset.sql') }), 'nodes[0].template', { reason: 'class' }],
    [
      withNode({ source: 'tempdb', template: template('t/ducktwo.sql') }),
      'nodes[0].template',
      { reason: 'multiple_statements' },
    ],
    [withNode({ source: 'tempdb', template: template('t/duckbad.sql') }), 'nodes[0].template', { reason: 'syntax' }],
  ],
  unknown_datasource: [
    [withNode({ source: 'absent' }), 'nodes[0].source', { datasource: 'absent' }],
    [withNode({ source: 'theirs' }), 'nodes[0].source'],
    [withNode({ source: undefined }), 'nodes[0].source'],
    [
      withNode({ output: { target: 'datasource', datasource: 'tempdb', table: 't', mode: 'append' } }),
      'nodes[0].output.datasource',
    ],
  ],
  datasource_readonly: [
    [
      withNode({ type: 'DML', source: 'prod', template: template('t/dml.sql') }),
      'nodes[0].source',
      { shape: 'dml_source' },
    ],
    [
      withNode({ type: 'DDL', source: 'prod', template: template('t/ddl.sql') }),
      'nodes[0].source',
      { shape: 'ddl_source' },
    ],
    [
      withNode({ output: { target: 'datasource', datasource: 'prod', table: 't', mode: 'append' } }),
      'nodes[0].output.datasource',
      { shape: 'output_target' },
    ],
  ],
  template_not_found: [
    [withNode({ template: template('t/none.sql') }), 'nodes[0].template.id'],
    [withNode({ template: undefined }), 'nodes[0].template'],
    [withNode({ template: { version: 1 } }), 'nodes[0].template.id'],
  ],
  template_version_not_found: [
    [withNode({ template: template('t/ok.sql', 9) }), 'nodes[0].template.version'],
    [withNode({ template: template('t/gone.sql') }), 'nodes[0].template.version'],
    [withNode({ template: { id: 't/ok.sql', version: '1' } }), 'nodes[0].template.version'],
    [withNode({ template: { id: 't/ok.sql' } }), 'nodes[0].template.version'],
  ],
  template_type_mismatch: [[withNode({ template: template('t/lib.ftl') }), 'nodes[0].template', { reason: 'library' }]],
  template_dialect_mismatch: [
    [withNode({ source: 'lite' }), 'nodes[0].template', { template_dialect: 'POSTGRES', source_dialect: 'SQLITE' }],
    [withNode({ source: 'tempdb', template: template('t/h2.sql') }), 'nodes[0].template'],
  ],
  template_parameter_undeclared: [
    [withNode({ template: template('t/var.sql') }), 'nodes[0].template', { variable: 'nope', line: 1, column: 10 }],
    [withNode({ template: template('t/bind.sql') }), 'nodes[0].template', { variable: 'nope' }],
    [
      {
        ...withParameter({ type: 'STRING' }),
        parameters: { flag: { type: 'BOOLEAN' } },
        nodes: [node({ template: template('t/branch.sql') })],
      },
      'nodes[0].template',
      { variable: 'gone' },
    ],
  ],
  template_render_failed: [
    [withNode({ template: template('t/stop.sql') }), 'nodes[0].template'],
    [withNode({ template: template('t/native.sql') }), 'nodes[0].template', { reason: 'native_placeholder' }],
    [
      { ...withParameter({ type: 'STRING' }), nodes: [node({ template: template('t/structure.sql') })] },
      'nodes[0].template',
      { reason: 'bind_in_structure' },
    ],
  ],
  parameter_interpolated: [
    [
      { ...withParameter({ type: 'STRING' }), nodes: [node({ template: template('t/direct.sql') })] },
      'nodes[0].template',
      { parameter: 'p', suggestion: ':p', reason: 'direct', template_id: 't/direct.sql', template_version: 1 },
    ],
    [
      pipeline({ nodes: [calculator(), node({ template: template('t/calcdirect.sql'), depends_on: ['c'] })] }),
      'nodes[1].template',
      { parameter: 'calc', reason: 'direct' },
    ],
    [
      pipeline({ nodes: [calculator(), node({ template: template('t/calctest.sql'), depends_on: ['c'] })] }),
      'nodes[1].template',
      { parameter: 'calc', reason: 'guarded_condition' },
    ],
  ],
  parameter_name_invalid: [
    [pipeline({ parameters: { 'Bad name': { type: 'DATE' } } }), 'parameters.Bad name'],
    [pipeline({ parameters: { __proto: { type: 'DATE' }, __x__: { type: 'DATE' } } }), 'parameters.__x__'],
  ],
  parameter_type_invalid: [
    [withParameter({ type: 'NULL' }), 'parameters.p.type'],
    [withParameter({ type: 'date' }), 'parameters.p.type'],
    [withParameter({}), 'parameters.p.type'],
  ],
  parameter_precision_missing: [
    [withParameter({ type: 'DECIMAL' }), 'parameters.p.precision'],
    [withParameter({ type: 'DECIMAL', precision: 16 }), 'parameters.p.precision'],
    [withParameter({ type: 'DECIMAL', precision: 2.5 }), 'parameters.p.precision'],
  ],
  parameter_scale_missing: [
    [withParameter({ type: 'BIGDECIMAL' }), 'parameters.p.scale'],
    [withParameter({ type: 'BIGDECIMAL', precision: 3, scale: 4 }), 'parameters.p.scale'],
    [withParameter({ type: 'DECIMAL', precision: 3, scale: -1 }), 'parameters.p.scale'],
  ],
  conflicting_required_default: [
    [withParameter({ type: 'DATE', required: true, default: '2026-01-01' }), 'parameters.p'],
  ],
  default_type_mismatch: [
    [withParameter({ type: 'INTEGER', default: '1' }), 'parameters.p.default'],
    [withParameter({ type: 'DECIMAL', precision: 3, scale: 1, default: 1.25 }), 'parameters.p.default'],
    [withParameter({ type: 'DATE', default: '2026-02-30' }), 'parameters.p.default'],
    [withParameter({ type: 'STRING', default: ['x'] }), 'parameters.p.default'],
  ],
  tempdb_engine_unsupported: [[pipeline({ settings: { tempdb: { engine: 'SQLITE' } } }), 'settings.tempdb.engine']],
  tempdb_config_invalid: [
    [pipeline({ settings: { tempdb: { config: { max_memory_mb: 0 } } } }), 'settings.tempdb.config.max_memory_mb'],
    [
      pipeline({ settings: { tempdb: { config: { max_memory_mb: 1_000_000 } } } }),
      'settings.tempdb.config.max_memory_mb',
    ],
    [pipeline({ settings: { tempdb: { config: { threads: 4 } } } }), 'settings.tempdb.config'],
  ],
  node_timeout_invalid: [
    [withNode({ settings: { timeout_seconds: 901 } }), 'nodes[0].settings.timeout_seconds'],
    [withNode({ settings: { timeout_seconds: '60' } }), 'nodes[0].settings.timeout_seconds'],
  ],
  node_query_timeout_invalid: [
    [
      withNode({ settings: { timeout_seconds: 10, query_timeout_seconds: 11 } }),
      'nodes[0].settings.query_timeout_seconds',
    ],
    [withNode({ settings: { query_timeout_seconds: 301 } }), 'nodes[0].settings.query_timeout_seconds'],
    [withCalculator({ settings: { query_timeout_seconds: 1 } }), 'nodes[0].settings.query_timeout_seconds'],
  ],
  pipeline_query_timeout_invalid: [
    [pipeline({ settings: { query_timeout_seconds: 0 } }), 'settings.query_timeout_seconds'],
  ],
  tempdb_input_unordered: [
    [
      pipeline({
        nodes: [
          node({ id: 'a', output: { target: 'tempdb', table: 'stg' } }),
          node({ source: 'tempdb', template: template('t/duck.sql') }),
        ],
      }),
      'nodes[1].template',
      { table: 'stg', producer: 'nodes[0]' },
    ],
    [
      pipeline({
        nodes: [
          node({ id: 'a', output: { target: 'tempdb', table: 'stg' } }),
          node({ id: 'b', output: { target: 'tempdb', table: 'other' } }),
          node({ source: 'tempdb', template: template('t/ducktwo-tables.sql'), depends_on: ['a'] }),
        ],
      }),
      'nodes[2].template',
      { table: 'other', producer: 'nodes[1]' },
    ],
    [
      withNode({ source: 'tempdb', template: template('t/duck.sql'), output: { target: 'tempdb', table: 'stg' } }),
      'nodes[0].template',
      { table: 'stg', producer: 'nodes[0]' },
    ],
  ],
  ...CALCULATOR_CASES,
  check_invalid: [[pipeline({ checks: [{ id: 'c' }] }), 'checks[0].name']],
  invalid_parameter_type: [
    [pipeline({ display_name: 5 }), 'display_name'],
    [withNode({ depends_on: [5] }), 'nodes[0].depends_on[0]'],
  ],
};

describe('every code of the table', () => {
  it('has a document that raises it', () => {
    const raised = new Set(Object.keys(CASES));
    // Composition needs children that are stored; it is judged in its own suite.
    const { composition: _composition, ...groups } = RULE_GROUPS;
    const listed = Object.values(groups)
      .flat()
      .map((code) => code.split('.').at(-1)!);
    // A taken name is found by the unique constraint, at the write.
    expect(listed.filter((code) => !raised.has(code))).toEqual(['duplicate_name']);
  });

  it.each(
    Object.entries(CASES).flatMap(([code, cases]) =>
      cases.map(([body, path, details], index) => [`${code} ${index}`, code, body, path, details] as const),
    ),
  )('%s', async (_title, code, body, path, details) => {
    const found = await bench.judge(body);
    const match = found.find((failure) => failure.code.endsWith(`.${code}`) && failure.path === path);
    expect(match ?? found).toMatchObject({ path, ...(details ? { details } : {}) });
  });
});

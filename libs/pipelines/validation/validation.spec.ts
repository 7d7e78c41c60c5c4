import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson, writeJson, type JsonValue } from '#libs/kernel';
import { createWorkspace, type TestWorkspace } from '../../../test/fixtures/authors.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { RULE_GROUPS } from '../document/rule-groups.js';
import {
  authoringInstance,
  createDatasource,
  document,
  failuresOf,
  refusal,
  type AuthoringInstance,
} from '../../../test/fixtures/pipelines.js';
import { TemplateAuthoring, TemplateLifecycle } from '#libs/templates';
import { readBody } from '../document/read-document.js';
import { DocumentValidation } from './document-validation.js';
import { judgeEnvironmentValues } from './environment-values.js';
import { judgeGraph } from './graph-rules.js';
import { judgeRegistries } from './registry-rules.js';
import { judgeCallers, judgeNodeIds, judgeOutputTables } from './structure-rules.js';

let db: TestDatabase;
let team: TestWorkspace;
let instance: AuthoringInstance;
let validation: DocumentValidation;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  instance = await authoringInstance(db.database);
  validation = instance.get(DocumentValidation);
  const authoring = instance.get(TemplateAuthoring);
  const lifecycle = instance.get(TemplateLifecycle);
  await createDatasource(db.database, team, 'pg');
  await createDatasource(db.database, team, 'prod', { readonly: true });
  await createDatasource(db.database, team, 'lite', { dialect: 'SQLITE' });
  const stranger = await createWorkspace(db.database);
  await createDatasource(db.database, stranger, 'theirs');
  const templates: [string, string, Record<string, unknown>?][] = [
    ['t/ok.sql', 'SELECT 1'],
    ['t/duck.sql', 'FROM stg', { dialect: 'DUCKDB' }],
    ['t/duckset.sql', 'SET threads = 1', { dialect: 'DUCKDB' }],
    ['t/ducktwo.sql', 'SELECT 1; SELECT 2', { dialect: 'DUCKDB' }],
    ['t/duckbad.sql', 'SELEC 1 FROM', { dialect: 'DUCKDB' }],
    ['t/duckpivot.sql', 'PIVOT t ON x IN (1, 2) USING sum(y)', { dialect: 'DUCKDB' }],
    ['t/h2.sql', 'SELECT 1', { dialect: 'H2' }],
    ['t/dml.sql', 'INSERT INTO t VALUES (1)'],
    ['t/ddl.sql', 'CREATE TABLE t (a int)'],
    ['t/two.sql', 'SELECT 1; DROP TABLE t'],
    ['t/empty.sql', '-- nothing'],
    ['t/var.sql', 'SELECT ${nope}'],
    ['t/bind.sql', 'SELECT :nope, :also'],
    ['t/direct.sql', 'SELECT ${p}'],
    ['t/branch.sql', '<#if flag>SELECT 1<#else>SELECT ${gone}</#if>'],
    ['t/stop.sql', '<#stop "no">'],
    ['t/native.sql', 'SELECT $1'],
    ['t/structure.sql', 'SELECT 1 FROM :p'],
    ['t/lib.ftl', '<#macro m x>${x}</#macro>', { is_library: true }],
    [
      't/typed.sql',
      'SELECT :b, :i, :bi, :d, :bd, :s, :bin, :dt, :tm, :ts, :current_date, :org_timezone, :execution_id',
    ],
  ];
  for (const [id, body, over] of templates) {
    await authoring.create(team.principal(), {
      id,
      dialect: 'POSTGRES',
      display_name: id,
      description: '',
      body,
      ...over,
    });
  }
  const gone = await authoring.create(team.principal(), {
    id: 't/gone.sql',
    dialect: 'POSTGRES',
    display_name: 'x',
    description: '',
    body: 'SELECT 1',
  });
  await lifecycle.release(team.principal(), gone.id, gone.body_hash);
  await lifecycle.discard(team.principal(), gone.id, 1);
}, 60_000);
afterAll(async () => {
  await instance.close();
  await db.drop();
});

type Json = Record<string, unknown>;
const template = (id: string, version = 1): Json => ({ id, version });
const node = (over: Json = {}): Json => ({
  id: 'n',
  type: 'DQL',
  source: 'pg',
  template: template('t/ok.sql'),
  ...over,
});
const pipeline = (over: Json = {}): Json => ({ name: 'a/p', parameters: {}, nodes: [node()], ...over });
const withNode = (over: Json): Json => pipeline({ nodes: [node(over)] });
const withParameter = (declaration: Json): Json => pipeline({ parameters: { p: declaration } });

async function judge(body: Json | JsonValue): Promise<{ code: string; path: string; details?: Json | undefined }[]> {
  const value = typeof body === 'object' && body !== null ? document(body as Json) : (body as JsonValue);
  const { failures } = await validation.judge(team.id, value);
  for (const failure of failures) expect(failure.message.length).toBeGreaterThan(10);
  return failures.map(({ code, path, details }) => ({ code, path, details }));
}

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

/** One document per code of the table: what raises it, and where. */
const CASES: Record<string, [body: Json, path: string, details?: Json][]> = {
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
    [withNode({ type: 'PIPELINE' }), 'nodes[0].type'],
    [withNode({ type: 'CALCULATOR' }), 'nodes[0].type'],
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
  ],
  pipeline_query_timeout_invalid: [
    [pipeline({ settings: { query_timeout_seconds: 0 } }), 'settings.query_timeout_seconds'],
  ],
  calculator_fields_on_non_calculator: [[withNode({ kind: 'date_trunc' }), 'nodes[0].kind']],
  check_invalid: [[pipeline({ checks: [{ id: 'c' }] }), 'checks']],
  invalid_parameter_type: [
    [pipeline({ display_name: 5 }), 'display_name'],
    [withNode({ depends_on: [5] }), 'nodes[0].depends_on[0]'],
  ],
};

describe('every code of the table', () => {
  it('has a document that raises it', () => {
    const raised = new Set(Object.keys(CASES));
    const listed = Object.values(RULE_GROUPS)
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
    const found = await judge(body);
    const match = found.find((failure) => failure.code.endsWith(`.${code}`) && failure.path === path);
    expect(match ?? found).toMatchObject({ path, ...(details ? { details } : {}) });
  });
});

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
    ['an approximate decimal', withParameter({ type: 'DECIMAL', precision: 15, default: 1.5 })],
    ['nulls as absences', pipeline({ settings: null, checks: null, description: null })],
  ])('%s', async (_title, body) => {
    expect(await judge(body)).toEqual([]);
  });

  it('accepts ${p} where the policy binds it', async () => {
    const binding = await authoringInstance(db.database, { DATAPIPELINES_TEMPLATES_INTERPOLATED_PARAMETERS: 'bind' });
    const body = { ...withParameter({ type: 'STRING' }), nodes: [node({ template: template('t/direct.sql') })] };
    expect((await binding.get(DocumentValidation).judge(team.id, document(body))).failures).toEqual([]);
    await binding.close();
  });
});

describe('the answer', () => {
  it('holds all failures of all groups, in document order, then group order', async () => {
    const found = await judge({
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
    const error = await refusal(validation.accept(team.id, document(pipeline({ nodes }))));
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
    const { warnings, stored, failures } = await validation.judge(team.id, body);
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
    const error = await refusal(validation.judge(team.id, readJson(writeJson(body))));
    expect([error.code, error.status, error.details['field']]).toEqual([
      'pipeline.execution.invalid_parameter_type',
      400,
      field,
    ]);
  });

  it('never echoes a value that may be a secret, nor more than a line of anything', async () => {
    const secret = `x;password=${'hunter2'.repeat(20)}`;
    const error = await refusal(
      validation.accept(
        team.id,
        document(withNode({ source: secret, template: { id: `t/${'x'.repeat(9000)}`, version: 1 } })),
      ),
    );
    const told = JSON.stringify(error.toBody()).length;
    expect(told).toBeLessThan(3000);
    const leak = failuresOf(error).find(({ code }) => code.endsWith('forbidden_env_specific_value'))!;
    expect(JSON.stringify(leak)).not.toContain('hunter2');
  });
});

describe('size', () => {
  it('judges a thousand nodes, each waiting for all before it, without a deep stack', async () => {
    const nodes = Array.from({ length: 1000 }, (_, index) =>
      node({
        id: `n${index}`,
        output: { target: 'tempdb', table: `t${index}` },
        depends_on: Array.from({ length: index }, (__, earlier) => `n${earlier}`),
      }),
    );
    expect(await judge(pipeline({ nodes }))).toEqual([]);
    (nodes[0] as { depends_on: string[] }).depends_on = ['n999'];
    const [circle, ...others] = await judge(pipeline({ nodes }));
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
    const found = await judge(pipeline({ nodes }));
    expect(found.filter(({ code }) => code.endsWith('cycle_detected'))).toHaveLength(50);
  });
});

describe('mutated bodies', () => {
  const base = document(
    pipeline({
      settings: { tempdb: { engine: 'DUCKDB', config: { max_memory_mb: 64 } }, query_timeout_seconds: 5 },
      parameters: { p: { type: 'DECIMAL', precision: 6, scale: 2, default: 4.5 }, q: { type: 'STRING' } },
      nodes: [
        node({ id: 'a', output: { target: 'tempdb', table: 'x' }, settings: { timeout_seconds: 5 } }),
        node({ id: 'b', source: 'tempdb', template: template('t/duck.sql'), depends_on: ['a'] }),
      ],
      checks: [],
    }),
  );
  const strange = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      '',
      ' ',
      '__proto__',
      'constructor',
      'tempdb',
      '\u202e',
      '\ud83d\ude80',
      0,
      -1,
      1.5,
      1e300,
      [],
      {},
      [[]],
      { id: [] },
    ),
    fc.string({ maxLength: 40 }),
    fc.jsonValue({ maxDepth: 3 }),
  );

  /** Every place of a document, as paths of keys. */
  function places(value: JsonValue, path: string[] = []): string[][] {
    if (typeof value !== 'object' || value === null || !(Array.isArray(value) || Object.getPrototypeOf(value) === null))
      return [path];
    return [path, ...Object.entries(value).flatMap(([key, child]) => places(child, [...path, key]))];
  }
  const all = places(base).slice(1);

  function mutate(path: string[], value: unknown, how: 'replace' | 'remove' | 'add'): JsonValue {
    const copy = JSON.parse(writeJson(base)) as Record<string, never>;
    let at: Record<string, unknown> = copy;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
    const key = path.at(-1)!;
    if (how === 'replace')
      Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
    else if (how === 'remove') delete at[key];
    else Object.defineProperty(at, `x${key}`, { value, enumerable: true, configurable: true });
    return readJson(JSON.stringify(copy));
  }

  /** Runs a judge over mutated bodies; what it throws must be the catalogued refusal of a malformed body. */
  async function survive(runs: number, judgeBody: (body: JsonValue) => Promise<void>): Promise<void> {
    const how = fc.constantFrom('replace' as const, 'remove' as const, 'add' as const);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...all), strange, how, async (path, value, change) => {
        try {
          await judgeBody(mutate(path, value, change));
        } catch (error) {
          expect((error as { code?: string }).code).toBe('pipeline.execution.invalid_parameter_type');
        }
      }),
      { numRuns: runs },
    );
  }

  it('10 000 of them never throw anything but a catalogued refusal', async () => {
    const limits = {
      nodeTimeoutSeconds: 300,
      nodeTimeoutMaxSeconds: 900,
      nodeQueryTimeoutMaxSeconds: 900,
      stagingMaxMemoryMb: 1024,
    };
    const registry = {
      datasources: new Map([['pg', { dialect: 'POSTGRES' as const, isReadonly: true }]]),
      templates: new Map(),
    };
    await survive(10_000, async (body) => {
      const read = readBody(body, limits);
      judgeNodeIds(read.nodes, read.notes);
      judgeOutputTables(read.nodes, read.notes);
      judgeEnvironmentValues(body as never, new Set(['pg']), read.notes);
      judgeGraph(read.nodes, read.notes);
      judgeCallers(read.nodes, read.notes);
      judgeRegistries(read.nodes, read.settings, registry, read.notes);
      expect(
        read.notes.sorted(read.parameterNames).every(({ code, path }) => code !== undefined && path.length < 400),
      ).toBe(true);
    });
  }, 60_000);

  it('500 of them pass through renders, parser and registries the same way', async () => {
    await survive(500, async (body) => {
      await validation.judge(team.id, body);
    });
  }, 60_000);
});

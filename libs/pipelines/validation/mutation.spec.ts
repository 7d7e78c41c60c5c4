import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DatasourceAccess } from '#libs/datasources';
import { loadConfiguration, readJson, SystemClock, writeJson, type Failure, type JsonValue } from '#libs/kernel';
import { TemplateRenderer, type PinnedTemplate, type TemplateCatalog, type TemplateRef } from '#libs/templates';
import { calculator, node, pipeline, template } from '../../../test/fixtures/documents.js';
import { document } from '../../../test/fixtures/pipelines.js';
import { ContextBuilder } from '../binding/context-builder.js';
import { CompositionValidation } from '../composition/composition-validation.js';
import { pipelineKey, type PinnedPipeline, type PinnedPipelines } from '../composition/pinned-pipelines.js';
import type { PipelineRef } from '../document/pipeline-document.js';
import { DocumentValidation } from './document-validation.js';
import { DryRender } from './dry-render.js';
import { DuckDbStatementParser } from './duckdb-statement-parser.js';
import { EngineStatementParser, type EngineVerdict } from './statement-parser.js';

/** Far longer than one answer takes, however busy the machine. */
const PATIENCE_MS = 30_000;

/** What the saving workspace sees, without a database: the rules, renders and parsers are those of a server. */
const DATASOURCES = new Map<string, object>([
  ['pg', { dialect: 'POSTGRES', isReadonly: false }],
  ['prod', { dialect: 'POSTGRES', isReadonly: true }],
  ['lite', { dialect: 'SQLITE', isReadonly: false }],
]);

const stored = (name: string, body: string, dialect: PinnedTemplate['dialect'] = 'POSTGRES', isLibrary = false) =>
  ({
    templateId: name,
    name,
    version: 1,
    status: 'DRAFT',
    dialect,
    isLibrary,
    bodyHash: name,
    body,
    imports: [],
  }) as const;
const TEMPLATES: ReadonlyMap<string, PinnedTemplate> = new Map(
  [
    stored('t/ok.sql', 'SELECT 1'),
    stored('t/typed.sql', 'SELECT :p, :q, :calc <#if flag>WHERE d > :day</#if>'),
    stored('t/duck.sql', 'SELECT * FROM x WHERE a = :mapped', 'DUCKDB'),
    stored('t/dml.sql', 'INSERT INTO t VALUES (1)'),
    stored('t/lib.ftl', '<#macro m x>${x}</#macro>', 'POSTGRES', true),
  ].map((each) => [each.name, each]),
);

const CHILD: PinnedPipeline = {
  name: 'a/child',
  version: 1,
  status: 'RELEASED',
  live: true,
  nodeCount: 2,
  hasCaller: true,
  writesTo: null,
  children: [{ name: 'a/grandchild', version: 1 }],
  keys: new Map([
    ['amount', { type: { type: 'DECIMAL', precision: 6, scale: 2 }, required: true }],
    ['quarter', { type: { type: 'INTEGER' }, required: false, calculator: 'c' }],
  ]),
};
const PIPELINES: ReadonlyMap<string, PinnedPipeline> = new Map(
  [CHILD, { ...CHILD, name: 'a/grandchild', children: [], hasCaller: false, writesTo: 'pg', keys: new Map() }].map(
    (each) => [pipelineKey(each), each],
  ),
);

const datasources = {
  visible: (_workspace: string, names: readonly string[]) =>
    Promise.resolve(new Map(names.flatMap((name) => (DATASOURCES.has(name) ? [[name, DATASOURCES.get(name)]] : [])))),
} as unknown as DatasourceAccess;

const templates = {
  lookup: (_workspace: string, refs: readonly TemplateRef[]) =>
    Promise.resolve(
      new Map(
        refs.map(({ id, version }) => {
          const found = TEMPLATES.get(id);
          const missing = { missing: found ? 'version' : 'template' };
          return [
            `${id}@${version}`,
            found?.version === version ? { found: { template: found, libraries: new Map() } } : missing,
          ];
        }),
      ),
    ),
} as unknown as TemplateCatalog;

const pinned = {
  lookup: (_workspace: string, refs: readonly PipelineRef[]) =>
    Promise.resolve(
      new Map(
        refs.flatMap((ref) => {
          const found = PIPELINES.get(pipelineKey(ref));
          const named = [...PIPELINES.values()].some(({ name }) => name === ref.name);
          if (found) return [[pipelineKey(ref), found]];
          return named ? [[pipelineKey(ref), { ...CHILD, ...ref, status: null, children: [], keys: new Map() }]] : [];
        }),
      ),
    ),
} as unknown as PinnedPipelines;

/** The engine's own parser; the same text is not parsed ten thousand times. */
class RememberingParser extends EngineStatementParser {
  readonly engine = new DuckDbStatementParser();
  readonly #verdicts = new Map<string, EngineVerdict>();

  override async parse(statements: readonly string[]): Promise<EngineVerdict[]> {
    const unknown = statements.filter((text) => !this.#verdicts.has(text));
    const verdicts = await this.engine.parse(unknown);
    for (const [at, text] of unknown.entries()) this.#verdicts.set(text, verdicts[at]!);
    return statements.map((text) => this.#verdicts.get(text)!);
  }
}

describe('mutated bodies', () => {
  let validation: DocumentValidation;
  let renderer: TemplateRenderer;
  const parser = new RememberingParser();
  beforeAll(() => {
    const configuration = loadConfiguration({ DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline' });
    renderer = new TemplateRenderer(configuration);
    validation = new DocumentValidation(
      configuration,
      new SystemClock(),
      datasources,
      templates,
      new ContextBuilder(configuration),
      new DryRender(configuration, renderer, parser),
      new CompositionValidation(pinned, configuration),
    );
  });
  afterAll(async () => {
    await parser.engine.onModuleDestroy();
    await renderer.onModuleDestroy();
  });

  const PARAMETERS = {
    p: { type: 'DECIMAL', precision: 6, scale: 2, default: 4.5 },
    q: { type: 'STRING', required: true },
    day: { type: 'DATE' },
    flag: { type: 'BOOLEAN', default: false },
  };
  const CALCULATORS = [
    calculator({ inputs: { date: '$day' } }),
    calculator({
      id: 'd',
      kind: 'map',
      inputs: { value: '$calc', from: [1, '$calc'], to: ['x', '$q'], default: null },
      context_key: 'mapped',
      depends_on: ['c'],
    }),
    calculator({
      id: 'e',
      kind: 'trailing_periods',
      inputs: { date: '2026-01-31', unit: 'quarter', mode: 'fiscal', fiscal_start: '02-28', count: 3 },
      context_key: undefined,
      context_keys: { start: 'from_day', end: 'to_day' },
    }),
  ];
  const CHECKS = [
    {
      id: 'k',
      name: 'n',
      datasource: 'pg',
      sql: 'SELECT :q',
      parameters: { q: 'x' },
      expected: { kind: 'rows', rows: 1 },
    },
  ];
  /** A body that stages, computes and checks; and one that calls another pipeline and writes. */
  const bases: Record<string, JsonValue> = {
    staging: document(
      pipeline({
        settings: { tempdb: { engine: 'DUCKDB', config: { max_memory_mb: 64 } }, query_timeout_seconds: 5 },
        parameters: PARAMETERS,
        nodes: [
          ...CALCULATORS,
          node({
            id: 'a',
            template: template('t/typed.sql'),
            output: { target: 'tempdb', table: 'x' },
            settings: { timeout_seconds: 5 },
            depends_on: ['c'],
          }),
          node({ id: 'b', source: 'tempdb', template: template('t/duck.sql'), depends_on: ['a', 'd'] }),
        ],
        checks: CHECKS,
      }),
    ),
    composing: document(
      pipeline({
        parameters: PARAMETERS,
        nodes: [
          ...CALCULATORS,
          {
            id: 'call',
            type: 'PIPELINE',
            pipeline: { name: CHILD.name, version: 1 },
            parameters: { amount: '${p}', quarter: '${calc}' },
            output: { target: 'tempdb', table: 'x' },
            depends_on: ['c'],
          },
          node({ id: 'w', type: 'DML', template: template('t/dml.sql'), depends_on: ['call'] }),
          node({ id: 'b', source: 'tempdb', template: template('t/duck.sql'), depends_on: ['call', 'd'] }),
        ],
        checks: CHECKS,
      }),
    ),
  };
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
      '$calc',
      '$',
      '$__proto__',
      '${p}',
      // What another place of the document takes: names that exist, where they do not belong.
      'a',
      'b',
      'x',
      'p',
      'DML',
      'DDL',
      'PIPELINE',
      'caller',
      'prod',
      'lite',
      't/dml.sql',
      't/lib.ftl',
      'a/child',
      'a/grandchild',
      'a/p',
      'DUCKDB',
      { target: 'datasource', datasource: 'prod', table: 'x' },
      { target: 'tempdb', table: 'x' },
      ['b', 'w'],
      2,
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

  type Change = readonly [path: readonly string[], value: unknown, how: 'replace' | 'remove' | 'add'];

  /** A change at a place that an earlier one took away leaves the body as it is. */
  function mutate(text: string, changes: readonly Change[]): JsonValue {
    const copy = JSON.parse(text) as Record<string, unknown>;
    for (const [path, value, how] of changes) {
      const key = path.at(-1)!;
      const owner = ownerOf(copy, path);
      if (!owner) continue;
      if (how === 'remove') delete owner[key];
      else {
        const name = how === 'replace' ? key : `x${key}`;
        // A value is drawn for several bodies: what a later change does to it stays in this one.
        const own = structuredClone(value);
        Object.defineProperty(owner, name, { value: own, enumerable: true, configurable: true, writable: true });
      }
    }
    return readJson(JSON.stringify(copy));
  }

  function ownerOf(body: Record<string, unknown>, path: readonly string[]): Record<string, unknown> | undefined {
    let at: unknown = body;
    for (const key of path.slice(0, -1)) {
      at =
        typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : null;
    }
    return typeof at === 'object' && at !== null ? (at as Record<string, unknown>) : undefined;
  }

  const how = fc.constantFrom('replace' as const, 'remove' as const, 'add' as const);
  /** One to three changes each. */
  const mutated = fc.oneof(
    ...Object.values(bases).map((base) => {
      const change = fc.tuple(fc.constantFrom(...places(base).slice(1)), strange, how);
      const text = writeJson(base);
      return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => mutate(text, changes));
    }),
  );

  /** The failures of a body; an answer that does not come within the patience is an error of its own. */
  async function judge(body: JsonValue): Promise<readonly Failure[]> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const { promise: overdue, reject } = Promise.withResolvers<never>();
    patience.addEventListener('abort', () => reject(patience.reason as Error));
    const { failures } = await Promise.race([validation.judge('w', body), overdue]);
    patience.throwIfAborted();
    return failures;
  }

  it.each(Object.keys(bases))('begin with a body that has no fault: %s', async (name) => {
    expect(await judge(bases[name]!)).toEqual([]);
  });

  it('10 000 of them pass all rules, renders and parsers: they fail or are no document; nothing throws or hangs', async () => {
    const seen = new Set<string>();
    const unclear: Failure[] = [];
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(mutated, async (body) => {
        judged++;
        try {
          for (const failure of await judge(body)) {
            const { code, path, message } = failure;
            seen.add(code);
            if (path.length >= 400 || message.length <= 10 || message.length >= 1000) unclear.push(failure);
          }
        } catch (error) {
          expect((error as { code?: string }).code).toBe('pipeline.execution.invalid_parameter_type');
        }
      }),
      // A fixed seed: a body that breaks the validator breaks it again.
      { numRuns: 10_000, seed: 20_261_130 },
    );
    expect([judged, unclear]).toEqual([10_000, []]);
    // The changes reach far: most rules that can be broken this way were, those of checks and children among them.
    expect(seen.size).toBeGreaterThan(45);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'pipeline.validation.check_invalid',
        'pipeline.validation.calculator_input_type_mismatch',
        'pipeline.validation.pipeline_parameter_unmapped',
        'pipeline.validation.pipeline_version_not_found',
        'pipeline.validation.template_parameter_undeclared',
      ]),
    );
  }, 120_000);
});

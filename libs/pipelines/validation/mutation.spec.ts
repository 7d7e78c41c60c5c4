import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson, writeJson, type Failure, type JsonValue } from '#libs/kernel';
import { calculator, node, pipeline, template, useDocumentBench } from '../../../test/fixtures/documents.js';
import { document } from '../../../test/fixtures/pipelines.js';
import { Ancestry } from '../document/ancestry.js';
import { readBody } from '../document/read-document.js';
import { judgeCalculators } from './calculator-rules.js';
import { ContextKeys, keyWriters } from './context-keys.js';
import { judgeEnvironmentValues } from './environment-values.js';
import { judgeGraph } from './graph-rules.js';
import { judgeRegistries } from './registry-rules.js';
import { judgeStagingOrder } from './staging-order.js';
import { judgeCallers, judgeNodeIds, judgeOutputTables } from './structure-rules.js';

const bench = useDocumentBench();

describe('mutated bodies', () => {
  const base = document(
    pipeline({
      settings: { tempdb: { engine: 'DUCKDB', config: { max_memory_mb: 64 } }, query_timeout_seconds: 5 },
      parameters: {
        p: { type: 'DECIMAL', precision: 6, scale: 2, default: 4.5 },
        q: { type: 'STRING' },
        day: { type: 'DATE' },
      },
      nodes: [
        node({ id: 'a', output: { target: 'tempdb', table: 'x' }, settings: { timeout_seconds: 5 } }),
        node({ id: 'b', source: 'tempdb', template: template('t/duck.sql'), depends_on: ['a'] }),
        calculator({ inputs: { date: '$day' } }),
        calculator({
          id: 'd',
          kind: 'map',
          inputs: { value: '$calc', from: [1, '$calc'], to: ['x', '$p'], default: null },
          context_key: 'mapped',
          depends_on: ['c'],
        }),
        calculator({
          id: 'e',
          kind: 'trailing_periods',
          inputs: { date: '2026-01-31', unit: 'quarter', mode: 'fiscal', fiscal_start: '02-29', count: 3 },
          context_key: undefined,
          context_keys: { start: 'from_day', end: 'to_day' },
        }),
      ],
      checks: [{ id: 'k', name: 'n', datasource: 'pg', sql: 'SELECT :q', expected: { kind: 'rows', rows: 1 } }],
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
      '$calc',
      '$',
      '$__proto__',
      '${p}',
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

  /** A change at a place that an earlier one took away leaves the body as it is. */
  function mutate(body: JsonValue, path: string[], value: unknown, how: 'replace' | 'remove' | 'add'): JsonValue {
    const copy = JSON.parse(writeJson(body)) as Record<string, unknown>;
    let at = copy;
    for (const key of path.slice(0, -1)) {
      const next = Object.hasOwn(at, key) ? at[key] : undefined;
      if (typeof next !== 'object' || next === null) return body;
      at = next as Record<string, unknown>;
    }
    const key = path.at(-1)!;
    if (how === 'replace')
      Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
    else if (how === 'remove') delete at[key];
    else Object.defineProperty(at, `x${key}`, { value, enumerable: true, configurable: true });
    return readJson(JSON.stringify(copy));
  }

  const how = fc.constantFrom('replace' as const, 'remove' as const, 'add' as const);
  const change = fc.tuple(fc.constantFrom(...all), strange, how);

  /** One to three changes each. A fixed seed: a body that breaks the validator breaks it again. */
  async function survive(runs: number, judge: (body: JsonValue) => Promise<readonly Failure[]>): Promise<Set<string>> {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let body: JsonValue = base;
        for (const [path, value, way] of changes) body = mutate(body, path, value, way);
        try {
          for (const { code, path, message } of await judge(body)) {
            seen.add(code);
            expect([code, path.length < 400, message.length > 10 && message.length < 1000]).toEqual([code, true, true]);
          }
        } catch (error) {
          expect((error as { code?: string }).code).toBe('pipeline.execution.invalid_parameter_type');
        }
      }),
      { numRuns: runs, seed: 20_261_130 },
    );
    return seen;
  }

  it('10 000 of them pass every rule that needs no registry: they fail or are no document; nothing throws', async () => {
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
    const seen = await survive(10_000, (body) => {
      const read = readBody(body, limits);
      const ancestry = () => Ancestry.of(read.nodes);
      judgeNodeIds(read.nodes, read.notes);
      judgeOutputTables(read.nodes, read.notes);
      judgeEnvironmentValues(body as never, new Set(['pg']), read.notes);
      judgeGraph(read.nodes, read.notes);
      judgeCallers(read.nodes, read.notes);
      judgeCalculators(read, new ContextKeys(read, keyWriters(read), ancestry));
      judgeRegistries(read.nodes, read.settings, registry, read.notes);
      judgeStagingOrder(read.nodes, new Map(read.nodes.map((each) => [each, ['x']])), ancestry, read.notes);
      return Promise.resolve(read.notes.sorted(read.parameterNames));
    });
    // The changes reach far: most rules that can be broken this way were.
    expect(seen.size).toBeGreaterThan(30);
  }, 60_000);

  it('1 000 of them pass through renders, parser and registries the same way', async () => {
    await survive(1000, async (body) => (await bench.validation.judge(bench.team.id, body)).failures);
  }, 60_000);
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson, writeJson, type JsonValue } from '#libs/kernel';
import { node, pipeline, template, useDocumentBench } from '../../../test/fixtures/documents.js';
import { document } from '../../../test/fixtures/pipelines.js';
import { readBody } from '../document/read-document.js';
import { judgeEnvironmentValues } from './environment-values.js';
import { judgeGraph } from './graph-rules.js';
import { judgeRegistries } from './registry-rules.js';
import { judgeCallers, judgeNodeIds, judgeOutputTables } from './structure-rules.js';

const bench = useDocumentBench();

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
      await bench.validation.judge(bench.team.id, body);
    });
  }, 60_000);
});

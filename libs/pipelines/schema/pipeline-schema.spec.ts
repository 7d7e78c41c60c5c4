import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CALCULATORS, describeCalculator } from '#libs/calculators';
import { readJson, writeJson } from '#libs/kernel';
import { readBody } from '../document/read-document.js';
import { pipelineSchema } from './pipeline-schema.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const accepts = new Ajv2020({ allErrors: false, strict: false }).compile(pipelineSchema());

const LIMITS = {
  nodeTimeoutSeconds: 900,
  nodeTimeoutMaxSeconds: 900,
  nodeQueryTimeoutMaxSeconds: 900,
  stagingMaxMemoryMb: 1024,
};

/** The codes the readers raise; empty: they take the body. */
function refusals(body: Json): string[] {
  try {
    return readBody(readJson(JSON.stringify(body)), LIMITS)
      .notes.sorted([])
      .map(({ code }) => code);
  } catch {
    return ['malformed'];
  }
}

const pin = { id: 'fleet/sql/trucks.sql', version: 3 };
/** Every member a document may have, at least once. */
const RICH: { [key: string]: Json } = {
  schema_version: 1,
  name: 'fleet/daily/idle_trucks',
  display_name: 'Idle trucks',
  description: 'ünï',
  settings: { tempdb: { engine: 'DUCKDB', config: { max_memory_mb: 512 } }, query_timeout_seconds: 60 },
  parameters: {
    day: { type: 'DATE', required: true, description: 'Of the report.' },
    share: { type: 'DECIMAL', precision: 5, scale: 2, required: false, default: 0.5 },
    amount: { type: 'BIGDECIMAL', precision: 20, scale: 4 },
  },
  nodes: [
    {
      id: 'trucks',
      type: 'DQL',
      description: 'Stage.',
      source: 'pg',
      template: pin,
      output: { target: 'tempdb', table: 'trucks' },
      settings: { timeout_seconds: 30, query_timeout_seconds: 20 },
    },
    { id: 'clean', type: 'DML', depends_on: ['trucks'], source: 'tempdb', template: pin },
    { id: 'prepare', type: 'DDL', source: 'tempdb', template: pin },
    {
      id: 'copy',
      type: 'DQL',
      source: 'pg',
      template: pin,
      output: { target: 'datasource', datasource: 'pg', table: 'copy', mode: 'append' },
    },
    {
      id: 'child',
      type: 'PIPELINE',
      pipeline: { name: 'fleet/daily/other', version: 2 },
      parameters: { day: '${day}' },
      output: { target: 'caller' },
      settings: { timeout_seconds: 10 },
    },
    {
      id: 'quarter',
      type: 'CALCULATOR',
      kind: 'quarter_of_year',
      inputs: { date: '$day' },
      context_key: 'quarter',
      settings: { timeout_seconds: 10 },
    },
    {
      id: 'bounds',
      type: 'CALCULATOR',
      kind: 'period_bounds',
      inputs: { date: '2026-03-04', unit: 'week' },
      context_keys: { start: 'week_start', end: 'week_end' },
    },
  ],
  checks: [
    {
      id: 'total',
      name: 'Total',
      datasource: 'pg',
      sql: 'SELECT count(*) FROM trucks WHERE day = :day',
      expected: { kind: 'value', value: '74.62', tolerance: 0.1 },
      parameters: { day: '2026-01-01' },
    },
    { id: 'span', name: 'Span', datasource: 'pg', sql: 'SELECT 1', expected: { kind: 'range', min: 1, max: '2' } },
    { id: 'many', name: 'Many', datasource: 'pg', sql: 'SELECT 1', expected: { kind: 'rows', rows: 0 } },
  ],
};

const PROBES: Json[] = [null, true, 0, 1, -1, 1.5, 1000, '', ' ', 'x', 'tempdb', '__x__', 'A b', '$day', [], [1], {}];

/** The document with one place replaced by every probe, and with the place gone. */
function* mutations(
  value: Json,
  path: string,
  rebuild: (changed: Json | undefined) => Json,
): Generator<[string, Json]> {
  if (path !== '') yield [`${path} left out`, rebuild(undefined)];
  for (const probe of PROBES) yield [`${path} = ${JSON.stringify(probe)}`, rebuild(probe)];
  if (value === null || typeof value !== 'object') return;
  for (const [key, child] of Object.entries(value)) {
    yield* mutations(child, `${path}/${key}`, (changed) => {
      const copy = structuredClone(value) as { [key: string]: Json };
      if (changed !== undefined) copy[key] = changed;
      else if (Array.isArray(copy)) copy.splice(Number(key), 1);
      else delete copy[key];
      return rebuild(copy);
    });
  }
}

const all = [...mutations(RICH, '', (changed) => changed ?? null)];

/** Absent or ill-formed, these name nothing: refused where the names are looked up, not by the readers. */
const REGISTRY_JUDGES = /^\/nodes\/\d\/(?:source|template|pipeline)\b/;

/** Rules that need a value's type, the operator's bounds or two places at once. */
const BEYOND_A_SCHEMA = new Set([
  'pipeline.validation.default_type_mismatch',
  'pipeline.validation.calculator_input_type_mismatch',
  'pipeline.validation.node_timeout_invalid',
  'pipeline.validation.node_query_timeout_invalid',
  'pipeline.validation.pipeline_query_timeout_invalid',
]);
const BEYOND_AT =
  /^\/checks\/\d\/(?:id|parameters|expected)|^\/parameters = |^\/parameters\/(?:day|share\/scale|share\/precision|amount\/(?:precision|scale))|^\/parameters left out/;

describe('the JSON Schema of a pipeline document', () => {
  it('is listed in the documents as it is', () => {
    const text = readFileSync(new URL('../../../docs/generated/pipeline.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(text)).toEqual(pipelineSchema());
  });

  it('takes a document with every member', () => {
    expect(refusals(RICH)).toEqual([]);
    accepts(RICH);
    expect(accepts.errors).toBeNull();
  });

  it('never marks red what the server takes', () => {
    const wrong = all
      .filter(([place, body]) => !REGISTRY_JUDGES.test(place) && !accepts(body) && refusals(body).length === 0)
      .map(([place]) => place);
    expect(wrong).toEqual([]);
    expect(all.length).toBeGreaterThan(1500);
  });

  it('marks what the readers refuse, but for rules that need more than the shape', () => {
    const missed = all.flatMap(([place, body]) => {
      if (!accepts(body) || BEYOND_AT.test(place)) return [];
      const codes = refusals(body).filter((code) => !BEYOND_A_SCHEMA.has(code));
      return codes.length > 0 ? [`${place}: ${codes.join()}`] : [];
    });
    expect(missed).toEqual([]);
  });

  it('knows every calculator by its own examples', () => {
    const nodes = CALCULATORS.flatMap((calculator) => describeCalculator(calculator).examples.map(({ node }) => node));
    const body = JSON.parse(writeJson({ name: 'a/p', nodes })) as Json;
    accepts(body);
    expect(accepts.errors).toBeNull();
  });
});

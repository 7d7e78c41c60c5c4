import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PipelineTransfer, type PipelineView } from '#libs/pipelines';
import { createWorkspace } from '../../test/fixtures/authors.js';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { createDatasource, document, failuresOf, refusal } from '../../test/fixtures/pipelines.js';
import { CheckService } from './check.service.js';

const folder = mkdtempSync(join(tmpdir(), 'penstock-checks-'));
const bench = usePipelineBench({
  DATAPIPELINES_DATASOURCES_FILE_ROOTS: folder,
  DATAPIPELINES_CHECKS_GATE_TIMEOUT_SECONDS: '2',
});
const never = new AbortController().signal;
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
const REASON = 'the source is down for maintenance';

type Check = Record<string, unknown>;
const check = (over: Check = {}): Check => ({
  id: 'c1',
  name: 'Six orders',
  datasource: 'lite',
  sql: 'SELECT count(*) FROM orders',
  expected: { kind: 'value', value: 6 },
  ...over,
});

beforeAll(async () => {
  const file = join(folder, 'data.db');
  const data = new DatabaseSync(file);
  data.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1),(2),(3),(4),(5),(6)');
  data.close();
  await createDatasource(bench.db.database, bench.team, 'lite', { dialect: 'SQLITE' });
  await bench.db.database.execute(`UPDATE datasources SET jdbc_url = $1 WHERE name = 'lite'`, [`jdbc:sqlite:${file}`]);
});

afterAll(() => rmSync(folder, { recursive: true }));

const draft = async (checks: Check[], over: Check = {}): Promise<PipelineView> => {
  await bench.releaseTemplate(bench.template);
  return bench.authoring.create(bench.team.principal(), bench.body({ checks, ...over }));
};
const run = async ({ id }: PipelineView, parameters?: Check) =>
  bench.instance
    .get(CheckService)
    .run(bench.team.principal(), id, undefined, parameters && document(parameters), never);
const release = (made: PipelineView, overrideChecksReason?: string) =>
  bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash, { overrideChecksReason });
const rows = ({ id }: PipelineView) =>
  bench.db.database.query<{ via: string; verdict: string }>(
    'SELECT via, verdict FROM pipeline_check_runs WHERE pipeline_id = $1 ORDER BY ran_at, check_id',
    [id],
  );

describe('declaring checks', () => {
  it.each<[string, Check, string]>([
    ['no identifier', { id: 'Über' }, 'checks[0].id'],
    ['a reserved id', { id: 'tempdb' }, 'checks[0].id'],
    ['a blank name', { name: '  ' }, 'checks[0].name'],
    ['staged data', { datasource: 'tempdb' }, 'checks[0].datasource'],
    ['an unseen datasource', { datasource: 'elsewhere' }, 'checks[0].datasource'],
    ['a template', { sql: 'SELECT ${1}' }, 'checks[0].sql'],
    ['a write', { sql: 'DELETE FROM orders' }, 'checks[0].sql'],
    ['two statements', { sql: 'SELECT 1; DROP TABLE orders' }, 'checks[0].sql'],
    ['an unknown bind', { sql: 'SELECT :nowhere' }, 'checks[0].sql'],
    ['a native placeholder', { sql: 'SELECT ?' }, 'checks[0].sql'],
    ['no kind', { expected: { value: 1 } }, 'checks[0].expected.kind'],
    ['a negative tolerance', { expected: { kind: 'value', value: 1, tolerance: -1 } }, 'checks[0].expected.tolerance'],
    ['an exponent in a text', { expected: { kind: 'value', value: '1e3' } }, 'checks[0].expected.value'],
    ['a range upside down', { expected: { kind: 'range', min: 2, max: 1 } }, 'checks[0].expected.min'],
    ['half a row', { expected: { kind: 'rows', rows: 1.5 } }, 'checks[0].expected.rows'],
    ['a value nobody declared', { parameters: { x: 1 } }, 'checks[0].parameters.x'],
  ])('is refused at its path: %s', async (_name, over, path) => {
    const error = await refusal(bench.authoring.create(bench.team.principal(), bench.body({ checks: [check(over)] })));
    expect(failuresOf(error).map((found) => [found.code, found.path])).toEqual([
      ['pipeline.validation.check_invalid', path],
    ]);
  });

  it('refuses a 21st check, a second one of the same id, and one whose required parameter nobody supplies', async () => {
    const many = Array.from({ length: 21 }, (_, index) => check({ id: `c${index}` }));
    const bodies = [
      bench.body({ checks: many }),
      bench.body({ checks: [check(), check()] }),
      bench.body({ checks: [check({ sql: 'SELECT :p' })], parameters: { p: { type: 'INTEGER', required: true } } }),
    ];
    const paths = bodies.map(async (body) => {
      const error = await refusal(bench.authoring.create(bench.team.principal(), body));
      return failuresOf(error).map(({ path }) => path);
    });
    expect(await Promise.all(paths)).toEqual([['checks'], ['checks[1].id'], ['checks[0].parameters']]);
  });
});

describe('running checks', () => {
  it('gives every verdict, keeps one row per check, and tells the newest', async () => {
    const made = await draft([
      check(),
      check({ id: 'c2', expected: { kind: 'value', value: '5.99', tolerance: '0.01' } }),
      check({ id: 'c3', expected: { kind: 'range', min: 7, max: 9 } }),
      check({ id: 'c4', sql: 'SELECT id FROM orders', expected: { kind: 'rows', rows: 6 } }),
      check({ id: 'c5', sql: 'SELECT id FROM orders', expected: { kind: 'rows', rows: 2 } }),
      check({ id: 'c6', sql: 'SELECT NULL AS n' }),
      check({ id: 'c7', sql: 'SELECT 1 AS a, 2 AS b' }),
      check({ id: 'c8', sql: 'SELECT n FROM no_such_table' }),
      check({ id: 'c9', sql: "SELECT 'text' AS t" }),
    ]);
    const { version, runs } = await run(made);
    expect(version).toBe(1);
    expect(runs.map(({ check_id, verdict, observed }) => [check_id, verdict, observed])).toEqual([
      ['c1', 'pass', '6'],
      ['c2', 'pass', '6'],
      ['c3', 'fail', '6'],
      ['c4', 'pass', '6'],
      ['c5', 'fail', '3'],
      ['c6', 'error', null],
      ['c7', 'error', null],
      ['c8', 'error', null],
      ['c9', 'error', null],
    ]);
    expect(new Set((await rows(made)).map(({ via }) => via))).toEqual(new Set(['ui']));
    const latest = await bench.instance.get(CheckService).latest(bench.team.principal(), made.id, 1);
    expect(latest.checks.map(({ latest_run }) => latest_run?.id)).toEqual(runs.map(({ id }) => id));
    expect(latest.checks[0]?.latest_run?.observed).toEqual({ value: '6' });
    // Stamps of ours have milliseconds on the wire (03 §2).
    expect(latest.checks[0]?.latest_run?.ran_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  });

  it('binds the request before the check before the default; a value that does not fit is an error without a time', async () => {
    const made = await draft(
      [check({ sql: 'SELECT :p + 0', parameters: { p: 6 } }), check({ id: 'c2', sql: 'SELECT :q + 0' })],
      { parameters: { p: { type: 'INTEGER', default: 1 }, q: { type: 'INTEGER', default: 6 } } },
    );
    expect((await run(made)).runs.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
    expect((await run(made, { p: 7 })).runs).toMatchObject([
      { observed: '7', parameters: { p: expect.anything() } },
      {},
    ]);
    expect((await run(made, { p: 'many' })).runs[0]).toMatchObject({
      verdict: 'error',
      duration_ms: null,
      parameters: {},
    });
  });

  it('is not found from another workspace', async () => {
    const made = await draft([check()]);
    const other = await createWorkspace(bench.db.database);
    const service = bench.instance.get(CheckService);
    for (const work of [
      service.run(other.principal(), made.id, 1, undefined, never),
      service.latest(other.principal(), made.id, 1),
    ])
      expect((await refusal(work)).code).toBe('pipeline.execution.not_found');
    expect(await rows(made)).toEqual([]);
  });

  it('forgets what a purged draft showed when its number returns', async () => {
    const made = await draft([check()]);
    await release(made);
    const again = () =>
      bench.authoring.update(
        bench.team.principal(),
        made.id,
        bench.rewrite(made, { checks: [check()], description: 'second' }),
        made.body_hash,
      );
    const second = await again();
    await run(second);
    await bench.lifecycle.purgeVersion(bench.team.principal(), made.id, 2);
    await again();
    const latest = await bench.instance.get(CheckService).latest(bench.team.principal(), made.id, 2);
    expect(latest.checks[0]?.latest_run).toBeNull();
  });
});

describe('the release gate', () => {
  it('releases what passes, with a row of its own', async () => {
    const made = await draft([check()]);
    expect((await release(made)).status).toBe('RELEASED');
    expect(await rows(made)).toEqual([{ via: 'release', verdict: 'pass' }]);
  });

  it('refuses what fails, names each check, and leaves the draft and the rows', async () => {
    const made = await draft([check(), check({ id: 'c2', name: 'Seven', expected: { kind: 'value', value: '7.00' } })]);
    const error = await refusal(release(made));
    expect([error.code, error.status]).toEqual(['pipeline.check.failed', 409]);
    expect(error.details['checks']).toMatchObject([
      { id: 'c2', name: 'Seven', expected: { kind: 'value', value: '7.00' }, observed: '6', verdict: 'fail' },
    ]);
    expect((await bench.reading.read(bench.team.principal(), made.id)).status).toBe('DRAFT');
    expect((await rows(made)).map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
  });

  it('is passed by a reason of ten characters, which is audited', async () => {
    const made = await draft([check({ expected: { kind: 'value', value: 7 } })]);
    expect((await refusal(release(made, '  too few '))).code).toBe('pipeline.execution.invalid_parameter_type');
    expect((await release(made, REASON)).status).toBe('RELEASED');
    const [audit] = await bench.db.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log WHERE event = 'pipeline.version.released' AND details_json->>'id' = $1`,
      [made.id],
    );
    expect(JSON.parse(audit!.details)).toMatchObject({ checks_overridden: ['c1'], override_reason: REASON });
  });

  it('stops when its time is up; what was not run is an error, and nothing is released', async () => {
    const made = await draft([check({ sql: ENDLESS }), check({ id: 'c2' })]);
    const error = await refusal(release(made));
    expect(error.details['checks']).toMatchObject([
      { id: 'c1', verdict: 'error' },
      { id: 'c2', verdict: 'error' },
    ]);
  });

  it('conflicts when the draft changed while the checks ran', async () => {
    const made = await draft([check({ sql: ENDLESS })]);
    const releasing = refusal(release(made, REASON));
    await bench.authoring.update(
      bench.team.principal(),
      made.id,
      bench.rewrite(made, { description: 'late' }),
      made.body_hash,
    );
    expect((await releasing).code).toBe('pipeline.version.conflict');
  });

  it('lets one of two releases at once win', async () => {
    const made = await draft(Array.from({ length: 20 }, (_, index) => check({ id: `c${index}` })));
    const outcomes = await Promise.allSettled([release(made), release(made)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is no way round by importing: a file whose checks fail lands nothing', async () => {
    const made = await draft([check({ expected: { kind: 'value', value: 7 } })]);
    await release(made, REASON);
    const transfer = bench.instance.get(PipelineTransfer);
    const file = await transfer.export(bench.team.principal(), made.id, { includeTemplates: true });
    const { id: _id, ...pipeline } = file.pipeline;
    const copy = document({ pipeline: { ...pipeline, name: 'a/copy', version: undefined, body_hash: undefined } });
    expect((await refusal(transfer.import(bench.team.principal(), copy))).code).toBe('pipeline.check.failed');
  });
});

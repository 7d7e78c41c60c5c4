import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PipelineView } from '#libs/pipelines';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { createDatasource, failuresOf, refusal } from '../../test/fixtures/pipelines.js';
import { StatementTap } from '../../test/fixtures/statement-tap.js';
import { CheckService } from './check.service.js';

const folder = mkdtempSync(join(tmpdir(), 'penstock-check-conditions-'));
const bench = usePipelineBench({ DATAPIPELINES_DATASOURCES_FILE_ROOTS: folder });
const never = new AbortController().signal;
let tap: StatementTap;

type Check = Record<string, unknown>;
const check = (over: Check = {}): Check => ({
  id: 'c1',
  name: 'Six orders',
  datasource: 'lite',
  sql: 'SELECT 6',
  expected: { kind: 'value', value: 6 },
  ...over,
});

async function fileSource(name: string, dialect: string, url: string): Promise<void> {
  await createDatasource(bench.db.database, bench.team, name, { dialect });
  await bench.db.database.execute('UPDATE datasources SET jdbc_url = $2 WHERE name = $1', [name, url]);
}

beforeAll(async () => {
  new DatabaseSync(join(folder, 'lite.db')).close();
  const duck = await DuckDBInstance.create(join(folder, 'duck.db'));
  duck.closeSync();
  await fileSource('lite', 'SQLITE', `jdbc:sqlite:${join(folder, 'lite.db')}`);
  await fileSource('duck', 'DUCKDB', `jdbc:duckdb:${join(folder, 'duck.db')}`);
  tap = new StatementTap(bench.db.database);
});

afterAll(() => rmSync(folder, { recursive: true }));

const draft = async (checks: Check[]): Promise<PipelineView> => {
  await bench.releaseTemplate(bench.template);
  return bench.authoring.create(bench.team.principal(), bench.body({ checks }));
};
const run = ({ id }: PipelineView, via: 'session' | 'api_key' | 'mcp' = 'session') =>
  bench.instance.get(CheckService).run(bench.team.principal({ via }), id, undefined, undefined, never);
const release = (made: PipelineView) => bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash, {});
const rows = ({ id }: PipelineView) =>
  bench.db.database.query<{ via: string; verdict: string }>(
    'SELECT via, verdict FROM pipeline_check_runs WHERE pipeline_id = $1 ORDER BY ran_at, check_id',
    [id],
  );
const status = async ({ id }: PipelineView) => {
  const { status: shown, current_version: current } = await bench.reading.read(bench.team.principal(), id);
  return [shown, current];
};

describe('a datasource that was taken away after the save', () => {
  const granted = async (name: string, work: () => Promise<void>): Promise<void> => {
    await bench.db.database.execute('DELETE FROM datasource_workspaces WHERE datasource_name = $1', [name]);
    try {
      await work();
    } finally {
      await bench.db.database.execute(
        'INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ($1, $2, $3)',
        [name, bench.team.id, bench.team.principal().userId],
      );
    }
  };

  it('gives the check an error that says so, and the others their verdicts: a grant that is gone opens nothing', async () => {
    const made = await draft([check(), check({ id: 'c2', datasource: 'duck' })]);
    await granted('lite', async () => {
      expect((await run(made)).runs).toMatchObject([
        {
          check_id: 'c1',
          verdict: 'error',
          observed: null,
          duration_ms: null,
          message: expect.stringMatching(/may not/),
        },
        { check_id: 'c2', verdict: 'pass' },
      ]);
    });
  });

  it('refuses the release at the path of the check, with no row written and the draft kept', async () => {
    const made = await draft([check()]);
    await granted('lite', async () => {
      expect(failuresOf(await refusal(release(made))).map(({ code, path }) => [code, path])).toEqual([
        ['pipeline.validation.check_invalid', 'checks[0].datasource'],
      ]);
    });
    expect([await status(made), await rows(made)]).toEqual([['DRAFT', null], []]);
    expect((await release(made)).status).toBe('RELEASED');
  });
});

describe('a release that dies after its checks passed', () => {
  it('keeps the rows of the checks and the draft, so that the next release checks again and goes through', async () => {
    const made = await draft([check()]);
    // The server goes away at the statement that would make the draft a release.
    tap.rewrite = (sql) => (/UPDATE pipeline_versions[\s\S]*'RELEASED'/.test(sql) ? 'SELECT 1 / 0' : sql);
    await refusal(release(made));
    tap.rewrite = (sql) => sql;
    expect(await status(made)).toEqual(['DRAFT', null]);
    expect(await rows(made)).toEqual([{ via: 'release', verdict: 'pass' }]);
    expect((await release(made)).status).toBe('RELEASED');
    expect(await rows(made)).toHaveLength(2);
  });
});

describe('numbers that are none, or that no double holds', () => {
  const HUGE = '9'.repeat(38);

  it.each<[string, Check]>([
    ['NaN', { kind: 'value', value: 'NaN' }],
    ['Infinity', { kind: 'value', value: 'Infinity' }],
    ['NULL', { kind: 'value', value: null }],
    ['nothing', { kind: 'value' }],
    ['a NaN as tolerance', { kind: 'value', value: 1, tolerance: 'NaN' }],
    ['an endless range', { kind: 'range', min: '-Infinity', max: 1 }],
    ['NULL rows', { kind: 'rows', rows: null }],
    ['more rows than a check reads', { kind: 'rows', rows: '1e300' }],
    ['a number of a million digits', { kind: 'value', value: '9'.repeat(1_000_000) }],
  ])('no expectation may be %s: it would pass everything or nothing', async (_name, expected) => {
    const refused = await refusal(
      bench.authoring.create(bench.team.principal(), bench.body({ checks: [check({ expected })] })),
    );
    expect(failuresOf(refused).map(({ code }) => code)).toEqual(['pipeline.validation.check_invalid']);
    expect(JSON.stringify(refused.toBody()).length).toBeLessThan(2000);
  });

  it('is an error when the statement gives NaN, an infinity or NULL, never a failed or passed comparison', async () => {
    const given = (id: string, sql: string): Check => check({ id, datasource: 'duck', sql });
    const made = await draft([
      given('nan', `SELECT 'NaN'::DOUBLE`),
      given('inf', `SELECT 'Infinity'::DOUBLE`),
      given('minus', `SELECT '-Infinity'::FLOAT`),
      given('none', 'SELECT NULL::DECIMAL(10,2)'),
      check({ id: 'lite', sql: 'SELECT 9e999' }),
    ]);
    expect((await run(made)).runs.map(({ check_id, verdict, observed }) => [check_id, verdict, observed])).toEqual(
      ['nan', 'inf', 'minus', 'none', 'lite'].map((id) => [id, 'error', null]),
    );
  });

  it('tells numbers of 38 digits apart by their last', async () => {
    const huge = (id: string, value: string): Check =>
      check({ id, datasource: 'duck', sql: `SELECT ${HUGE}::DECIMAL(38,0)`, expected: { kind: 'value', value } });
    const made = await draft([huge('same', HUGE), huge('other', `${HUGE.slice(0, -1)}8`)]);
    expect((await run(made)).runs.map(({ verdict, observed }) => [verdict, observed])).toEqual([
      ['pass', HUGE],
      ['fail', HUGE],
    ]);
  });
});

describe('who ran a check', () => {
  it('is told by the surface of the credential, so that a run of an agent is no run of a person', async () => {
    const made = await draft([check()]);
    for (const via of ['session', 'api_key', 'mcp'] as const) await run(made, via);
    expect((await rows(made)).map(({ via }) => via)).toEqual(['ui', 'rest', 'mcp']);
  });
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { ApiClient } from '../fixtures/api-client.js';
import { releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { data } from '../fixtures/graphql.js';
import { toolData } from '../fixtures/mcp.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { registerSource } from '../fixtures/run-scene.js';

type Check = Record<string, unknown>;
const SIX: Check = {
  ...{ id: 'six', name: 'Six orders', datasource: 'shop', sql: 'SELECT count(*) FROM orders WHERE id <= :last' },
  expected: { kind: 'value', value: '6' },
};
const FIVE: Check = { ...SIX, id: 'five', name: 'Five orders', expected: { kind: 'value', value: '5' } };
/** Answers when nobody holds the table. */
const GATE: Check = {
  ...{ id: 'gate', name: 'The gate is open', datasource: 'shop', sql: 'SELECT count(*) FROM gate' },
  expected: { kind: 'value', value: 0 },
};
const REASON = 'the source is down for maintenance';

describeWithProgram('redis-server', 'checks, from outside', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  let author: ApiClient;
  let browser: ApiClient;
  let number = 0;

  beforeAll(async () => {
    [deployment, source] = await Promise.all([Deployment.start({ redis }), createEmptyDatabase()]);
    const client = new pg.Client({ connectionString: source.url });
    await client.connect();
    await client.query(
      'CREATE TABLE orders (id int); INSERT INTO orders SELECT generate_series(1, 6); CREATE TABLE gate ()',
    );
    await client.end();
    await registerSource(deployment, 'shop', source);
    author = deployment.author;
    browser = deployment.admin.in('default');
    await releasedTemplate(author, { id: 'checked/rows.sql', dialect: 'POSTGRES', body: 'SELECT id FROM orders' });
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await source?.drop();
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a view of a pipeline
  const draft = (checks: Check[]): Promise<any> =>
    author.data('POST', '/api/v1/pipelines', {
      ...{ name: `checked/p${++number}`, display_name: 'P', description: '' },
      parameters: { last: { type: 'INTEGER', required: false, default: 6 } },
      nodes: [{ id: 'read', type: 'DQL', source: 'shop', template: { id: 'checked/rows.sql', version: 1 } }],
      checks,
    });
  const release = (made: { id: string; body_hash: string }, query = '', client = browser) =>
    client.call('POST', `/api/v1/pipelines/${made.id}/release${query}`, undefined, {
      headers: { 'If-Match': made.body_hash },
    });
  const rows = async (id: string): Promise<string[]> => {
    const found = await deployment.metadata<{ check_id: string; via: string; verdict: string }>(
      'SELECT check_id, via, verdict FROM pipeline_check_runs WHERE pipeline_id = $1 ORDER BY ran_at, check_id',
      [id],
    );
    return found.map(({ check_id, via, verdict }) => `${check_id} ${via} ${verdict}`);
  };
  const statusOf = async (id: string): Promise<string | undefined> => {
    const sql = 'SELECT status FROM pipeline_versions WHERE pipeline_id = $1';
    return (await deployment.metadata<{ status: string }>(sql, [id]))[0]?.status;
  };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- runs of every door
  const seen = (runs: any[]) =>
    runs.map(({ check_id, verdict, observed, parameters }) => [check_id, verdict, observed, String(parameters.last)]);

  it('run through every door as one thing, each run in the history under the door it came through', async () => {
    const made = await draft([SIX, FIVE]);
    const path = `/api/v1/pipelines/${made.id}/versions/1/checks`;
    const byKey = await author.data('POST', `${path}/run`, { parameters: { last: 5 } });
    const byPerson = await browser.data('POST', `${path}/run`);
    const byAgent = await toolData(author, 'pipelines_run_checks', { id: made.id, parameters: { last: 5 } });
    const mutation = `mutation($input: RunPipelineChecksInput!) {
      runPipelineChecks(input: $input) { version runs { checkId verdict observed via parameters } } }`;
    const { runPipelineChecks } = await data(author, mutation, { input: { id: made.id } });
    expect(seen(byKey.runs)).toEqual([
      ['six', 'fail', '5', '5'],
      ['five', 'pass', '5', '5'],
    ]);
    expect(seen(byPerson.runs)).toEqual([
      ['six', 'pass', '6', '6'],
      ['five', 'fail', '6', '6'],
    ]);
    expect(byAgent.runs.map((run: Check) => [run['check_id'], run['verdict'], run['observed']])).toEqual([
      ['six', 'fail', '5'],
      ['five', 'pass', '5'],
    ]);
    expect(runPipelineChecks.runs).toMatchObject([
      { checkId: 'six', verdict: 'PASS', observed: '6' },
      { checkId: 'five', verdict: 'FAIL', observed: '6' },
    ]);
    expect(await rows(made.id)).toEqual([
      ...['six rest fail', 'five rest pass', 'six ui pass', 'five ui fail'],
      ...['six mcp fail', 'five mcp pass', 'six rest pass', 'five rest fail'],
    ]);
  });

  it('tell what was last seen: the object in REST and GraphQL, and every run in pages, newest first', async () => {
    const made = await draft([SIX]);
    const path = `/api/v1/pipelines/${made.id}/versions/1/checks`;
    expect((await author.data('GET', path)).checks).toMatchObject([{ id: 'six', latest_run: null }]);
    for (const last of [4, 5, 6]) await author.data('POST', `${path}/run`, { parameters: { last } });
    const { checks } = await author.data('GET', path);
    expect(checks).toMatchObject([
      { id: 'six', latest_run: { verdict: 'pass', via: 'rest', observed: { value: '6' }, message: null } },
    ]);
    const query = `query($id: ID!, $after: String) { pipeline(id: $id) { version(number: 1) { checks {
      checkId name expected latestRun { verdict observed via ranBy { __typename } }
      runs(first: 2, after: $after) { totalCount nodes { verdict observed } pageInfo { hasNextPage endCursor } } } } } }`;
    const [first] = (await data(author, query, { id: made.id })).pipeline.version.checks;
    expect(first).toMatchObject({
      checkId: 'six',
      latestRun: { verdict: 'PASS', observed: { value: '6' }, via: 'REST' },
      runs: {
        nodes: [{ verdict: 'PASS' }, { verdict: 'FAIL', observed: { value: '5' } }],
        pageInfo: { hasNextPage: true },
      },
    });
    expect(String(first.runs.totalCount)).toBe('3');
    const after = first.runs.pageInfo.endCursor;
    const [second] = (await data(author, query, { id: made.id, after })).pipeline.version.checks;
    expect(second.runs).toMatchObject({ nodes: [{ observed: { value: '4' } }], pageInfo: { hasNextPage: false } });
  });

  it('keep a draft from being released, name every check that failed, and let a reason through that is audited', async () => {
    const made = await draft([SIX, FIVE]);
    const refused = await release(made);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'pipeline.check.failed']);
    expect(refused.body.error.details.checks).toEqual([
      {
        ...{ id: 'five', name: 'Five orders', verdict: 'fail', observed: '6' },
        ...{ expected: { kind: 'value', value: '5' }, message: expect.any(String) },
      },
    ]);
    expect(await statusOf(made.id)).toBe('DRAFT');
    expect(await rows(made.id)).toEqual(['six release pass', 'five release fail']);

    const short = await release(made, `?override_checks_reason=${encodeURIComponent('   short     ')}`);
    expect([short.status, short.body.error.code]).toEqual([400, 'pipeline.execution.invalid_parameter_type']);
    expect(await rows(made.id)).toHaveLength(2);
    const mutation = `mutation($input: ReleasePipelineInput!) { releasePipeline(input: $input) { pipeline { id } } }`;
    const input = { id: made.id, expectedHash: made.body_hash };
    const answer = await browser.call('POST', '/graphql', { query: mutation, variables: { input } });
    expect(answer.body.errors[0].extensions.code).toBe('pipeline.check.failed');
    expect(answer.body.errors[0].extensions.details.checks).toMatchObject([{ id: 'five', observed: '6' }]);

    await data(browser, mutation, { input: { ...input, overrideChecksReason: REASON } });
    expect(await statusOf(made.id)).toBe('RELEASED');
    const [audited] = await deployment.metadata<{ details: Record<string, unknown> }>(
      `SELECT details_json AS details FROM audit_log WHERE event = 'pipeline.version.released' AND details_json::text LIKE $1`,
      [`%${made.id}%`],
    );
    expect(audited?.details).toMatchObject({ checks_overridden: ['five'], override_reason: REASON });
    expect(await rows(made.id)).toHaveLength(6);
  });

  it('are no way round by a file: what fails here lands nothing, and what passes lands released', async () => {
    const made = await draft([SIX]);
    expect((await release(made)).status).toBe(200);
    const file = await author.data('GET', `/api/v1/pipelines/${made.id}/export?include_templates=true`);
    const { id: _id, version: _version, body_hash: _hash, ...body } = file.pipeline;
    const strange = { ...body, name: 'checked/brought' };
    const stored = () => deployment.metadata(`SELECT 1 FROM pipelines WHERE name = 'checked/brought'`);
    const refused = await browser.call('POST', '/api/v1/pipelines/import', {
      pipeline: { ...strange, checks: [FIVE] },
      templates: file.templates,
    });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'pipeline.check.failed']);
    expect(refused.body.error.details.checks).toMatchObject([{ id: 'five', observed: '6', verdict: 'fail' }]);
    expect(await stored()).toEqual([]);
    const landed = await browser.call('POST', '/api/v1/pipelines/import', {
      pipeline: strange,
      templates: file.templates,
    });
    expect([landed.status, landed.body.data.status]).toEqual([201, 'RELEASED']);
  });

  it('say so when their datasource was taken away after the save, and open nothing of it', async () => {
    const made = await draft([SIX]);
    const taken = await deployment.metadata(
      `DELETE FROM datasource_workspaces WHERE datasource_name = 'shop' RETURNING *`,
    );
    try {
      const run = await author.data('POST', `/api/v1/pipelines/${made.id}/versions/1/checks/run`);
      expect(run.runs).toMatchObject([{ check_id: 'six', verdict: 'error', observed: null, duration_ms: null }]);
      expect(run.runs[0].message).toMatch(/does not exist, or this workspace may not use it/);
      const refused = await release(made);
      expect([refused.status, refused.body.error.details.failures.map(({ path }: Check) => path)]).toEqual([
        400,
        ['nodes[0].source', 'checks[0].datasource'],
      ]);
    } finally {
      for (const { workspace_id, granted_by } of taken) {
        await deployment.metadata(
          `INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ('shop', $1, $2)`,
          [workspace_id, granted_by],
        );
      }
    }
    expect(await rows(made.id)).toEqual(['six rest error']);
    expect((await release(made)).status).toBe(200);
  });

  it('that ran before the server died keep their rows, and the draft is released by asking again', async () => {
    const made = await draft([SIX, GATE]);
    const holder = new pg.Client({ connectionString: source.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE gate');
    const asked = release(made).catch((error: unknown) => error);
    await eventually('the row of the first check', async () => (await rows(made.id)).length === 1);
    await deployment.server.end('SIGKILL');
    await asked;
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await statusOf(made.id)).toBe('DRAFT');
    expect(await rows(made.id)).toEqual(['six release pass']);
    const { baseUrl } = await deployment.addServer();
    const again = await release(made, '', browser.on(baseUrl).in('default'));
    expect([again.status, again.body.data.status]).toEqual([200, 'RELEASED']);
    expect(await rows(made.id)).toEqual(['six release pass', 'six release pass', 'gate release pass']);
    const repeated = await release(made, '', browser.on(baseUrl).in('default'));
    expect([repeated.status, repeated.body.error.code]).toEqual([409, 'pipeline.version.not_draft']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { LocalServer } from '../fixtures/local-server.js';

let server: LocalServer;
let admin: ApiClient;

const PARENTS = 12;
const RUNS = 3;

/** A workspace with templates `shop/t01…` (releases 1 and 2), a pipeline per template that pins the second, and runs of its check. */
async function plant(workspace: string): Promise<void> {
  await server.test.database.execute(
    `WITH w AS (SELECT id FROM workspaces WHERE name = $1),
          owner AS (SELECT id FROM users ORDER BY created_at LIMIT 1),
          t AS (INSERT INTO templates (workspace_id, name, display_name, description, created_by, current_version)
                SELECT w.id, 'shop/t' || lpad(i::text, 2, '0'), 'T', '', owner.id, 2
                  FROM generate_series(1, $2::int) i, w, owner RETURNING id, created_by)
     INSERT INTO template_versions (template_id, version, dialect, body, status, body_hash, created_via, updated_via, created_by, released_at, released_by)
     SELECT t.id, n, 'DUCKDB', 'SELECT 1', 'RELEASED', 'h', 'session', 'session', t.created_by, NOW(), t.created_by FROM t, generate_series(1, 2) n`,
    [workspace, PARENTS],
  );
  await server.test.database.execute(
    `WITH w AS (SELECT id FROM workspaces WHERE name = $1),
          owner AS (SELECT id FROM users ORDER BY created_at LIMIT 1),
          p AS (INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id, current_version)
                SELECT w.id, 'shop/p' || lpad(i::text, 2, '0'), 'P', '', owner.id, 2
                  FROM generate_series(1, $2::int) i, w, owner RETURNING id, owner_id, name),
          v AS (INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, created_via, updated_via, created_by, released_at, released_by, created_at)
                SELECT p.id, n, jsonb_build_object(
                         'nodes', jsonb_build_array(
                           jsonb_build_object('id', 'a', 'template', jsonb_build_object('id', replace(p.name, '/p', '/t'), 'version', n)),
                           jsonb_build_object('id', 'b', 'template', jsonb_build_object('id', 'shop/t01', 'version', n))),
                         'checks', jsonb_build_array(jsonb_build_object('id', 'total', 'name', 'Total', 'expected', jsonb_build_object('rows', 1)))),
                       'RELEASED', 'h', 'session', 'session', p.owner_id, NOW(), p.owner_id, '2020-01-01Z'
                  FROM p, generate_series(1, 2) n RETURNING pipeline_id, version, created_by)
     INSERT INTO pipeline_check_runs (id, pipeline_id, version, check_id, ran_at, ran_by, via, parameters_json, observed_json, verdict, duration_ms)
     SELECT gen_random_uuid(), v.pipeline_id, v.version, 'total', TIMESTAMPTZ '2019-12-31Z' + i * INTERVAL '2 days',
            v.created_by, 'rest', '{}', jsonb_build_object('rows', i), 'pass', i
       FROM v, generate_series(0, $3::int) i`,
    [workspace, PARENTS, RUNS],
  );
}

beforeAll(async () => {
  server = await LocalServer.start();
  admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  await data(admin, 'mutation { createWorkspace(input: { name: "elsewhere" }) { workspace { id } } }');
  await plant('default');
  await plant('elsewhere');
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

const names = (connection: { nodes: { pipeline: { name: string } }[] }): string[] =>
  connection.nodes.map(({ pipeline }) => pipeline.name);
const all = Array.from({ length: PARENTS }, (_, i) => `shop/p${String(i + 1).padStart(2, '0')}`);

describe('who uses a template', () => {
  it('names each pipeline of the workspace once, and only by the version its readers see', async () => {
    const { template } = await data(
      admin,
      '{ template(name: "shop/t01") { usedBy { totalCount nodes { number pipeline { name } } } } }',
    );
    expect(names(template.usedBy)).toEqual(all);
    expect(Number(template.usedBy.totalCount)).toBe(PARENTS);
    expect(new Set(template.usedBy.nodes.map(({ number }: { number: unknown }) => Number(number)))).toEqual(
      new Set([2]),
    );
  });

  it('walks forwards and backwards over the pages', async () => {
    const query =
      'query($first: Int, $after: String, $last: Int, $before: String) { template(name: "shop/t01") { usedBy(first: $first, after: $after, last: $last, before: $before) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { pipeline { name } } } } }';
    const first = (await data(admin, query, { first: 5 })).template.usedBy;
    expect([names(first), first.pageInfo.hasNextPage]).toEqual([all.slice(0, 5), true]);
    const rest = (await data(admin, query, { first: 50, after: first.pageInfo.endCursor })).template.usedBy;
    expect([names(rest), rest.pageInfo.hasNextPage]).toEqual([all.slice(5), false]);
    const back = (await data(admin, query, { last: 2, before: rest.pageInfo.startCursor })).template.usedBy;
    expect([names(back), back.pageInfo.hasPreviousPage]).toEqual([all.slice(3, 5), true]);
  });

  it('tells nothing of templates that nobody uses, nor of a foreign cursor', async () => {
    await server.test.database.execute(`UPDATE templates SET current_version = 1 WHERE name = 'shop/t03'`);
    const { template } = await data(admin, '{ template(name: "shop/t03") { usedBy { totalCount nodes { id } } } }');
    expect(template.usedBy).toEqual({ totalCount: template.usedBy.totalCount, nodes: [] });
    expect(Number(template.usedBy.totalCount)).toBe(0);
    const answer = await ask(admin, '{ template(name: "shop/t01") { usedBy(after: "e30") { nodes { id } } } }');
    expect(codesOf(answer)).toEqual(['graphql.cursor_invalid']);
  });

  it('asks the same number of statements for one template and for many', async () => {
    const query = (first: number): string =>
      `{ templates(first: ${first}) { nodes { usedBy(first: 2) { totalCount nodes { number pipeline { name } } } } } }`;
    await data(admin, query(1));
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(PARENTS)));
    expect(many.length).toBe(few.length);
  });
});

describe('upgrades that are available', () => {
  it('are told of the version that pins less than the newest release, as over REST', async () => {
    const { pipeline } = await data(
      admin,
      '{ pipeline(name: "shop/p02") { id version(number: 1) { upgradeAvailable } current { upgradeAvailable } } }',
    );
    const rest = await admin.data('GET', `/api/v1/pipelines/${pipeline.id}/versions/1`);
    expect(pipeline.version.upgradeAvailable).toEqual(rest.upgrade_available);
    expect(pipeline.version.upgradeAvailable.map(({ node_id }: { node_id: string }) => node_id)).toEqual(['a', 'b']);
    expect(pipeline.current.upgradeAvailable).toEqual([]);
  });

  it('cost one statement however many versions are asked about', async () => {
    const query = (first: number): string =>
      `{ pipelines(first: ${first}) { nodes { versions(first: 2) { nodes { upgradeAvailable } } } } }`;
    await data(admin, query(1));
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(PARENTS)));
    expect(many.length).toBe(few.length);
  });
});

describe('the checks of a version', () => {
  it('show what is expected, the newest run and the ones before it, and none of a purged draft of the same number', async () => {
    const query =
      'query($first: Int, $after: String) { pipeline(name: "shop/p02") { current { checks { checkId name expected latestRun { observed ranBy { displayName } } runs(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { durationMs version verdict } } } } } }';
    const [check] = (await data(admin, query, { first: 2 })).pipeline.current.checks;
    expect(check).toMatchObject({ checkId: 'total', name: 'Total' });
    expect(Number(check.expected.rows)).toBe(1);
    expect(Number(check.latestRun.observed.rows)).toBe(RUNS);
    expect(check.latestRun.ranBy.displayName).not.toBe('');
    const durations = (page: { nodes: { durationMs: unknown }[] }): number[] =>
      page.nodes.map(({ durationMs }) => Number(durationMs));
    expect([durations(check.runs), Number(check.runs.totalCount)]).toEqual([[3, 2], RUNS]);
    const [next] = (await data(admin, query, { first: 2, after: check.runs.pageInfo.endCursor })).pipeline.current
      .checks;
    expect([durations(next.runs), next.runs.pageInfo.hasNextPage]).toEqual([[1], false]);
  });

  it('ask the same number of statements for one version and for many', async () => {
    const query = (first: number): string =>
      `{ pipelines(first: ${first}) { nodes { working { checks { latestRun { verdict ranBy { id } } runs(first: 2) { totalCount nodes { id } } } } } } }`;
    await data(admin, query(1));
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(PARENTS)));
    expect(many.length).toBe(few.length);
  });
});

describe('who refers to a datasource', () => {
  it('names the nodes and checks of this workspace and counts the others, and is null where the datasource is not seen', async () => {
    for (const name of ['shared', 'hidden']) {
      await admin.data('POST', '/api/v1/datasources', {
        name,
        display_name: name,
        dialect: 'POSTGRES',
        jdbc_url: 'jdbc:postgresql://127.0.0.1:9/x',
        credential: { kind: 'password', username: 'u', secret: 'planted' },
        workspace: name === 'shared' ? 'default' : 'elsewhere',
      });
    }
    await server.test.database.execute(
      `UPDATE pipeline_versions SET body_json = '{"nodes": [{"id": "read", "source": "shared"}, {"id": "write", "output": {"datasource": "shared"}}], "checks": [{"id": "sum", "name": "Sum", "datasource": "shared"}]}'
        WHERE version = 1 AND pipeline_id IN (SELECT id FROM pipelines WHERE name = 'shop/p07')`,
    );
    const answer = await data(
      admin,
      '{ datasourceReferences(name: "shared") { hiddenCount references { pipeline { name } nodeId checkId pipelineVersion versionStatus } } none: datasourceReferences(name: "hidden") { hiddenCount } }',
    );
    expect(answer.none).toBeNull();
    const { references, hiddenCount } = answer.datasourceReferences;
    expect(Number(hiddenCount)).toBe(3);
    expect(references.map(({ nodeId, checkId }: Record<string, string | null>) => [nodeId, checkId])).toEqual([
      ['read', null],
      ['write', null],
      [null, 'sum'],
    ]);
    expect(references[0]).toMatchObject({ pipeline: { name: 'shop/p07' }, versionStatus: 'RELEASED' });
  });
});

it('logs no error of its own in all of this', () => {
  expect(server.errors).toEqual([]);
});

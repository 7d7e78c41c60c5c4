import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { LocalServer } from '../fixtures/local-server.js';

let server: LocalServer;
let admin: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start({ DATAPIPELINES_GRAPHQL_TIMEOUT_SECONDS: '1' });
  admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

it('leaves no statement behind in the metadata database when the time of a query is over', async () => {
  const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%pipelines e%'`;
  await server.test.database.transaction(async (tx) => {
    await tx.execute('LOCK TABLE pipelines IN ACCESS EXCLUSIVE MODE');
    const answer = ask(admin, '{ pipelines { totalCount nodes { name } } viewer { authMethod } }');
    let before = 0;
    while (before === 0) before = (await server.test.database.query<{ count: number }>(waiting))[0]?.count ?? 0;
    expect(codesOf(await answer)).toEqual(['graphql.timeout']);
    expect((await answer).body.data).toEqual({ pipelines: null, viewer: { authMethod: 'session' } });
    let after = 1;
    while (after > 0) after = (await server.test.database.query<{ count: number }>(waiting))[0]?.count ?? 0;
  });
  expect((await data(admin, '{ pipelines { nodes { name } } }')).pipelines.nodes).toEqual([]);
});

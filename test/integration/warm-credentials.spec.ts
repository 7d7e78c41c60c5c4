import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { eventually } from '../fixtures/eventually.js';
import { LocalServer } from '../fixtures/local-server.js';
import { StatementTap } from '../fixtures/statement-tap.js';

/*
 * A credential that was judged a moment ago costs no statement (contract 04 §5): the paths asked here read nothing of the
 * database themselves, so every statement seen is one of the request pipeline.
 */

let server: LocalServer;
let tap: StatementTap;
let admin: ApiClient;
let key: string;

beforeAll(async () => {
  server = await LocalServer.start();
  tap = new StatementTap(server.test.database);
  admin = (await server.admin()).in('default');
  // As a member: what a super administrator does elsewhere is written down, each time.
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', author: true });
  ({ key } = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'warm', scopes: ['execute'] }));
  await ApiClient.withKey(server.baseUrl, key).call('GET', '/api/v1/calculators');
  // Written beside the first request, and not again for a minute.
  await eventually('the use of the key is stamped', () =>
    [...tap.seen].some((sql) => sql.includes('UPDATE api_keys SET last_used_at')),
  );
}, 60_000);
afterAll(() => server?.stop());

/** The different statements of `work`, inside transactions too. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  tap.seen.clear();
  await work();
  return [...tap.seen];
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const mcp = { headers: { Accept: 'application/json, text/event-stream' } };
const asked: [door: string, ask: (client: ApiClient) => Promise<{ status: number }>][] = [
  ['REST', (client) => client.call('GET', '/api/v1/calculators')],
  ['GraphQL', (client) => client.call('POST', '/graphql', { query: '{ calculators }' })],
  ['MCP', (client) => client.call('POST', '/mcp', ping, mcp)],
];

it.each(asked)('a warm key costs no statement: %s', async (_door, ask) => {
  const client = ApiClient.withKey(server.baseUrl, key);
  const statuses = new Set<number>();
  const often = async () => {
    for (let n = 0; n < 10; n++) statuses.add((await ask(client)).status);
  };
  await ask(client);
  expect(await statementsOf(often)).toEqual([]);
  // What another instance did drops what is known: then the rows are read.
  await server.forgets();
  const told = await statementsOf(often);
  for (const table of ['api_keys', 'users', 'workspaces', 'workspace_members'])
    expect([table, told.some((sql) => new RegExp(`FROM ${table}\\b`).test(sql))]).toEqual([table, true]);
  expect(statuses).toEqual(new Set([200]));
});

it('a warm key that is refused costs none either, and a malformed one never does', async () => {
  const wrong = ApiClient.withKey(server.baseUrl, `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`);
  const malformed = ApiClient.withKey(server.baseUrl, 'dpk_x');
  expect((await wrong.call('GET', '/api/v1/calculators')).status).toBe(401);
  // Its row of the trail is all that is written.
  const [row, ...others] = await statementsOf(() => wrong.call('GET', '/api/v1/calculators'));
  expect([row, others]).toEqual([expect.stringContaining('INSERT INTO audit_log'), []]);
  await server.forgets();
  expect(await statementsOf(() => malformed.call('GET', '/api/v1/calculators'))).toEqual([]);
  const metrics = await (await fetch(`http://127.0.0.1:${server.managementPort}/metrics`)).text();
  expect(metrics).toMatch(/^datapipelines_auth_malformed_keys 1$/m);
});

it('a warm session costs no statement', async () => {
  await admin.call('GET', '/api/v1/calculators');
  const often = async () => {
    for (let n = 0; n < 10; n++) expect((await admin.call('GET', '/api/v1/calculators')).status).toBe(200);
  };
  expect(await statementsOf(often)).toEqual([]);
});

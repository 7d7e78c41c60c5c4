import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiClient } from '../fixtures/api-client.js';
import { data } from '../fixtures/graphql.js';
import { mintKey } from '../../libs/identity/keys/key-format.js';
import { LocalServer } from '../fixtures/local-server.js';

const PEOPLE = 'members(first: 5) { nodes { user { displayName } } } invitations(first: 5) { nodes { email } }';
const ALL_PEOPLE = `workspaces(first: 10) { nodes { name ${PEOPLE} } }`;

interface Row {
  operation: string;
  path?: string;
  method?: string;
  workspace: string;
  acting_via?: string;
}

let server: LocalServer;
/** A super admin, active in `home`, of which alone he is a member. */
let chief: ApiClient;
let mark: string;

beforeAll(async () => {
  server = await LocalServer.start({ DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline' });
  const admin = await server.admin();
  for (const name of ['home', 'alpha', 'beta']) await admin.data('POST', '/api/v1/workspaces', { name });
  await admin.data('POST', '/api/v1/workspaces/home/members', { email: 'ops.lead@example.com', admin: true });
  await admin.data('POST', '/api/v1/workspaces/alpha/members', { email: 'guest@example.com' });
  await admin.data('POST', '/api/v1/auth/users', { email: 'ada@example.com' });
  chief = admin.in('home');
}, 60_000);
afterAll(() => server?.stop());

beforeEach(async () => {
  const [row] = await server.test.database.query<{ id: string }>('SELECT max(id)::text AS id FROM audit_log');
  mark = row?.id ?? '0';
});

/** What the trail tells of the chief since the test began. */
async function acting(): Promise<Row[]> {
  const rows = await server.test.database.query<{ details: string }>(
    `SELECT details_json AS details FROM audit_log WHERE event = 'auth.super_admin_acting' AND id > $1 ORDER BY id`,
    [mark],
  );
  return rows.map(({ details }) => {
    const { operation, path, method, workspace, acting_via } = JSON.parse(details) as Row;
    return { operation, path, method, workspace, acting_via };
  });
}

const row = (workspace: string, operation: string, method: string, path: string): Row => ({ operation, path, method, workspace, acting_via: 'super_admin' }); // prettier-ignore

describe('a super admin in a workspace he is no member of leaves a row', () => {
  it.each(['', '/members'])('when he reads it by name: GET /workspaces/alpha%s', async (rest) => {
    await chief.data('GET', `/api/v1/workspaces/alpha${rest}`);
    expect(await acting()).toEqual([row('alpha', 'workspace.read', 'GET', `/api/v1/workspaces/alpha${rest}`)]);
  });

  it('when he changes it by name, beside the row of the act itself', async () => {
    const members = '/api/v1/workspaces/beta/members';
    const { user_id: id } = await chief.data('POST', members, { email: 'ada@example.com', admin: true });
    await chief.data('POST', members, { email: 'ops.lead@example.com' });
    expect(await acting()).toEqual([1, 2].map(() => row('beta', 'workspace.members.manage', 'POST', members)));
    await chief.data('DELETE', `${members}/${await idOfChief()}`);
    await chief.data('PUT', `${members}/${id}`, { admin: true, promoter: true });
    await chief.data('PUT', '/api/v1/workspaces/beta', { display_name: 'Beta' });
    expect((await acting()).slice(2)).toEqual([
      row('beta', 'workspace.members.manage', 'PUT', `${members}/${id}`),
      row('beta', 'workspace.update', 'PUT', '/api/v1/workspaces/beta'),
    ]);
  });

  it('in each whose people a list shows, one for the act and not one for a field', async () => {
    const { workspaces } = await data(chief, `{ ${ALL_PEOPLE} }`);
    expect(workspaces.nodes.map(({ name }: { name: string }) => name)).toEqual(['alpha', 'beta', 'default', 'home']);
    const rows = ['alpha', 'beta', 'default'].map((name) => row(name, 'workspace.read', 'POST', '/graphql'));
    expect((await acting()).toSorted(byWorkspace)).toEqual(rows);
    await data(chief, `{ one: ${ALL_PEOPLE} two: ${ALL_PEOPLE} workspace(name: "alpha") { ${PEOPLE} } }`);
    expect((await acting()).slice(3).toSorted(byWorkspace)).toEqual(rows);
  });

  it('once for each request, not once for ever', async () => {
    for (let asked = 0; asked < 2; asked++) await data(chief, `{ workspace(name: "alpha") { ${PEOPLE} } }`);
    expect(await acting()).toEqual([1, 2].map(() => row('alpha', 'workspace.read', 'POST', '/graphql')));
  });
});

/** What rights of the instance show or change of a single workspace is an operation in that workspace too. */
describe('a right of the instance leaves a row in each workspace whose rows it touches', () => {
  const sources = '/api/v1/datasources';

  it('when he shuts, opens and deletes it, also where that is refused', async () => {
    const gamma = '/api/v1/workspaces/gamma';
    await chief.data('POST', '/api/v1/workspaces', { name: 'gamma' });
    for (const act of ['deactivate', 'reactivate']) await chief.data('POST', `${gamma}/${act}`);
    const { id } = await keyOfAda('gamma');
    expect((await chief.call('DELETE', gamma)).status).toBe(409);
    await chief.call('DELETE', `/api/v1/auth/api-keys/${id}`);
    expect((await chief.call('DELETE', gamma)).status).toBe(204);
    expect(await acting()).toEqual([
      row('gamma', 'workspace.lifecycle', 'POST', `${gamma}/deactivate`),
      row('gamma', 'workspace.lifecycle', 'POST', `${gamma}/reactivate`),
      row('gamma', 'workspace.delete', 'DELETE', gamma),
      row('gamma', 'api_key.own', 'DELETE', `/api/v1/auth/api-keys/${id}`),
      row('gamma', 'workspace.delete', 'DELETE', gamma),
    ]);
  });

  it.each(['memberships { workspace { name } }', 'apiKeys(first: 5) { nodes { name } }'])(
    'when he reads it of other people: users { %s }',
    async (field) => {
      await keyOfAda('alpha');
      await data(chief, `{ users(first: 10) { nodes { displayName ${field} } } }`);
      const rows = await acting();
      expect(rows).toContainEqual(row('alpha', 'user.read', 'POST', '/graphql'));
      expect(new Set(rows.map(({ workspace }) => workspace)).size).toBe(rows.length);
    },
  );

  it('when he makes, lists, tests, grants and deletes its datasource', async () => {
    const body = { name: 'theirs', display_name: 'Theirs', workspace: 'alpha', dialect: 'SQLITE' };
    await chief.data('POST', sources, { ...body, jdbc_url: `jdbc:sqlite:${server.files}/theirs.sqlite` });
    await chief.data('GET', `${sources}?all=true`);
    await chief.data('POST', `${sources}/theirs/test`);
    await chief.data('POST', `${sources}/theirs/grants/beta`);
    await chief.data('GET', `${sources}/theirs/grants`);
    await chief.call('DELETE', `${sources}/theirs/grants/beta`);
    expect((await chief.call('DELETE', `${sources}/theirs`)).status).toBe(204);
    expect(await acting()).toEqual([
      row('alpha', 'datasource.manage', 'POST', sources),
      row('alpha', 'datasource.grant', 'GET', sources),
      row('alpha', 'datasource.test', 'POST', `${sources}/theirs/test`),
      row('beta', 'datasource.grant', 'POST', `${sources}/theirs/grants/beta`),
      row('alpha', 'datasource.grant', 'GET', `${sources}/theirs/grants`),
      row('beta', 'datasource.grant', 'GET', `${sources}/theirs/grants`),
      row('beta', 'datasource.grant', 'DELETE', `${sources}/theirs/grants/beta`),
      row('alpha', 'datasource.manage', 'DELETE', `${sources}/theirs`),
    ]);
  });
});

describe('no row', () => {
  it('where he is a member, and none for a list of names', async () => {
    await chief.data('GET', '/api/v1/workspaces/home/members');
    await chief.data('GET', '/api/v1/workspaces');
    await data(chief, `{ workspaces(first: 10) { nodes { name displayName } } workspace(name: "home") { ${PEOPLE} } }`);
    expect(await acting()).toEqual([]);
  });

  it('of somebody who is no super admin, whatever he asks for', async () => {
    await server.test.database.execute(`UPDATE users SET is_admin = FALSE, updated_at = NOW()`);
    await server.forgets();
    expect((await chief.call('GET', '/api/v1/workspaces/alpha/members')).status).toBe(404);
    const { workspaces } = await data(chief, `{ ${ALL_PEOPLE} }`);
    expect(workspaces.nodes).toHaveLength(1);
    expect(await acting()).toEqual([]);
  });
});

const byWorkspace = (left: Row, right: Row): number => (left.workspace < right.workspace ? -1 : 1);

async function idOfChief(): Promise<string> {
  return (await chief.data('GET', '/api/v1/auth/me')).user_id;
}

/** A key, and a membership, of somebody who is active nowhere. */
async function keyOfAda(workspace: string): Promise<{ id: string }> {
  const { id } = mintKey();
  const params = [id, workspace];
  await server.test.database.execute(
    `WITH ada AS (SELECT u.id AS user_id, w.id AS workspace_id FROM users u, workspaces w
                   WHERE u.email = 'ada@example.com' AND w.name = $2),
          member AS (INSERT INTO workspace_members (user_id, workspace_id) SELECT user_id, workspace_id FROM ada
                     ON CONFLICT DO NOTHING)
     INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash, scopes) SELECT $1, user_id, workspace_id, $1, $1, '{read}' FROM ada`,
    params,
  );
  return { id };
}

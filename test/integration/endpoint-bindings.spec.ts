import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import type { Deployment } from '../fixtures/deployment.js';
import { LocalServer } from '../fixtures/local-server.js';
import { addPerson, signIn } from '../fixtures/people.js';

/*
 * Who may call what is published: the deepest node at or above the matched pattern that has a binding of the endpoint's
 * workspace decides, for every kind of key (contracts 03 §7, 04 §6.3).
 */

const BINDINGS = '/api/v1/endpoints/bindings';
const KEYS = '/api/v1/auth/api-keys';
const PATHS = ['/sales', '/sales/north', '/sales/{city}/rows', '/other'];

let server: LocalServer;
let admin: ApiClient;
let owner: ApiClient;
let neighbour: ApiClient;
let stranger: ApiClient;
let user: Key;

interface Key {
  id: string;
  client: ApiClient;
}

beforeAll(async () => {
  server = await LocalServer.start({ DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline' });
  admin = await server.admin();
  await admin.data('POST', '/api/v1/workspaces', { name: 'elsewhere', display_name: 'Elsewhere' });
  const people = {
    server,
    metadata: (sql: string, params: unknown[] = []) => server.test.database.query(sql, params),
  } as unknown as Deployment;
  const everything = { author: true, promoter: true, admin: true };
  await addPerson(people, 'owner', { memberships: { default: everything } });
  await addPerson(people, 'neighbour', { memberships: { default: { author: true } } });
  await addPerson(people, 'stranger', { memberships: { elsewhere: everything } });
  [owner, neighbour, stranger] = await Promise.all([signIn(people, 'owner'), signIn(people, 'neighbour'), signIn(people, 'stranger')]);
  const pipeline = await oneNodePipeline(owner, {
    name: 'bound/rows', source: 'tempdb', dialect: 'DUCKDB', sql: 'SELECT :city AS city',
    parameters: { city: { type: 'STRING', required: false, default: 'Ulm' } },
  });
  for (const path of PATHS) await owner.data('POST', '/api/v1/endpoints', { path, pipeline });
  user = await mint(owner, { scopes: ['execute'] });
}, 60_000); // prettier-ignore
afterAll(() => server?.stop());
afterEach(async () => {
  await server.test.database.execute('DELETE FROM endpoint_key_bindings');
  await server.forgets();
});

async function mint(client: ApiClient, body: object): Promise<Key> {
  const { key, id } = await client.data('POST', KEYS, { name: 'partner', ...body });
  return { id, client: ApiClient.withKey(server.baseUrl, key) };
}
const endpointKey = (client = owner, bindings?: string[]) => mint(client, { kind: 'endpoint', bindings });
const bind = (path_prefix: string, { id }: Key, client = owner) =>
  client.call('POST', BINDINGS, { path_prefix, api_key_id: id });
const unbind = (path_prefix: string, { id }: Key, client = owner) =>
  client.call('DELETE', `${BINDINGS}?path_prefix=${encodeURIComponent(path_prefix)}&api_key_id=${id}`);

/** The status of each published path for a key, with the reason or code of a refusal. */
async function reach({ client }: Key, paths = ['/sales', '/sales/north', '/sales/Bonn/rows', '/other']) {
  const seen: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, body } = await client.call('GET', `/api/x${path}`);
    seen[path] = status === 200 ? 200 : (body.error.details.reason ?? body.error.code);
  }
  return seen;
}
const everywhere = (answer: unknown) =>
  Object.fromEntries(['/sales', '/sales/north', '/sales/Bonn/rows', '/other'].map((path) => [path, answer]));

const NOT_BOUND = 'endpoint.key_not_bound';
const UNBOUND = 'endpoint_key_unbound';
const REFUSED = 'auth.api_key.invalid';

describe('what nothing is bound to', () => {
  it('is open to user keys that may execute, and closed to endpoint keys and readers', async () => {
    expect(await reach(user)).toEqual(everywhere(200));
    expect(await reach(await endpointKey())).toEqual(everywhere(UNBOUND));
    expect(await reach(await mint(owner, { scopes: ['read'] }))).toEqual(everywhere('auth.scope.insufficient'));
    const refused = await (await endpointKey()).client.call('GET', '/api/x/other');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'endpoint.key_kind_refused']);
  });

  it('does not exist for a key of another workspace, whatever is bound there or here', async () => {
    const foreign = [await mint(stranger, { scopes: ['execute'] }), await endpointKey(stranger, ['/'])];
    for (const key of foreign) expect(await reach(key)).toEqual(everywhere('endpoint.not_found'));
    // A binding of theirs on the very path neither opens it for them nor closes it for us.
    await server.test.database.execute(
      `INSERT INTO endpoint_key_bindings (path_prefix, api_key_id, workspace_id, created_by)
       SELECT '/sales', id, workspace_id, user_id FROM api_keys WHERE id = $1`,
      [foreign[1]!.id],
    );
    await server.forgets();
    expect(await reach(foreign[1]!)).toEqual(everywhere('endpoint.not_found'));
    expect(await reach(user)).toEqual(everywhere(200));
    const unknown = await foreign[0]!.client.call('GET', '/api/x/nowhere');
    const known = await foreign[0]!.client.call('GET', '/api/x/sales');
    const shape = ({ status, body }: typeof known) => [status, { ...body, correlation_id: '' }];
    expect(shape(known)).toEqual(shape(unknown));
  });
});

describe('an answer in a form that is not made', () => {
  it('is refused to those alone who may call: to all others there is nothing, or nothing for them', async () => {
    const page = { headers: { Accept: 'text/html' } };
    const asked = async ({ client }: Key, path: string) => {
      const { status, body } = await client.call('GET', `/api/x${path}`, undefined, page);
      return [status, body.error.code];
    };
    expect(await asked(user, '/sales')).toEqual([406, 'endpoint.not_acceptable']);
    expect(await asked(user, '/nothing')).toEqual([404, 'endpoint.not_found']);
    expect(await asked(await endpointKey(), '/sales')).toEqual([403, 'endpoint.key_kind_refused']);
    await bind('/sales', await endpointKey());
    expect(await asked(user, '/sales')).toEqual([403, 'endpoint.key_not_bound']);
  });
});

describe('the deciding node', () => {
  it('decides for every kind of key: a user key passes no node that an endpoint key is bound to', async () => {
    const app = await endpointKey();
    expect((await bind('/', app)).status).toBe(201);
    expect(await reach(app)).toEqual(everywhere(200));
    expect(await reach(user)).toEqual(everywhere(NOT_BOUND));
    expect(await reach(await endpointKey())).toEqual(everywhere(NOT_BOUND));
    const refused = await user.client.call('GET', '/api/x/other');
    expect([refused.status, refused.body.error.code]).toEqual([403, NOT_BOUND]);
  });

  it('is the deepest one with a binding: it replaces those above it and leaves those beside it', async () => {
    const [all, north] = [await endpointKey(), await endpointKey()];
    await bind('/', all);
    await bind('/sales/north', north);
    expect(await reach(all)).toEqual({ ...everywhere(200), '/sales/north': NOT_BOUND });
    expect(await reach(north)).toEqual({ ...everywhere(NOT_BOUND), '/sales/north': 200 });
    await bind('/sales/north', all);
    expect(await reach(all)).toEqual(everywhere(200));
    expect(await reach(north)).toEqual({ ...everywhere(NOT_BOUND), '/sales/north': 200 });
  });

  it('is a node of the pattern, not of the URL: a variable is spelled as it is published', async () => {
    const [city, sales] = [await endpointKey(), await endpointKey()];
    await bind('/sales', sales);
    expect((await bind('/sales/{city}', city)).status).toBe(201);
    expect(await reach(city)).toEqual({ ...everywhere(NOT_BOUND), '/sales/Bonn/rows': 200, '/other': UNBOUND });
    expect(await reach(sales)).toEqual({ ...everywhere(200), '/sales/Bonn/rows': NOT_BOUND, '/other': UNBOUND });
    expect(await reach(user)).toEqual({ ...everywhere(NOT_BOUND), '/other': 200 });
    // No path is published at or below these, though URLs are served there.
    for (const prefix of ['/sales/Bonn', '/sales/{town}', '/sale', '/sales/north/x', '/elsewhere']) {
      const answer = await bind(prefix, city);
      expect([prefix, answer.status, answer.body.error.code]).toEqual([prefix, 400, 'endpoint.path_invalid']);
    }
  });

  it('does not open when its key is revoked or expires: the row still decides', async () => {
    const [all, gone, late] = [await endpointKey(), await endpointKey(), await endpointKey()];
    await bind('/', all);
    await bind('/sales/north', gone);
    await bind('/other', late);
    const closed = { ...everywhere(200), '/sales/north': NOT_BOUND, '/other': NOT_BOUND };
    expect(await reach(all)).toEqual(closed);
    await owner.data('DELETE', `${KEYS}/${gone.id}`);
    await server.test.database.execute("UPDATE api_keys SET expires_at = NOW() - INTERVAL '1 s' WHERE id = $1", [late.id]);
    await server.forgets();
    expect(await reach(all)).toEqual(closed);
    expect(await reach(user)).toEqual(everywhere(NOT_BOUND));
    expect(await reach(gone)).toEqual(everywhere(REFUSED));
    expect(await reach(late)).toEqual(everywhere('auth.api_key.expired'));
    // Taking the rows away is what opens the nodes to what is above them.
    for (const [prefix, key] of [['/sales/north', gone], ['/other', late]] as const) expect((await unbind(prefix, key)).status).toBe(204);
    expect(await reach(all)).toEqual(everywhere(200));
  }); // prettier-ignore

  it('is another one as soon as a binding goes, and each of two bindings of one key stands for itself', async () => {
    const app = await endpointKey(owner, ['/sales', '/other']);
    expect(await reach(app)).toEqual(everywhere(200));
    await unbind('/sales', app);
    expect(await reach(app)).toEqual({ ...everywhere(UNBOUND), '/other': 200 });
    expect(await reach(user)).toEqual({ ...everywhere(200), '/other': NOT_BOUND });
    await unbind('/other', app);
    expect(await reach(app)).toEqual(everywhere(UNBOUND));
    expect(await reach(user)).toEqual(everywhere(200));
    // Both are idempotent.
    expect((await unbind('/other', app)).status).toBe(204);
    for (const status of [201, 201]) expect((await bind('/', app)).status).toBe(status);
    expect((await owner.data('GET', BINDINGS)).bindings).toHaveLength(1);
  });

  it('outlives what is published there: a path published anew is not open to those who were kept out', async () => {
    const app = await endpointKey();
    await bind('/other', app);
    const { pipeline_id } = (await owner.data('GET', '/api/v1/endpoints?path=%2Fother')) as { pipeline_id: string };
    expect((await owner.call('DELETE', '/api/v1/endpoints?path=%2Fother')).status).toBe(204);
    expect(await reach(app, ['/other'])).toEqual({ '/other': 'endpoint.not_found' });
    await owner.data('POST', '/api/v1/endpoints', { path: '/other', pipeline: pipeline_id });
    expect(await reach(app, ['/other'])).toEqual({ '/other': 200 });
    expect(await reach(user, ['/other'])).toEqual({ '/other': NOT_BOUND });
  });
});

describe('a run that an endpoint key started', () => {
  it('is read by exactly that key, by id and by nothing else', async () => {
    const [app, sibling] = [await endpointKey(owner, ['/']), await endpointKey(owner, ['/'])];
    const called = await app.client.call('GET', '/api/x/other');
    const run = `/api/v1/executions/${called.headers.get('DP-Execution-Id')}`;
    for (const path of [run, `${run}/result`, `${run}/events`]) {
      expect([path, (await app.client.call('GET', path)).status]).toEqual([path, 200]);
      expect([path, (await app.client.call('HEAD', path)).status]).toEqual([path, 200]);
      // Same owner, same workspace, same bindings: the row of the trail names the key.
      const { status, body } = await sibling.client.call('GET', path);
      expect([path, status, body.error.code]).toEqual([path, 404, 'result.execution_not_found']);
    }
    for (const [method, path] of [['DELETE', run], ['GET', '/api/v1/executions'], ['GET', `${run}/nodes`], ['POST', '/mcp'], ['POST', '/graphql']] as const) {
      const answer = await app.client.call(method, path, method === 'POST' ? {} : undefined);
      expect([path, answer.status]).toEqual([path, 403]);
      expect([path, answer.text]).toEqual([path, expect.stringContaining('endpoint_key_off_surface')]);
    }
    // Without its row there is no proof, and the run is nobody's.
    await server.test.database.execute('DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE key_id = $1)', [app.id]);
    await server.forgets();
    expect((await app.client.call('GET', run)).status).toBe(404);
  }); // prettier-ignore
});

describe('binding', () => {
  it('takes endpoint keys only, and says which kind it was given', async () => {
    const { id } = await admin.in('default').data('POST', KEYS, { name: 'sender', kind: 'server' });
    const keys = { user: user.id, server: id };
    for (const [kind, key] of Object.entries(keys)) {
      const { status, body } = await bind('/', { id: key } as Key);
      expect([status, body.error.code]).toEqual([403, 'endpoint.key_kind_refused']);
      expect(body.error.details).toEqual({ reason: 'binding_kind', kind });
    }
    expect(await reach(user)).toEqual(everywhere(200));
  });

  it("takes an author's own keys, and everybody's from an administrator; a foreign one is no key", async () => {
    const [theirs, ours, foreign] = [await endpointKey(neighbour), await endpointKey(), await endpointKey(stranger)];
    const codeOf = async (attempt: ReturnType<typeof bind>) => (await attempt).body?.error?.code ?? (await attempt).status;
    expect(await codeOf(bind('/', theirs, neighbour))).toBe(201);
    expect(await codeOf(bind('/', ours, neighbour))).toBe('auth.api_key.not_found');
    expect(await codeOf(bind('/sales', theirs, owner))).toBe(201);
    expect(await codeOf(bind('/', foreign, owner))).toBe('auth.api_key.not_found');
    expect(await codeOf(unbind('/sales', ours, neighbour))).toBe('auth.api_key.not_found');
    expect(await codeOf(unbind('/sales', theirs, owner))).toBe(204);
    // Without a name there is nothing to bind to, and above what others publish only the root is anybody's.
    expect(await codeOf(bind('/sales', foreign, stranger))).toBe('endpoint.path_invalid');
    expect(await codeOf(bind('/', foreign, stranger))).toBe(201);
    expect(await reach(theirs)).toEqual(everywhere(200));
  }); // prettier-ignore

  it('stands or falls with the key it is minted with', async () => {
    const before = await server.test.database.query('SELECT id FROM api_keys ORDER BY id');
    const answer = await owner.call('POST', KEYS, { name: 'p', kind: 'endpoint', bindings: ['/sales', '/nowhere'] });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'endpoint.path_invalid']);
    expect(await server.test.database.query('SELECT id FROM api_keys ORDER BY id')).toEqual(before);
    expect((await owner.data('GET', BINDINGS)).bindings).toEqual([]);
  });
});

it('a bound key may no more than its owner: one who left the workspace serves nobody, and back again it does', async () => {
  const people = {
    server,
    metadata: (sql: string, params: unknown[] = []) => server.test.database.query(sql, params),
  } as unknown as Deployment;
  const leaverId = await addPerson(people, 'leaver', { memberships: { default: { author: true } } });
  const leaver = await signIn(people, 'leaver');
  const key = await endpointKey(leaver, ['/sales']);
  expect(await reach(key, ['/sales'])).toEqual({ '/sales': 200 });
  const member = `/api/v1/workspaces/default/members/${leaverId}`;
  expect((await owner.call('DELETE', member)).status).toBe(204);
  expect(await reach(key, ['/sales'])).toEqual({ '/sales': 'auth.key_issuer_role_lost' });
  // Its binding still decides: what nobody may call is not open to others for that.
  expect(await reach(user, ['/sales'])).toEqual({ '/sales': NOT_BOUND });
  expect(
    (await owner.call('POST', '/api/v1/workspaces/default/members', { email: 'leaver@example.org', author: true }))
      .status,
  ).toBeLessThan(300);
  expect(await reach(key, ['/sales'])).toEqual({ '/sales': 200 });
});

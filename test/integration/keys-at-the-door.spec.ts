import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import type { Deployment } from '../fixtures/deployment.js';
import { LocalServer } from '../fixtures/local-server.js';
import { addPerson, signIn } from '../fixtures/people.js';

/* The life of an API key as its owner and its bearer see it (contract 04 §6.1, §6.2). */

const KEYS = '/api/v1/auth/api-keys';
const PER_MINUTE = 5000;

let server: LocalServer;
let owner: ApiClient;
let keeper: ApiClient;
let stranger: ApiClient;
let ownerId: string;

beforeAll(async () => {
  server = await LocalServer.start({ DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_MINUTE: String(PER_MINUTE) });
  const admin = await server.admin();
  await admin.data('POST', '/api/v1/workspaces', { name: 'second', display_name: 'Second' });
  const people = {
    server,
    metadata: (sql: string, params: unknown[] = []) => server.test.database.query(sql, params),
  } as unknown as Deployment;
  const author = { author: true };
  ownerId = await addPerson(people, 'owner', { memberships: { default: author, second: author } });
  await addPerson(people, 'keeper', { memberships: { default: { admin: true } } });
  await addPerson(people, 'stranger', { memberships: { second: { admin: true } } });
  [owner, keeper, stranger] = await Promise.all(['owner', 'keeper', 'stranger'].map((name) => signIn(people, name))) as [ApiClient, ApiClient, ApiClient];
}, 60_000); // prettier-ignore
afterAll(() => server?.stop());

interface Key {
  id: string;
  key: string;
  client: ApiClient;
}
async function mint(body: object = {}, client = owner): Promise<Key> {
  const { id, key } = await client.data('POST', KEYS, { name: 'k', ...body });
  return { id, key, client: ApiClient.withKey(server.baseUrl, key) };
}
const told = async (attempt: ReturnType<ApiClient['call']>) => {
  const { status, body } = await attempt;
  return status < 300 ? status : [status, body.error.code];
};

describe('a key that is made', () => {
  it('is in one answer, which nobody keeps, and in no other', async () => {
    const answer = await owner.call('POST', KEYS, { name: 'k' });
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
    const { key, id, scopes, kind, is_revoked } = answer.body.data;
    expect(key).toMatch(/^dpk_[A-Z2-7]{12}\.[A-Z2-7]{48}$/);
    expect([key.split('.')[0], key.length, scopes, kind, is_revoked]).toEqual([id, 65, ['read'], 'user', false]);
    for (const path of [KEYS, '/api/v1/auth/me', `${KEYS}?limit=200`]) {
      const { text } = await owner.call('GET', path);
      expect([path, text.includes((key as string).slice(17))]).toEqual([path, false]);
    }
  });

  it('belongs for life to the workspace its session acted in, and names no other', async () => {
    const { client } = await mint({}, owner.in('second'));
    const workspaceOf = async () => (await client.call('GET', '/api/v1/auth/me')).body.data.workspace.name;
    expect(await workspaceOf()).toBe('second');
    await owner.call('POST', '/workspace/switch', { workspace: 'default' });
    expect(await workspaceOf()).toBe('second');
    for (const name of ['default', 'second', 'nowhere']) {
      const headers = { 'DP-Workspace': name };
      expect(await told(client.call('GET', '/api/v1/pipelines', undefined, { headers }))).toEqual([400, 'workspace.header_forbidden']);
    }
    expect(await told(client.call('GET', '/api/v1/workspaces/second'))).toBe(200);
    for (const name of ['default', 'nowhere'])
      expect(await told(client.call('GET', `/api/v1/workspaces/${name}`))).toEqual([404, 'workspace.not_found']);
    // Where a key may be at all is judged first.
    const app = await mint({ kind: 'endpoint' });
    const off = app.client.call('GET', '/api/v1/pipelines', undefined, { headers: { 'DP-Workspace': 'default' } });
    expect(await told(off)).toEqual([403, 'endpoint.key_kind_refused']);
    const on = app.client.call('GET', '/api/x/any', undefined, { headers: { 'DP-Workspace': 'default' } });
    expect(await told(on)).toEqual([400, 'workspace.header_forbidden']);
  }); // prettier-ignore

  it('sees itself in the list, as its owner sees all of every workspace', async () => {
    const [here, there] = [await mint(), await mint({}, owner.in('second'))];
    const listed = async (client: ApiClient) =>
      (await client.data('GET', `${KEYS}?limit=200`)).items.map(({ id }: { id: string }) => id) as string[];
    expect(await listed(here.client)).toEqual([here.id]);
    expect(await listed(owner)).toEqual(expect.arrayContaining([here.id, there.id]));
    expect(await listed(keeper)).toEqual([]);
    const all = (await keeper.data('GET', `${KEYS}?all=true&limit=200`)).items.map(({ id }: { id: string }) => id);
    expect([all.includes(here.id), all.includes(there.id)]).toEqual([true, false]);
  });
});

describe('a key that is revoked', () => {
  it('is by its owner, an administrator of its workspace or itself; to others it does not exist', async () => {
    const revoke = (client: ApiClient, { id }: { id: string }) => told(client.call('DELETE', `${KEYS}/${id}`));
    const absent = [404, 'auth.api_key.not_found'];
    const [one, two, three] = [await mint(), await mint(), await mint()];
    expect(await revoke(stranger, one)).toEqual(absent);
    expect(await revoke(two.client, one)).toEqual(absent);
    expect(await revoke(owner, { id: 'dpk_AAAAAAAAAAAA' })).toEqual(absent);
    expect(await told(one.client.call('GET', '/api/v1/auth/me'))).toBe(200);
    for (const [client, key] of [[owner, one], [keeper, two], [three.client, three]] as const) {
      expect(await revoke(client, key)).toBe(204);
      expect(await told(key.client.call('GET', '/api/v1/auth/me'))).toEqual([401, 'auth.api_key.invalid']);
    }
    // Once more changes nothing, and the row stays.
    expect(await revoke(owner, one)).toBe(204);
    expect((await owner.data('GET', `${KEYS}?limit=200`)).items).toEqual(expect.arrayContaining([expect.objectContaining({ id: one.id, is_revoked: true })]));
  }); // prettier-ignore
});

describe('what a key may do', () => {
  it('is bounded by its scope, then by what its owner may do there now: a person who left has nothing', async () => {
    const [reader, writer] = [await mint(), await mint({ scopes: ['author'] })];
    const create = (client: ApiClient) => client.call('POST', '/api/v1/pipelines/validate', {});
    const refused = await create(reader.client);
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({
      code: 'auth.scope.insufficient',
      details: { operation: 'pipeline.validate', required: 'author', held: ['read'] },
    });
    expect((await create(writer.client)).status).not.toBe(403);
    const members = '/api/v1/workspaces/default/members';
    expect((await keeper.call('PUT', `${members}/${ownerId}`, {})).status).toBe(200);
    const lost = await create(writer.client);
    expect(lost.body.error).toMatchObject({
      code: 'auth.key_issuer_role_lost',
      details: { operation: 'pipeline.validate', required: 'author', held: [], workspace: 'default' },
    });
    expect(await told(writer.client.call('GET', '/api/v1/pipelines'))).toBe(200);
    expect((await keeper.call('DELETE', `${members}/${ownerId}`)).status).toBe(204);
    expect(await told(writer.client.call('GET', '/api/v1/pipelines'))).toEqual([403, 'auth.key_issuer_role_lost']);
  });

  it('draws on the budget of its owner, whichever key and door', async () => {
    const [one, two] = [await mint({}, stranger), await mint({}, stranger)];
    const remaining = async (client: ApiClient, path: string) =>
      Number((await client.call('GET', path)).headers.get('RateLimit-Remaining'));
    const seen = [
      await remaining(stranger, '/api/v1/auth/me'),
      await remaining(one.client, '/api/v1/auth/me'),
      await remaining(two.client, '/api/v1/pipelines'),
      await remaining(one.client, '/api/x/any'),
    ];
    const steps = seen.slice(1).map((left, at) => (seen[at] as number) - left);
    // A minute may end between two of them, and no more than one.
    expect(steps.filter((step) => step !== 1).length).toBeLessThanOrEqual(1);
    expect(Math.max(...seen)).toBeLessThan(PER_MINUTE);
  });
});

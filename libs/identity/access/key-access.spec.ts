import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PenstockError, type Principal } from '#libs/kernel';
import { identityInstance, requestFacts, type TestInstance } from '../../../test/fixtures/identity.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { ApiKeyService } from '../keys/api-key.service.js';
import { mintKey } from '../keys/key-format.js';
import { authorise, authoriseRequest } from '../authorise.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { Invalidations } from '../liveness/invalidations.js';
import { Admission } from './admission.js';
import { Authenticator } from './authenticator.js';
import { DEFAULT_WORKSPACE_ID } from './membership.repository.js';
import { UseStamps } from './use-stamps.js';
import { WorkspaceDirectory } from './workspace-directory.js';

let db: TestDatabase;
let instance: TestInstance;
let ada: Principal;

beforeEach(async () => {
  db = await createTestDatabase();
  instance = await identityInstance({ database: db.database });
  ada = await member('ada@example.org', { author: true });
});
afterEach(async () => {
  await instance.close();
  await db.drop();
});

/** A person with a session in `default`, as the authenticator would describe one. */
async function member(
  email: string,
  flags: { author?: boolean; promoter?: boolean; admin?: boolean } | null,
  isAdmin = false,
): Promise<Principal> {
  const [user] = await db.database.query<{ id: string }>(
    `INSERT INTO users (email, display_name, provider, provider_subject, is_admin) VALUES ($1, $1, 'local', $1, $2) RETURNING id`,
    [email, isAdmin],
  );
  const userId = user?.id ?? '';
  if (flags) {
    await db.database.execute(
      `INSERT INTO workspace_members (workspace_id, user_id, author, promoter, admin) VALUES ($1, $2, $3, $4, $5)`,
      [DEFAULT_WORKSPACE_ID, userId, flags.author ?? false, flags.promoter ?? false, flags.admin ?? false],
    );
  }
  const workspace = await instance.get(WorkspaceDirectory).select({ id: userId, isAdmin }, {});
  return {
    userId,
    email,
    displayName: email,
    method: 'session',
    surface: 'session',
    scopes: [],
    superAdmin: isAdmin,
    mustChangePassword: false,
    correlationId: '00000000-0000-4000-8000-000000000001',
    ...(workspace ? { workspace } : {}),
  };
}

const keys = () => instance.get(ApiKeyService);
const present = (key: string, on = instance) =>
  on.get(Authenticator).authenticateKey(key, requestFacts({ surface: 'api_key', path: '/api/v1/pipelines' }));

async function refusal(attempt: Promise<unknown>): Promise<{ code: string; details?: unknown }> {
  try {
    await attempt;
    return { code: 'accepted' };
  } catch (error) {
    if (error instanceof PenstockError) return { code: error.code, details: error.details };
    throw error;
  }
}
const codeOf = async (attempt: Promise<unknown>) => (await refusal(attempt)).code;

const auditOf = async (event: string): Promise<Record<string, unknown>[]> => {
  const rows = await db.database.query<{ details: string; keyId: string | null }>(
    'SELECT details_json AS details, key_id AS "keyId" FROM audit_log WHERE event = $1 ORDER BY id',
    [event],
  );
  return rows.map((row) => ({ keyId: row.keyId, ...(JSON.parse(row.details) as Record<string, unknown>) }));
};

/** Somebody else's write, announced as the writing service does. */
async function change(
  sql: string,
  params: unknown[],
  kind: 'user' | 'membership' | 'workspace',
  id: string,
): Promise<void> {
  await db.database.transaction(async (tx) => {
    await tx.execute(sql, params);
    instance.get(Invalidations).announce(tx, kind, id);
  });
}

describe('issuing a key', () => {
  it('shows the secret once, keeps a hash, pins the workspace and audits without the secret', async () => {
    const { apiKey, key } = await keys().create(ada, { name: ' agent ', scopes: ['execute', 'read', 'read'] });
    expect(key.slice(0, 16)).toBe(apiKey.id);
    expect(apiKey).toMatchObject({
      name: 'agent',
      kind: 'user',
      scopes: ['read', 'execute'],
      workspace: { name: 'default' },
      is_revoked: false,
    });
    const secret = key.slice(17);
    const dump = await db.database.query<{ row: string }>(
      'SELECT row_to_json(k)::text AS row FROM api_keys k UNION ALL SELECT row_to_json(a)::text FROM audit_log a',
    );
    expect(dump).toHaveLength(2);
    for (const { row } of dump) expect(row).not.toContain(secret);
    expect(dump[0]?.row).toContain('$argon2id$');
    expect(await auditOf('auth.api_key.created')).toMatchObject([
      { keyId: apiKey.id, name: 'agent', kind: 'user', scopes: ['read', 'execute'], workspace: 'default' },
    ]);
    expect(JSON.stringify(await keys().list(ada, { offset: 0, limit: 50 }))).not.toContain(secret);
  });

  it.each([
    [{ name: '' }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'x'.repeat(101) }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'a\u0007b' }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 7 }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'k', scopes: [] }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'k', scopes: 'read' }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'k', scopes: ['admin'] }, 'auth.key_scope_unavailable'],
    [{ name: 'k', scopes: ['write'] }, 'auth.scope.unknown'],
    [{ name: 'k', scopes: [null] }, 'auth.scope.unknown'],
    [{ name: 'k', kind: 'robot' }, 'endpoint.key_kind_refused'],
    [{ name: 'k', bindings: ['/x'] }, 'endpoint.key_kind_refused'],
    [{ name: 'k', kind: 'endpoint', bindings: Array(101).fill('/x') }, 'pipeline.execution.invalid_parameter_type'],
    [{ name: 'k', kind: 'endpoint', scopes: ['read'] }, 'endpoint.key_kind_refused'],
    [{ name: 'k', expires_at: '2020-01-01T00:00:00Z' }, 'auth.api_key.expiry_invalid'],
    [{ name: 'k', expires_at: 'tomorrow' }, 'auth.api_key.expiry_invalid'],
    [{ name: 'k', expires_at: '2099-01-01' }, 'auth.api_key.expiry_invalid'],
    [{ name: 'k', expires_at: '2099-01-01T00:00:00' }, 'auth.api_key.expiry_invalid'],
    [{ name: 'k', expires_at: 4102444800 }, 'auth.api_key.expiry_invalid'],
    [{ name: 'k', kind: 'server' }, 'auth.role_required'],
  ])('refuses %j with %s and stores nothing', async (request, code) => {
    expect(await codeOf(keys().create(ada, request))).toBe(code);
    expect(await db.database.query('SELECT id FROM api_keys')).toEqual([]);
  });

  it('holds every key to the longest lifetime, the one that names none too', async () => {
    const limited = await identityInstance({ database: db.database, options: { keyMaxLifetimeDays: 30 } });
    const service = limited.get(ApiKeyService);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    expect(await codeOf(service.create(ada, { name: 'k', expires_at: inDays(31) }))).toBe(
      'auth.api_key.expiry_invalid',
    );
    const { apiKey } = await service.create(ada, { name: 'k' });
    expect(Date.parse(apiKey.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(30 * 86_400_000);
    await limited.close();
  });

  it('is for authors in a session: viewers never mint, and no key mints a sibling', async () => {
    expect(await codeOf(keys().create(await member('eve@example.org', {}), { name: 'k' }))).toBe('auth.role_required');
    expect(await codeOf(keys().create(await member('sam@example.org', null), { name: 'k' }))).toBe(
      'workspace.membership_required',
    );
    const { key } = await keys().create(ada, { name: 'k', scopes: ['author'] });
    expect(await codeOf(keys().create(await present(key), { name: 'sibling' }))).toBe('auth.session.required');
  });

  it('creates an endpoint key and its bindings together or not at all', async () => {
    const { apiKey } = await keys().create(ada, { name: 'k', kind: 'endpoint', bindings: ['/lending'] });
    expect(apiKey).toMatchObject({ kind: 'endpoint', scopes: [] });
    expect(instance.bindings.bound).toEqual([{ keyId: apiKey.id, prefixes: ['/lending'] }]);
    await expect(keys().create(ada, { name: 'k2', kind: 'endpoint', bindings: ['/refused'] })).rejects.toThrow(
      'refused prefix',
    );
    expect(await db.database.query('SELECT id FROM api_keys')).toHaveLength(1);
    expect(await auditOf('auth.api_key.created')).toHaveLength(1);
  });
});

describe('presenting a key', () => {
  it('gives the principal of the owner in the pin, with the scopes of the key and no super admin', async () => {
    const root = await member('root@example.org', null, true);
    const { key, apiKey } = await keys().create(root, { name: 'k', scopes: ['author'] });
    const principal = await present(key);
    expect(principal).toMatchObject({
      userId: root.userId,
      method: 'api_key',
      keyId: apiKey.id,
      keyKind: 'user',
      scopes: ['author'],
      superAdmin: false,
    });
    expect(principal.workspace).toMatchObject({ name: 'default', superAdmin: false, implicit: true });
    expect(authorise(principal, 'pipeline.create').name).toBe('default');
    expect(await codeOf(Promise.resolve().then(() => authoriseRequest(principal, 'workspace.create')))).toBe(
      'auth.session.required',
    );
  });

  it('refuses malformed, unknown and wrong keys alike', async () => {
    const { key } = await keys().create(ada, { name: 'k' });
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    const unknown = `dpk_${'A'.repeat(12)}.${key.slice(17)}`;
    const refusals = await Promise.all(
      [wrong, unknown, 'dpk_', '', key.toLowerCase(), `${key} `].map((one) => refusal(present(one))),
    );
    for (const one of refusals) expect(one).toEqual({ code: 'auth.api_key.invalid', details: {} });
    expect((await auditOf('auth.api_key.rejected')).map(({ reason }) => reason).sort()).toEqual([
      'unknown_or_revoked',
      'wrong',
    ]);
  });

  it('judges wrong and right secrets of one key side by side, without one answer leaking into the other', async () => {
    const { key } = await keys().create(ada, { name: 'k' });
    const wrong = `${key.slice(0, -4)}AAAA` === key ? `${key.slice(0, -4)}BBBB` : `${key.slice(0, -4)}AAAA`;
    const attempts = [wrong, key, wrong, key, wrong].map((one) => codeOf(present(one)));
    expect(await Promise.all(attempts)).toEqual([
      'auth.api_key.invalid',
      'accepted',
      'auth.api_key.invalid',
      'accepted',
      'auth.api_key.invalid',
    ]);
    expect(await codeOf(present(wrong))).toBe('auth.api_key.invalid');
  });

  it('verifies a flood of wrong secrets for one key ten times a minute and network, and the owner is not shut out', async () => {
    const { key } = await keys().create(ada, { name: 'k' });
    const matches = jest.spyOn(instance.get(SecretHasher), 'matches');
    const wrong = () => `${key.slice(0, 17)}${mintKey().key.slice(17)}`;
    for (let n = 0; n < 25; n++) expect(await codeOf(present(wrong()))).toBe('auth.api_key.invalid');
    expect(matches).toHaveBeenCalledTimes(10);
    const elsewhere = requestFacts({ surface: 'api_key', sourceIp: '198.51.100.9' });
    expect(await codeOf(instance.get(Authenticator).authenticateKey(key, elsewhere))).toBe('accepted');
    // Once proven, a key is known by its digest: no network needs a verification any more.
    expect(await codeOf(present(key))).toBe('accepted');
    expect(await codeOf(present(wrong()))).toBe('auth.api_key.invalid');
    expect(matches).toHaveBeenCalledTimes(11);
  });

  it('verifies again when the minute has passed', async () => {
    const { key } = await keys().create(ada, { name: 'k' });
    for (let n = 0; n < 12; n++) await codeOf(present(`${key.slice(0, 17)}${mintKey().key.slice(17)}`));
    expect(await codeOf(present(key))).toBe('auth.api_key.invalid');
    instance.clock.advance(1);
    expect(await codeOf(present(key))).toBe('accepted');
  });

  it('says "expired" only to who knows the secret', async () => {
    const { key } = await keys().create(ada, { name: 'k', expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect(await codeOf(present(key))).toBe('accepted');
    instance.clock.advance(2);
    expect(await codeOf(present(key))).toBe('auth.api_key.expired');
    expect(await codeOf(present(`${key.slice(0, -4)}7777`))).toBe('auth.api_key.invalid');
  });

  it('ends with its owner and with its workspace', async () => {
    const { key } = await keys().create(ada, { name: 'k' });
    expect(await codeOf(present(key))).toBe('accepted');
    await change(
      'UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1',
      [DEFAULT_WORKSPACE_ID],
      'workspace',
      DEFAULT_WORKSPACE_ID,
    );
    expect(await codeOf(present(key))).toBe('auth.key_workspace_inactive');
    await change(
      'UPDATE workspaces SET deactivated_at = NULL, updated_at = NOW() WHERE id = $1',
      [DEFAULT_WORKSPACE_ID],
      'workspace',
      DEFAULT_WORKSPACE_ID,
    );
    await change(
      'UPDATE users SET is_active = FALSE, updated_at = NOW() WHERE id = $1',
      [ada.userId],
      'user',
      ada.userId,
    );
    expect(await codeOf(present(key))).toBe('auth.api_key.invalid');
  });

  it('follows the current flags of its issuer down to nothing', async () => {
    const { key } = await keys().create(ada, { name: 'k', scopes: ['author'] });
    expect(authorise(await present(key), 'pipeline.create').flags.author).toBe(true);
    await change(
      'UPDATE workspace_members SET author = FALSE WHERE user_id = $1',
      [ada.userId],
      'membership',
      ada.userId,
    );
    const viewer = await present(key);
    expect(authorise(viewer, 'pipeline.read').name).toBe('default');
    expect(await refusal(Promise.resolve().then(() => authorise(viewer, 'pipeline.create')))).toMatchObject({
      code: 'auth.key_issuer_role_lost',
      details: { required: 'author', held: [], workspace: 'default' },
    });
    await change('DELETE FROM workspace_members WHERE user_id = $1', [ada.userId], 'membership', ada.userId);
    const orphan = await present(key);
    expect(await codeOf(Promise.resolve().then(() => authorise(orphan, 'pipeline.read')))).toBe(
      'auth.key_issuer_role_lost',
    );
  });

  it('ignores scopes that no key may have, whatever the row says', async () => {
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    await db.database.execute(`UPDATE api_keys SET scopes = '{admin,read,root}' WHERE id = $1`, [apiKey.id]);
    expect((await present(key)).scopes).toEqual(['read']);
  });

  it('stamps its use off the request, once a minute', async () => {
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    for (let n = 0; n < 5; n++) await present(key);
    await instance.get(UseStamps).settled();
    const [row] = (await keys().list(ada, { offset: 0, limit: 1 })).items;
    expect(row).toMatchObject({ id: apiKey.id, last_used_ip: '192.0.2.7', last_used_user_agent: 'test' });
    const before = row?.last_used_at;
    await present(key);
    await instance.get(UseStamps).settled();
    expect((await keys().list(ada, { offset: 0, limit: 1 })).items[0]?.last_used_at).toBe(before);
  });

  it('keeps a flood of wrong keys from filling the trail, and counts what it left out', async () => {
    const unknown = `dpk_${'A'.repeat(12)}.${'A'.repeat(48)}`;
    for (let n = 0; n < 70; n++) await codeOf(present(unknown));
    expect(await auditOf('auth.api_key.rejected')).toHaveLength(60);
    instance.clock.advance(2);
    await codeOf(present(unknown));
    expect((await auditOf('auth.api_key.rejected')).at(-1)).toMatchObject({ suppressed: 10 });
  });

  it('counts what it left out apart from denials, which would take the number with them', async () => {
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    const wrong = `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    const reader = await present(key);
    for (let n = 0; n < 62; n++) await codeOf(present(wrong));
    instance.clock.advance(2);
    expect(await codeOf(instance.get(Admission).admit(reader, 'workspace.create'))).toBe('auth.session.required');
    await codeOf(present(wrong));
    expect((await auditOf('auth.api_key.rejected')).at(-1)).toMatchObject({ suppressed: 2 });
    expect(apiKey.id).toBe(reader.keyId);
  });

  it('counts keys that nobody has by the address they come from: there are as many as an attacker likes', async () => {
    for (let n = 0; n < 70; n++) await codeOf(present(mintKey().key));
    expect(await auditOf('auth.api_key.rejected')).toHaveLength(60);
  });
});

describe('reading keys', () => {
  it('a key sees itself and none of its siblings, by id as in lists', async () => {
    const mine = await keys().create(ada, { name: 'k' });
    const sibling = await keys().create(ada, { name: 'sibling' });
    const asKey = await present(mine.key);
    expect(await keys().own(asKey, mine.apiKey.id)).toMatchObject({ name: 'k' });
    expect(await keys().own(asKey, sibling.apiKey.id)).toBeUndefined();
    expect(await keys().own(ada, sibling.apiKey.id)).toMatchObject({ name: 'sibling' });
    expect(await keys().own(await member('eve@example.org', {}), mine.apiKey.id)).toBeUndefined();
  });

  it('refuses a cursor that only looks like one, instead of failing on it', async () => {
    const { apiKey } = await keys().create(ada, { name: 'k' });
    for (const after of ['x', `2026-02-31T00:00:00Z~${apiKey.id}`, `${apiKey.created_at}~'--`]) {
      expect(await codeOf(keys().listKeyset(ada, {}, { first: 1, after }))).toBe('graphql.cursor_invalid');
    }
    const page = await keys().listKeyset(ada, {}, { first: 1 });
    expect(await keys().listKeyset(ada, {}, { first: 1, after: page.items[0]?.cursor })).toMatchObject({ items: [] });
  });
});

describe('revoking a key', () => {
  it('works at once on this and on the other instance, and once is enough', async () => {
    const other = await identityInstance({ database: db.database, channel: instance.channel });
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    expect([await codeOf(present(key)), await codeOf(present(key, other))]).toEqual(['accepted', 'accepted']);
    await keys().revoke(ada, apiKey.id);
    await keys().revoke(ada, apiKey.id);
    expect([await codeOf(present(key)), await codeOf(present(key, other))]).toEqual([
      'auth.api_key.invalid',
      'auth.api_key.invalid',
    ]);
    expect(await auditOf('auth.api_key.revoked')).toMatchObject([
      { keyId: apiKey.id, owner_id: ada.userId, reason: 'owner' },
    ]);
    await other.close();
  });

  it('works after one TTL where the bus is down, and never longer', async () => {
    const other = await identityInstance({ database: db.database, channel: instance.channel });
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    await present(key, other);
    instance.channel.cut = true;
    await keys().revoke(ada, apiKey.id);
    expect(await codeOf(present(key, other))).toBe('accepted');
    other.clock.advance(1);
    expect(await codeOf(present(key, other))).toBe('auth.api_key.invalid');
    await other.close();
  });

  it('is not undone by a check that began before it', async () => {
    const { key, apiKey } = await keys().create(ada, { name: 'k' });
    const racing = Array.from({ length: 6 }, () => codeOf(present(key)));
    await keys().revoke(ada, apiKey.id);
    await Promise.all(racing);
    expect(await codeOf(present(key))).toBe('auth.api_key.invalid');
  });

  it('is for the owner, administrators of its workspace, super admins and the key itself; for others it does not exist', async () => {
    const make = () => keys().create(ada, { name: 'k', scopes: ['read'] });
    const viewer = await member('eve@example.org', {});
    const admin = await member('adm@example.org', { author: true, admin: true });
    const root = await member('root@example.org', null, true);
    const { apiKey } = await make();
    expect(await codeOf(keys().revoke(viewer, apiKey.id))).toBe('auth.api_key.not_found');
    expect(await codeOf(keys().revoke(viewer, 'dpk_ZZZZZZZZZZZZ'))).toBe('auth.api_key.not_found');
    expect(await codeOf(keys().revoke(viewer, "' OR 1=1"))).toBe('auth.api_key.not_found');
    expect(await codeOf(keys().revoke(admin, apiKey.id))).toBe('accepted');
    expect(await codeOf(keys().revoke(root, (await make()).apiKey.id))).toBe('accepted');
    const [mine, sibling] = [await make(), await make()];
    const asKey = await present(mine.key);
    expect(await codeOf(keys().revoke(asKey, sibling.apiKey.id))).toBe('auth.api_key.not_found');
    expect(await codeOf(keys().revoke(asKey, mine.apiKey.id))).toBe('accepted');
    expect((await auditOf('auth.api_key.revoked')).map(({ reason }) => reason)).toEqual([
      'administrator',
      'administrator',
      'owner',
    ]);
  });

  it('lists own keys, all keys of the workspace to its administrators only, and to a key itself', async () => {
    const admin = await member('adm@example.org', { author: true, admin: true });
    const { key } = await keys().create(ada, { name: 'one' });
    await keys().create(ada, { name: 'two' });
    await keys().create(admin, { name: 'three' });
    const names = async (who: Principal, all = false) =>
      (await keys().list(who, { all, offset: 0, limit: 50 })).items.map(({ name }) => name).sort();
    expect(await names(ada)).toEqual(['one', 'two']);
    expect(await names(admin, true)).toEqual(['one', 'three', 'two']);
    expect(await codeOf(names(ada, true))).toBe('auth.role_required');
    expect(await names(await present(key))).toEqual(['one']);
    expect(await keys().list(ada, { offset: 1, limit: 1 })).toMatchObject({ total: 2, items: [{ name: 'one' }] });
  });
});

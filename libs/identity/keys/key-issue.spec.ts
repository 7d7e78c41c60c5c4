import { describe, expect, it } from '@jest/globals';
import { identityInstance } from '../../../test/fixtures/identity.js';
import { codeOf, keyScene } from '../../../test/fixtures/key-scene.js';
import { ApiKeyService } from './api-key.service.js';

const scene = keyScene();

describe('issuing a key', () => {
  it('shows the secret once, keeps a hash, pins the workspace and audits without the secret', async () => {
    const { apiKey, key } = await scene
      .keys()
      .create(scene.ada, { name: ' agent ', scopes: ['execute', 'read', 'read'] });
    expect(key.slice(0, 16)).toBe(apiKey.id);
    expect(apiKey).toMatchObject({
      name: 'agent',
      kind: 'user',
      scopes: ['read', 'execute'],
      workspace: { name: 'default' },
      is_revoked: false,
    });
    const secret = key.slice(17);
    const dump = await scene.database.query<{ row: string }>(
      'SELECT row_to_json(k)::text AS row FROM api_keys k UNION ALL SELECT row_to_json(a)::text FROM audit_log a',
    );
    expect(dump).toHaveLength(2);
    for (const { row } of dump) expect(row).not.toContain(secret);
    expect(dump[0]?.row).toContain('$argon2id$');
    expect(await scene.auditOf('auth.api_key.created')).toMatchObject([
      { keyId: apiKey.id, name: 'agent', kind: 'user', scopes: ['read', 'execute'], workspace: 'default' },
    ]);
    expect(JSON.stringify(await scene.keys().list(scene.ada, {}, {}))).not.toContain(secret);
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
    expect(await codeOf(scene.keys().create(scene.ada, request))).toBe(code);
    expect(await scene.database.query('SELECT id FROM api_keys')).toEqual([]);
  });

  it('holds every key to the longest lifetime, the one that names none too', async () => {
    const limited = await identityInstance({ database: scene.database, options: { keyMaxLifetimeDays: 30 } });
    const service = limited.get(ApiKeyService);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    expect(await codeOf(service.create(scene.ada, { name: 'k', expires_at: inDays(31) }))).toBe(
      'auth.api_key.expiry_invalid',
    );
    const { apiKey } = await service.create(scene.ada, { name: 'k' });
    expect(Date.parse(apiKey.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(30 * 86_400_000);
    await limited.close();
  });

  it('is for authors in a session: viewers never mint, and no key mints a sibling', async () => {
    expect(await codeOf(scene.keys().create(await scene.member('eve@example.org', {}), { name: 'k' }))).toBe(
      'auth.role_required',
    );
    expect(await codeOf(scene.keys().create(await scene.member('sam@example.org', null), { name: 'k' }))).toBe(
      'workspace.membership_required',
    );
    const { key } = await scene.keys().create(scene.ada, { name: 'k', scopes: ['author'] });
    expect(await codeOf(scene.keys().create(await scene.present(key), { name: 'sibling' }))).toBe(
      'auth.session.required',
    );
  });

  it('creates an endpoint key and its bindings together or not at all', async () => {
    const { apiKey } = await scene.keys().create(scene.ada, { name: 'k', kind: 'endpoint', bindings: ['/lending'] });
    expect(apiKey).toMatchObject({ kind: 'endpoint', scopes: [] });
    expect(scene.instance.bindings.bound).toEqual([{ keyId: apiKey.id, prefixes: ['/lending'] }]);
    await expect(
      scene.keys().create(scene.ada, { name: 'k2', kind: 'endpoint', bindings: ['/refused'] }),
    ).rejects.toThrow('refused prefix');
    expect(await scene.database.query('SELECT id FROM api_keys')).toHaveLength(1);
    expect(await scene.auditOf('auth.api_key.created')).toHaveLength(1);
  });
});

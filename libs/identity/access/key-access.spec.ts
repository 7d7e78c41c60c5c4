import { describe, expect, it, jest } from '@jest/globals';
import { requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, keyScene, refusal } from '../../../test/fixtures/key-scene.js';
import { authorise, authoriseRequest } from '../authorise.js';
import { mintKey } from '../keys/key-format.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { AccessTrail } from './access-trail.js';
import { Authenticator } from './authenticator.js';
import { DEFAULT_WORKSPACE_ID } from './membership.repository.js';
import { UseStamps } from './use-stamps.js';

const scene = keyScene();

describe('presenting a key', () => {
  it('gives the principal of the owner in the pin, with the scopes of the key and no super admin', async () => {
    const root = await scene.member('root@example.org', null, true);
    const { key, apiKey } = await scene.keys().create(root, { name: 'k', scopes: ['author'] });
    const principal = await scene.present(key);
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
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    const unknown = `dpk_${'A'.repeat(12)}.${key.slice(17)}`;
    const refusals = await Promise.all(
      [wrong, unknown, 'dpk_', '', key.toLowerCase(), `${key} `].map((one) => refusal(scene.present(one))),
    );
    for (const { code, body } of refusals) expect([code, body?.details]).toEqual(['auth.api_key.invalid', {}]);
    expect((await scene.auditOf('auth.api_key.rejected')).map(({ reason }) => reason).sort()).toEqual([
      'unknown_or_revoked',
      'wrong',
    ]);
    // The malformed ones name nobody: they are counted, and stand in no row.
    expect(scene.instance.get(AccessTrail).malformedKeys).toBe(4);
  });

  it('judges wrong and right secrets of one key side by side, without one answer leaking into the other', async () => {
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    const wrong = `${key.slice(0, -4)}AAAA` === key ? `${key.slice(0, -4)}BBBB` : `${key.slice(0, -4)}AAAA`;
    const attempts = [wrong, key, wrong, key, wrong].map((one) => codeOf(scene.present(one)));
    expect(await Promise.all(attempts)).toEqual([
      'auth.api_key.invalid',
      'accepted',
      'auth.api_key.invalid',
      'accepted',
      'auth.api_key.invalid',
    ]);
    expect(await codeOf(scene.present(wrong))).toBe('auth.api_key.invalid');
  });

  it('verifies a flood of wrong secrets for one key ten times a minute and network, and the owner is not shut out', async () => {
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    const matches = jest.spyOn(scene.instance.get(SecretHasher), 'matches');
    const wrong = () => `${key.slice(0, 17)}${mintKey().key.slice(17)}`;
    for (let n = 0; n < 25; n++) expect(await codeOf(scene.present(wrong()))).toBe('auth.api_key.invalid');
    expect(matches).toHaveBeenCalledTimes(10);
    const elsewhere = requestFacts({ surface: 'api_key', sourceIp: '198.51.100.9' });
    expect(await codeOf(scene.instance.get(Authenticator).authenticateKey(key, elsewhere))).toBe('accepted');
    // Once proven, a key is known by its digest: no network needs a verification any more.
    expect(await codeOf(scene.present(key))).toBe('accepted');
    expect(await codeOf(scene.present(wrong()))).toBe('auth.api_key.invalid');
    expect(matches).toHaveBeenCalledTimes(11);
  });

  it('verifies again when the minute has passed', async () => {
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    for (let n = 0; n < 12; n++) await codeOf(scene.present(`${key.slice(0, 17)}${mintKey().key.slice(17)}`));
    expect(await codeOf(scene.present(key))).toBe('auth.api_key.invalid');
    scene.instance.clock.advance(1);
    expect(await codeOf(scene.present(key))).toBe('accepted');
  });

  it('says "expired" only to who knows the secret', async () => {
    const { key } = await scene
      .keys()
      .create(scene.ada, { name: 'k', expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect(await codeOf(scene.present(key))).toBe('accepted');
    scene.instance.clock.advance(2);
    expect(await codeOf(scene.present(key))).toBe('auth.api_key.expired');
    expect((await scene.auditOf('auth.api_key.rejected')).map(({ reason }) => reason)).toEqual(['expired']);
    expect(await codeOf(scene.present(`${key.slice(0, -4)}7777`))).toBe('auth.api_key.invalid');
  });

  it('ends with its owner and with its workspace', async () => {
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    expect(await codeOf(scene.present(key))).toBe('accepted');
    await scene.change(
      'UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1',
      [DEFAULT_WORKSPACE_ID],
      'workspace',
      DEFAULT_WORKSPACE_ID,
    );
    expect(await codeOf(scene.present(key))).toBe('auth.key_workspace_inactive');
    await scene.change(
      'UPDATE workspaces SET deactivated_at = NULL, updated_at = NOW() WHERE id = $1',
      [DEFAULT_WORKSPACE_ID],
      'workspace',
      DEFAULT_WORKSPACE_ID,
    );
    await scene.change(
      'UPDATE users SET is_active = FALSE, updated_at = NOW() WHERE id = $1',
      [scene.ada.userId],
      'user',
      scene.ada.userId,
    );
    expect(await codeOf(scene.present(key))).toBe('auth.api_key.invalid');
    expect((await scene.auditOf('auth.api_key.rejected')).map(({ reason }) => reason)).toEqual([
      'workspace_inactive',
      'owner_inactive',
    ]);
  });

  it('follows the current flags of its issuer down to nothing', async () => {
    const { key } = await scene.keys().create(scene.ada, { name: 'k', scopes: ['author'] });
    expect(authorise(await scene.present(key), 'pipeline.create').flags.author).toBe(true);
    await scene.change(
      'UPDATE workspace_members SET author = FALSE WHERE user_id = $1',
      [scene.ada.userId],
      'membership',
      scene.ada.userId,
    );
    const viewer = await scene.present(key);
    expect(authorise(viewer, 'pipeline.read').name).toBe('default');
    expect(await refusal(Promise.resolve().then(() => authorise(viewer, 'pipeline.create')))).toMatchObject({
      code: 'auth.key_issuer_role_lost',
      body: { details: { required: 'author', held: [], workspace: 'default' } },
    });
    await scene.change(
      'DELETE FROM workspace_members WHERE user_id = $1',
      [scene.ada.userId],
      'membership',
      scene.ada.userId,
    );
    const orphan = await scene.present(key);
    expect(await codeOf(Promise.resolve().then(() => authorise(orphan, 'pipeline.read')))).toBe(
      'auth.key_issuer_role_lost',
    );
  });

  it('ignores scopes that no key may have, whatever the row says', async () => {
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    await scene.database.execute(`UPDATE api_keys SET scopes = '{admin,read,root}' WHERE id = $1`, [apiKey.id]);
    expect((await scene.present(key)).scopes).toEqual(['read']);
  });

  it('stamps its use off the request, once a minute', async () => {
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    for (let n = 0; n < 5; n++) await scene.present(key);
    await scene.instance.get(UseStamps).settled();
    const used = async () => (await scene.keys().list(scene.ada, {}, { first: 1 })).items[0]?.apiKey;
    const row = await used();
    expect(row).toMatchObject({ id: apiKey.id, last_used_ip: '192.0.2.7', last_used_user_agent: 'test' });
    const before = row?.last_used_at;
    await scene.present(key);
    await scene.instance.get(UseStamps).settled();
    expect((await used())?.last_used_at).toBe(before);
  });
});

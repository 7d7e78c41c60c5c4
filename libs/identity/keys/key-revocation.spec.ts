import { describe, expect, it } from '@jest/globals';
import type { Principal } from '#libs/kernel';
import { identityInstance } from '../../../test/fixtures/identity.js';
import { codeOf, keyScene } from '../../../test/fixtures/key-scene.js';

const scene = keyScene();

describe('reading keys', () => {
  it('a key sees itself and none of its siblings, by id as in lists', async () => {
    const mine = await scene.keys().create(scene.ada, { name: 'k' });
    const sibling = await scene.keys().create(scene.ada, { name: 'sibling' });
    const asKey = await scene.present(mine.key);
    expect(await scene.keys().own(asKey, mine.apiKey.id)).toMatchObject({ name: 'k' });
    expect(await scene.keys().own(asKey, sibling.apiKey.id)).toBeUndefined();
    expect(await scene.keys().own(scene.ada, sibling.apiKey.id)).toMatchObject({ name: 'sibling' });
    expect(await scene.keys().own(await scene.member('eve@example.org', {}), mine.apiKey.id)).toBeUndefined();
  });

  it('refuses a cursor that only looks like one, instead of failing on it', async () => {
    const { apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    for (const after of ['x', `2026-02-31T00:00:00Z~${apiKey.id}`, apiKey.created_at]) {
      expect(await codeOf(scene.keys().list(scene.ada, {}, { first: 1, after }))).toBe('graphql.cursor_invalid');
    }
    const page = await scene.keys().list(scene.ada, {}, { first: 1 });
    expect(await scene.keys().list(scene.ada, {}, { first: 1, after: page.items[0]?.cursor })).toMatchObject({
      items: [],
    });
  });
});

describe('revoking a key', () => {
  it('works at once on this and on the other instance, and once is enough', async () => {
    const other = await identityInstance({ database: scene.database, channel: scene.instance.channel });
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    expect([await codeOf(scene.present(key)), await codeOf(scene.present(key, other))]).toEqual([
      'accepted',
      'accepted',
    ]);
    await scene.keys().revoke(scene.ada, apiKey.id);
    await scene.keys().revoke(scene.ada, apiKey.id);
    expect([await codeOf(scene.present(key)), await codeOf(scene.present(key, other))]).toEqual([
      'auth.api_key.invalid',
      'auth.api_key.invalid',
    ]);
    expect(await scene.auditOf('auth.api_key.revoked')).toMatchObject([
      { keyId: apiKey.id, owner_id: scene.ada.userId, reason: 'owner' },
    ]);
    await other.close();
  });

  it('works after one TTL where the bus is down, and never longer', async () => {
    const other = await identityInstance({ database: scene.database, channel: scene.instance.channel });
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    await scene.present(key, other);
    scene.instance.channel.cut = true;
    await scene.keys().revoke(scene.ada, apiKey.id);
    expect(await codeOf(scene.present(key, other))).toBe('accepted');
    other.clock.advance(1);
    expect(await codeOf(scene.present(key, other))).toBe('auth.api_key.invalid');
    await other.close();
  });

  it('works at once when the bus is back: what was missed is not waited for', async () => {
    const other = await identityInstance({ database: scene.database, channel: scene.instance.channel });
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    await scene.present(key, other);
    scene.instance.channel.cut = true;
    await scene.keys().revoke(scene.ada, apiKey.id);
    expect(await codeOf(scene.present(key, other))).toBe('accepted');
    scene.instance.channel.reconnect();
    expect(await codeOf(scene.present(key, other))).toBe('auth.api_key.invalid');
    await other.close();
  });

  it('is not undone by a check that began before it', async () => {
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    const racing = Array.from({ length: 6 }, () => codeOf(scene.present(key)));
    await scene.keys().revoke(scene.ada, apiKey.id);
    await Promise.all(racing);
    expect(await codeOf(scene.present(key))).toBe('auth.api_key.invalid');
  });

  it('is for the owner, administrators of its workspace, super admins and the key itself; for others it does not exist', async () => {
    const make = () => scene.keys().create(scene.ada, { name: 'k', scopes: ['read'] });
    const viewer = await scene.member('eve@example.org', {});
    const admin = await scene.member('adm@example.org', { author: true, admin: true });
    const root = await scene.member('root@example.org', null, true);
    const { apiKey } = await make();
    expect(await codeOf(scene.keys().revoke(viewer, apiKey.id))).toBe('auth.api_key.not_found');
    expect(await codeOf(scene.keys().revoke(viewer, 'dpk_ZZZZZZZZZZZZ'))).toBe('auth.api_key.not_found');
    expect(await codeOf(scene.keys().revoke(viewer, "' OR 1=1"))).toBe('auth.api_key.not_found');
    expect(await codeOf(scene.keys().revoke(admin, apiKey.id))).toBe('accepted');
    expect(await codeOf(scene.keys().revoke(root, (await make()).apiKey.id))).toBe('accepted');
    const [mine, sibling] = [await make(), await make()];
    const asKey = await scene.present(mine.key);
    expect(await codeOf(scene.keys().revoke(asKey, sibling.apiKey.id))).toBe('auth.api_key.not_found');
    expect(await codeOf(scene.keys().revoke(asKey, mine.apiKey.id))).toBe('accepted');
    expect((await scene.auditOf('auth.api_key.revoked')).map(({ reason }) => reason)).toEqual([
      'administrator',
      'administrator',
      'owner',
    ]);
  });

  it('lists own keys, all keys of the workspace to its administrators only, and to a key itself', async () => {
    const admin = await scene.member('adm@example.org', { author: true, admin: true });
    const { key } = await scene.keys().create(scene.ada, { name: 'one' });
    await scene.keys().create(scene.ada, { name: 'two' });
    await scene.keys().create(admin, { name: 'three' });
    const names = async (who: Principal, all = false) =>
      (await scene.keys().list(who, { all }, {})).items.map(({ apiKey }) => apiKey.name).sort();
    expect(await names(scene.ada)).toEqual(['one', 'two']);
    expect(await names(admin, true)).toEqual(['one', 'three', 'two']);
    expect(await codeOf(names(scene.ada, true))).toBe('auth.role_required');
    expect(await names(await scene.present(key))).toEqual(['one']);
    expect(await scene.keys().list(scene.ada, {}, { first: 1, skip: 1 })).toMatchObject({
      items: [{ apiKey: { name: 'one' } }],
      hasNext: false,
    });
    expect(await scene.keys().count(scene.ada, {})).toBe(2);
  });
});

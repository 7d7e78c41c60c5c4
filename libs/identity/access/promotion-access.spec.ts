import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { identityInstance, requestFacts, type TestInstance } from '../../../test/fixtures/identity.js';
import { codeOf, keyScene, refusal } from '../../../test/fixtures/key-scene.js';
import { Logger, type Principal } from '#libs/kernel';
import { authorise, authoriseRequest } from '../authorise.js';
import { mintKey } from '../keys/key-format.js';
import { SystemActor } from '../users/system-actor.js';
import { AccessTrail } from './access-trail.js';
import { Authenticator } from './authenticator.js';
import { DEFAULT_WORKSPACE_ID } from './membership.repository.js';
import { UseStamps } from './use-stamps.js';

const PATH = '/api/v1/promotion/push';
const SHARED = 'a value that both sides were given'.replaceAll(' ', '-');

const scene = keyScene();
let root: Principal;
let receiver: TestInstance;

beforeEach(async () => {
  root = await scene.member('root@example.org', null, true);
  receiver = scene.instance;
});

const promote = (key: string | undefined, on = receiver, sourceIp = '192.0.2.7') =>
  on.get(Authenticator).authenticatePromotion(key, requestFacts({ surface: 'api_key', path: PATH, sourceIp }));
const serverKey = (extra: object = {}) => scene.keys().create(root, { name: 'from-staging', kind: 'server', ...extra });
const spoiled = (key: string) => `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
const rejections = async () =>
  (await scene.auditOf('auth.promotion.rejected')).map(({ correlation_id: _, ...row }) => row);

describe('a promotion key', () => {
  it('leads to the system actor in the pin of the key, with no right but to promote', async () => {
    const { key, apiKey } = await serverKey();
    const principal = await promote(key);
    expect(principal).toMatchObject({
      userId: await receiver.get(SystemActor).id(),
      method: 'promotion',
      keyId: apiKey.id,
      keyKind: 'server',
      scopes: [],
      superAdmin: false,
      workspace: { id: DEFAULT_WORKSPACE_ID, flags: { author: false, promoter: false, admin: false }, superAdmin: false },
    });
    expect(authorise(principal, 'promotion.receive').id).toBe(DEFAULT_WORKSPACE_ID);
    for (const operation of ['pipeline.read', 'pipeline.import', 'promotion.promote', 'api_key.own'] as const) {
      const judged = Promise.resolve().then(() => authoriseRequest(principal, operation));
      expect([operation, await codeOf(judged)]).toEqual([operation, 'auth.promotion.key_invalid']);
    }
  }); // prettier-ignore

  it('is refused in one way whatever is wrong with it; only the trail says what', async () => {
    const live = await serverKey();
    const revoked = await serverKey();
    await scene.keys().revoke(root, revoked.apiKey.id);
    const expired = await serverKey({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const user = await scene.keys().create(scene.ada, { name: 'k', scopes: ['author'] });
    const endpoint = await scene.keys().create(scene.ada, { name: 'k', kind: 'endpoint' });
    const nobody = mintKey();
    receiver.clock.advance(2);
    const cases: [presented: string | undefined, reason: string, keyId: string | null][] = [
      [undefined, 'missing', null],
      ['', 'missing', null],
      ['not a key', 'malformed', null],
      [SHARED, 'malformed', null],
      [nobody.key, 'unknown_or_revoked', nobody.id],
      [revoked.key, 'unknown_or_revoked', revoked.apiKey.id],
      [spoiled(live.key), 'wrong', live.apiKey.id],
      [expired.key, 'expired', expired.apiKey.id],
      [user.key, 'other_kind', user.apiKey.id],
      [endpoint.key, 'other_kind', endpoint.apiKey.id],
    ];
    for (const [presented] of cases) {
      const { code, body } = await refusal(promote(presented));
      expect([code, body?.details]).toEqual(['auth.promotion.key_invalid', {}]);
    }
    expect(await rejections()).toEqual(cases.map(([, reason, keyId]) => ({ keyId, path: PATH, reason })));
  });

  it('ends with its owner and with its pin', async () => {
    const { key, apiKey } = await serverKey();
    expect(await codeOf(promote(key))).toBe('accepted');
    const setActive = (active: boolean) =>
      scene.change('UPDATE users SET is_active = $2 WHERE id = $1', [root.userId, active], 'user', root.userId);
    await setActive(false);
    expect(await codeOf(promote(key))).toBe('auth.promotion.key_invalid');
    await setActive(true);
    await scene.change(
      'UPDATE workspaces SET deactivated_at = NOW() WHERE id = $1',
      [DEFAULT_WORKSPACE_ID],
      'workspace',
      DEFAULT_WORKSPACE_ID,
    );
    expect(await codeOf(promote(key))).toBe('auth.promotion.key_invalid');
    expect(await rejections()).toEqual(
      ['owner_inactive', 'workspace_inactive'].map((reason) => ({ keyId: apiKey.id, path: PATH, reason })),
    );
  });

  it('does not lose its reach with the rights of the person who minted it: the credential is the whole authority', async () => {
    const { key } = await serverKey();
    await scene.change('UPDATE users SET is_admin = FALSE WHERE id = $1', [root.userId], 'user', root.userId);
    expect(authorise(await promote(key), 'promotion.receive').id).toBe(DEFAULT_WORKSPACE_ID);
  });

  it('is no API key, and revoking it ends it at once on an instance that has it warm', async () => {
    const other = await identityInstance({ database: scene.database, channel: receiver.channel });
    const { key, apiKey } = await serverKey();
    expect(await codeOf(promote(key, other))).toBe('accepted');
    const asKey = await scene.present(key, other);
    expect(await codeOf(Promise.resolve().then(() => authorise(asKey, 'pipeline.read')))).toBe(
      'endpoint.key_kind_refused',
    );
    await scene.keys().revoke(root, apiKey.id);
    expect(await codeOf(promote(key, other))).toBe('auth.promotion.key_invalid');
    await other.close();
  });

  it('stamps its use like every key', async () => {
    const { key } = await serverKey();
    await promote(key);
    await receiver.get(UseStamps).settled();
    const [row] = await scene.database.query<{ used: boolean }>(
      `SELECT last_used_at IS NOT NULL AS used FROM api_keys WHERE kind = 'server'`,
    );
    expect(row).toEqual({ used: true });
  });
});

describe('a flood of wrong promotion keys', () => {
  it('fills no trail: sixty rows a minute for a network, and as many for a key that exists, apart', async () => {
    const { key } = await serverKey();
    for (let n = 0; n < 62; n++) await codeOf(promote(n % 2 === 0 ? mintKey().key : undefined));
    expect(await rejections()).toHaveLength(60);
    await codeOf(promote(spoiled(key)));
    await codeOf(promote(undefined, receiver, '198.51.100.9'));
    expect(await rejections()).toHaveLength(62);
    expect(receiver.get(AccessTrail).denialsLeftOut).toBe(2);
  });
});

describe('the shared server key', () => {
  let sharing: TestInstance;
  beforeEach(async () => {
    sharing = await identityInstance({ database: scene.database, options: { promotionServerKey: SHARED } });
  });
  afterEach(() => sharing.close());

  it('is taken beside keys that were minted, acts in no workspace of its own, and warns at each use', async () => {
    const warn = jest.spyOn(sharing.get(Logger), 'warn');
    const principal = await promote(SHARED, sharing);
    expect(principal).toMatchObject({ method: 'promotion', userId: await sharing.get(SystemActor).id() });
    expect([principal.keyId, principal.workspace]).toEqual([undefined, undefined]);
    expect(warn.mock.calls.map(([, fields]) => fields?.['event'])).toEqual(['auth.promotion.shared_key_used']);
    expect(JSON.stringify(warn.mock.calls)).not.toContain(SHARED);
    expect(await codeOf(promote((await serverKey()).key, sharing))).toBe('accepted');
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('is compared whole: no prefix, no other case, nothing longer, and another instance without it knows none', async () => {
    for (const near of [SHARED.slice(0, -1), `${SHARED}x`, SHARED.toUpperCase(), ` ${SHARED}`])
      expect(await codeOf(promote(near, sharing))).toBe('auth.promotion.key_invalid');
    expect(await codeOf(promote(SHARED))).toBe('auth.promotion.key_invalid');
  });
});

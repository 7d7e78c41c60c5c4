import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OidcLoginService } from '#libs/identity';
import { MemoryTransientStore } from '#libs/transient';
import { HostileIdp, type Claims, type Misdeeds } from '../../../test/fixtures/hostile-idp.js';
import {
  identityInstance,
  requestFacts,
  type InstanceParts,
  type TestInstance,
} from '../../../test/fixtures/identity.js';
import { codeOf } from '../../../test/fixtures/login-scene.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';

const ADA: Claims = { sub: 'ada-1', email: 'Ada@Example.com', email_verified: true, name: 'Ada Lovelace' };

describe('signing in through an identity provider', () => {
  let idp: HostileIdp;
  let other: HostileIdp;
  let db: TestDatabase;
  let instance: TestInstance;

  beforeAll(async () => {
    [idp, other] = await Promise.all([HostileIdp.start(), HostileIdp.start()]);
  });
  afterAll(() => Promise.all([idp.stop(), other.stop()]));
  beforeEach(async () => {
    db = await createTestDatabase();
    instance = await open();
  });
  afterEach(async () => {
    await instance.close();
    await db.drop();
  });

  const open = (options: InstanceParts['options'] = {}, parts: Partial<InstanceParts> = {}) =>
    identityInstance({
      database: db.database,
      ...parts,
      options: {
        baseUrl: 'https://data.example.com',
        providers: [idp.setting('acme'), other.setting('globex')],
        ...options,
      },
    });
  const service = (at = instance) => at.get(OidcLoginService);

  async function begin(provider = 'acme', at = instance, returnTo = '/pipelines') {
    return service(at).begin(provider, returnTo, requestFacts());
  }

  /** A whole sign-in of a person whom the provider describes with these claims. */
  async function signIn(person: Claims, misdeeds: Misdeeds = {}, { at = instance, provider = 'acme' } = {}) {
    const by = provider === 'acme' ? idp : other;
    by.behave(person, misdeeds);
    const { location, transaction } = await begin(provider, at);
    const { query } = by.signIn(location);
    return service(at).finish(provider, query.toString(), transaction, requestFacts());
  }

  async function users(): Promise<Record<string, unknown>[]> {
    return db.database.query(
      `SELECT email, display_name AS name, provider, provider_subject AS subject, is_admin AS admin, is_active AS active
       FROM users ORDER BY created_at`,
    );
  }

  async function auditOf(event: string): Promise<Record<string, unknown>[]> {
    const rows = await db.database.query<{ details: string }>(
      'SELECT details_json AS details FROM audit_log WHERE event = $1 ORDER BY id',
      [event],
    );
    return rows.map(({ details }) => JSON.parse(details) as Record<string, unknown>);
  }

  const reasons = async () => (await auditOf('auth.login.oidc_error')).map(({ reason }) => reason);

  async function insert(email: string, columns: Record<string, unknown>): Promise<void> {
    const row = { email, display_name: 'Somebody', ...columns };
    await db.database.query(
      `INSERT INTO users (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
        .map((_, at) => `$${at + 1}`)
        .join(', ')})`,
      Object.values(row),
    );
  }

  describe('an honest one', () => {
    it('makes an account at the first sign-in and finds it at the next', async () => {
      const first = await signIn(ADA);
      expect(first.returnTo).toBe('/pipelines');
      expect(first.principal).toMatchObject({ email: 'ada@example.com', displayName: 'Ada Lovelace', amr: 'oidc' });
      expect(first.principal.superAdmin).toBe(false);
      const second = await signIn({ ...ADA, name: 'Ada King' });
      expect(second.principal.userId).toBe(first.principal.userId);
      expect(await users()).toEqual([
        { email: 'ada@example.com', name: 'Ada King', provider: 'acme', subject: 'ada-1', admin: false, active: true },
      ]);
      expect(await auditOf('auth.user.created')).toHaveLength(1);
      expect(await auditOf('auth.login.success')).toMatchObject([
        { email: 'ada@example.com', provider: 'acme', amr: 'oidc' },
        { amr: 'oidc' },
      ]);
    });

    it('is asked for a code with PKCE, state and nonce, and sends people back to the base URL only', async () => {
      idp.behave(ADA);
      const { location } = await begin();
      const params = Object.fromEntries(new URL(location).searchParams);
      expect(params).toMatchObject({
        client_id: 'penstock',
        response_type: 'code',
        scope: 'openid profile email',
        code_challenge_method: 'S256',
        redirect_uri: 'https://data.example.com/login/oauth2/code/acme',
      });
      expect(new Set([params['state'], params['nonce'], params['code_challenge']]).size).toBe(3);
    });

    it('may keep the address in the user info of the same subject', async () => {
      const { email, email_verified, ...bare } = ADA;
      const outcome = await signIn(bare, { userInfo: { sub: 'ada-1', email, email_verified } });
      expect(outcome.principal.email).toBe('ada@example.com');
    });

    it('makes one account when two browsers arrive at once', async () => {
      idp.behave(ADA);
      const begun = await Promise.all(Array.from({ length: 6 }, () => begin()));
      const outcomes = await Promise.all(
        begun.map(({ location, transaction }) =>
          service().finish('acme', idp.signIn(location).query.toString(), transaction, requestFacts()),
        ),
      );
      expect(new Set(outcomes.map(({ principal }) => principal.userId)).size).toBe(1);
      expect(await users()).toHaveLength(1);
      expect(await auditOf('auth.user.created')).toHaveLength(1);
    });

    it('may rotate its keys: the next sign-in reads the new ones', async () => {
      await signIn(ADA);
      await idp.rotate();
      // The library waits a moment between two reads of the keys, so that unknown key ids are no flood.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await expect(signIn(ADA)).resolves.toMatchObject({ principal: { email: 'ada@example.com' } });
    }, 15_000);

    it.each([
      ['//evil.example.com', '/'],
      ['/\\evil.example.com', '/'],
      ['/\t/evil.example.com', '/'],
      ['https://evil.example.com', '/'],
      ['/a?b=c#d', '/a?b=c#d'],
    ])('sends nobody to another host afterwards: %j', async (wanted, goes) => {
      idp.behave(ADA);
      const { location, transaction } = await begin('acme', instance, wanted);
      const { query } = idp.signIn(location);
      expect((await service().finish('acme', query.toString(), transaction, requestFacts())).returnTo).toBe(goes);
    });
  });

  describe('a hostile one', () => {
    const now = () => Math.floor(Date.now() / 1000);

    it.each<[string, Misdeeds]>([
      ['without a signature', { sign: 'none' }],
      ['signed with the public key as a secret', { sign: 'hs256_with_public_key' }],
      ['signed with a shared secret', { sign: 'hs256_with_secret' }],
      ['signed by a key it does not publish', { sign: 'stranger' }],
      ['signed under a key id nobody knows', { sign: 'unknown_kid' }],
      ['for another client', { claims: { aud: 'somebody-else' } }],
      ['for several clients without naming the one', { claims: { aud: ['penstock', 'other'] } }],
      ['whose authorised party is another client', { claims: { azp: 'somebody-else' } }],
      ['of another issuer', { claims: { iss: 'https://other.example.com' } }],
      ['past its end', { claims: { exp: Math.floor(Date.now() / 1000) - 31 } }],
      ['with another nonce', { claims: { nonce: 'replayed' } }],
      ['without a nonce', { claims: { nonce: undefined } }],
      ['without an end', { claims: { exp: undefined } }],
      ['without a subject', { claims: { sub: undefined } }],
      ['with an empty subject', { claims: { sub: '' } }],
    ])('signs nobody in with a token %s', async (_what, misdeeds) => {
      expect(await codeOf(signIn(ADA, misdeeds))).toBe('auth.login.oidc_error');
      expect(await reasons()).toEqual(['token_invalid']);
      expect(await users()).toEqual([]);
    });

    it('is allowed half a minute of another clock', async () => {
      await expect(signIn(ADA, { claims: { exp: now() - 20 } })).resolves.toBeDefined();
    });

    it.each<[string, Claims, string]>([
      ['says the address is not verified', { email_verified: false }, 'email_unverified'],
      ['does not say whether it is', { email_verified: undefined }, 'email_unverified'],
      ['says so in a text', { email_verified: 'true' }, 'email_unverified'],
      ['sends an address that is none', { email: 'not an address' }, 'email_missing'],
    ])('signs nobody in when it %s', async (_what, claims, reason) => {
      expect(await codeOf(signIn(ADA, { claims }))).toBe('auth.login.oidc_error');
      expect(await reasons()).toEqual([reason]);
    });

    it('cannot answer the user info of another person', async () => {
      const { email, email_verified, ...bare } = ADA;
      const userInfo = { sub: 'somebody-else', email, email_verified };
      expect(await codeOf(signIn(bare, { userInfo }))).toBe('auth.login.oidc_error');
      expect(await reasons()).toEqual(['token_invalid']);
    });

    it('gets no session for a state, an issuer or a provider of another sign-in', async () => {
      idp.behave(ADA);
      other.behave(ADA);
      const finish = (provider: string, query: URLSearchParams, transaction: string | undefined) =>
        codeOf(service().finish(provider, query.toString(), transaction, requestFacts()));
      const one = await begin();
      const two = await begin();
      const query = () => idp.signIn(one.location).query;
      const changed = (name: string, value: string) => {
        const each = query();
        each.set(name, value);
        return each;
      };
      const twice = query();
      twice.append('state', 'second');
      const attempts = [
        () => finish('acme', query(), undefined), // another browser
        () => finish('acme', query(), two.transaction), // another tab's state
        () => finish('acme', changed('state', 'forged'), one.transaction),
        async () => finish('acme', twice, (await begin()).transaction),
        async () => finish('acme', query(), `${(await begin()).transaction}x`),
        async () => finish('globex', query(), (await begin()).transaction), // mix-up: sent to the other's callback
      ];
      for (const attempt of attempts) expect(await attempt()).toBe('auth.login.oidc_error');
      expect(new Set(await reasons())).toEqual(new Set(['state_mismatch']));

      // Mix-up: the code of one provider under a state that was meant for the other.
      const mixed = await begin();
      const foreign = other.signIn(mixed.location).query;
      expect(await finish('acme', foreign, mixed.transaction)).toBe('auth.login.oidc_error');
      const silent = await begin();
      const without = idp.signIn(silent.location).query;
      without.delete('iss');
      expect(await finish('acme', without, silent.transaction)).toBe('auth.login.oidc_error');
      expect(new Set(await reasons())).toEqual(new Set(['state_mismatch']));
      expect(await users()).toEqual([]);
    });

    it('cannot have one callback used twice, even where it takes codes again, on any instance', async () => {
      const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
      const [here, there] = [await open({}, { store }), await open({}, { store })];
      idp.behave(ADA, { careless: true });
      const { location, transaction } = await begin('acme', here);
      const query = idp.signIn(location).query.toString();
      await service(here).finish('acme', query, transaction, requestFacts());
      for (const at of [here, there]) {
        expect(await codeOf(service(at).finish('acme', query, transaction, requestFacts()))).toBe(
          'auth.login.oidc_error',
        );
      }
      await Promise.all([here.close(), there.close()]);
      await store.close();
    });

    it('cannot stretch a sign-in beyond ten minutes', async () => {
      idp.behave(ADA);
      const { location, transaction } = await begin();
      instance.clock.advance(11);
      const { query } = idp.signIn(location);
      expect(await codeOf(service().finish('acme', query.toString(), transaction, requestFacts()))).toBe(
        'auth.login.oidc_error',
      );
    });

    it('tells us that the person refused, and its own words go nowhere', async () => {
      idp.behave(ADA);
      const { location, transaction } = await begin();
      const state = new URL(location).searchParams.get('state') ?? '';
      const query = new URLSearchParams({
        error: 'access_denied',
        error_description: '<b>planted</b>',
        state,
        iss: idp.issuer,
      });
      const error: unknown = await service()
        .finish('acme', query.toString(), transaction, requestFacts())
        .catch((refusal: unknown) => refusal);
      expect(JSON.stringify(error)).not.toContain('planted');
      expect(await reasons()).toEqual(['provider_refused']);
    });
  });

  describe('one that is away', () => {
    it.each<['error' | 'huge' | 'other_issuer']>([['error'], ['huge'], ['other_issuer']])(
      'is asked once a minute at most when its discovery is wrong: %s',
      async (discovery) => {
        idp.behave(ADA, { discovery });
        for (let tries = 0; tries < 3; tries++) expect(await codeOf(begin())).toBe('auth.login.oidc_error');
        expect(idp.requests).toHaveLength(1);
        expect(await reasons()).toEqual(Array(3).fill('provider_unavailable'));
        idp.behave(ADA);
        instance.clock.advance(1.1);
        await expect(begin()).resolves.toMatchObject({ maxAgeSeconds: 600 });
      },
    );

    it.each<['error' | 'huge']>([['error'], ['huge']])('ends a sign-in when its keys are wrong: %s', async (keys) => {
      expect(await codeOf(signIn(ADA, { keys }))).toBe('auth.login.oidc_error');
      expect(await users()).toEqual([]);
    });

    it('keeps no one waiting for longer than ten seconds, and many wait for one request', async () => {
      idp.behave(ADA, { discovery: 'hang' });
      const refusals = await Promise.all([1, 2, 3].map(() => codeOf(begin())));
      expect(refusals).toEqual(Array(3).fill('auth.login.oidc_error'));
      expect(idp.requests).toHaveLength(1);
    }, 15_000);

    it('does not stop a start: asking ahead of time never fails', async () => {
      idp.behave(ADA, { discovery: 'error' });
      await expect(service().warm()).resolves.toBeUndefined();
    });
  });

  describe('the row an identity belongs to', () => {
    it('follows the subject to a free address and refuses one that is taken', async () => {
      await signIn(ADA);
      await signIn({ ...ADA, email: 'ada.king@example.com' });
      expect(await users()).toMatchObject([{ email: 'ada.king@example.com', subject: 'ada-1' }]);
      expect(await auditOf('auth.user.email_changed')).toMatchObject([
        { from: 'ada@example.com', to: 'ada.king@example.com' },
      ]);
      await insert('grace@example.com', { provider: 'local', provider_subject: 'grace@example.com' });
      expect(await codeOf(signIn({ ...ADA, email: 'grace@example.com' }))).toBe('auth.login.identity_mismatch');
    });

    it('is never inherited by a recycled address of the same provider', async () => {
      await signIn(ADA);
      expect(await codeOf(signIn({ ...ADA, sub: 'ada-2' }))).toBe('auth.login.identity_mismatch');
      expect(await auditOf('auth.login.identity_mismatch')).toMatchObject([
        { email: 'ada@example.com', stored_provider: 'acme', incoming_provider: 'acme' },
      ]);
      expect(await users()).toMatchObject([{ subject: 'ada-1' }]);
    });

    it.each(['bootstrap', 'local'])('is the one prepared for the address (%s), with no new right', async (provider) => {
      await insert('ada@example.com', { provider, provider_subject: 'ada@example.com', password_hash: 'kept' });
      const outcome = await signIn(ADA);
      expect(outcome.principal.superAdmin).toBe(false);
      expect(await users()).toMatchObject([{ provider: 'acme', subject: 'ada-1', admin: false }]);
      expect(await auditOf('auth.user.identity_linked')).toMatchObject([{ from: provider, to: 'acme' }]);
      const [row] = await db.database.query('SELECT password_hash AS hash FROM users');
      expect(row).toEqual({ hash: 'kept' });
      expect(JSON.stringify(await auditOf('auth.user.identity_linked'))).not.toContain('ada-1');
    });

    it('is never the system actor', async () => {
      await insert('system@system.invalid', { provider: 'system', provider_subject: 'system' });
      expect(await codeOf(signIn({ ...ADA, email: 'system@system.invalid' }))).toBe('auth.login.identity_mismatch');
    });

    it('moves to another provider for a literally verified address, unless the operator says never', async () => {
      await signIn(ADA);
      await signIn({ ...ADA, sub: 'globex-7' }, {}, { provider: 'globex' });
      expect(await users()).toMatchObject([{ provider: 'globex', subject: 'globex-7' }]);
      const strict = await open({ relinkPolicy: 'never' });
      expect(await codeOf(signIn(ADA, {}, { at: strict }))).toBe('auth.login.identity_mismatch');
      await strict.close();
    });

    it('moves for no address the operator merely trusts, though such people may sign in', async () => {
      await signIn(ADA);
      const trusting = await open({ providers: [other.setting('globex', { trustEmailWithoutVerifiedClaim: true })] });
      const silent = { ...ADA, email_verified: undefined, sub: 'globex-7' };
      expect(await codeOf(signIn(silent, {}, { at: trusting, provider: 'globex' }))).toBe(
        'auth.login.identity_mismatch',
      );
      await signIn({ ...silent, email: 'grace@example.com' }, {}, { at: trusting, provider: 'globex' });
      expect(await auditOf('auth.login.email_verified_assumed')).toMatchObject([{ provider: 'globex' }]);
      expect(await codeOf(signIn({ ...silent, email_verified: false }, {}, { at: trusting, provider: 'globex' }))).toBe(
        'auth.login.oidc_error',
      );
      await trusting.close();
    });

    it('stays shut when it is deactivated, whichever way it is found', async () => {
      await signIn(ADA);
      await db.database.query('UPDATE users SET is_active = FALSE');
      expect(await codeOf(signIn(ADA))).toBe('auth.login.user_inactive');
      expect(await codeOf(signIn({ ...ADA, sub: 'globex-7' }, {}, { provider: 'globex' }))).toBe(
        'auth.login.user_inactive',
      );
      expect(await users()).toMatchObject([{ provider: 'acme', subject: 'ada-1' }]);
    });

    it('becomes an administrator by the configured address once, when it is made', async () => {
      const configured = await open({ bootstrapAdminEmail: 'ada@example.com' });
      expect((await signIn(ADA, {}, { at: configured })).principal.superAdmin).toBe(true);
      expect(await auditOf('auth.user.admin_granted')).toMatchObject([{ actor: 'bootstrap' }]);
      await db.database.query('UPDATE users SET is_admin = FALSE');
      const after = await open({ bootstrapAdminEmail: 'ada@example.com' });
      expect((await signIn(ADA, {}, { at: after })).principal.superAdmin).toBe(false);
      await Promise.all([configured.close(), after.close()]);
    });
  });

  it('admits the listed domains exactly: no subdomain, no suffix', async () => {
    const listed = await open({ allowedDomains: ['example.com'] });
    const at = (email: string) => codeOf(signIn({ ...ADA, sub: email, email }, {}, { at: listed }));
    expect(await at('ada@EXAMPLE.com')).toBe('accepted');
    for (const email of ['a@sub.example.com', 'a@notexample.com', 'a@example.com.evil.org']) {
      expect(await at(email)).toBe('auth.login.domain_not_allowed');
    }
    expect(await users()).toHaveLength(1);
    await listed.close();
  });

  it('turns a pending invitation into a membership at the first sign-in', async () => {
    await insert('host@example.com', { provider: 'local', provider_subject: 'host@example.com' });
    await db.database.query(
      `INSERT INTO workspace_invitations (workspace_id, email, author, invited_by)
       SELECT 'defa0000-0000-0000-0000-000000000001', 'ada@example.com', TRUE, id FROM users`,
    );
    const outcome = await signIn(ADA);
    expect(outcome.principal.workspace).toMatchObject({ name: 'default', flags: { author: true } });
    expect(await auditOf('workspace.invitation_materialised')).toHaveLength(1);
  });

  it('answers an unknown provider like any unknown path', async () => {
    expect(await codeOf(begin('nobody'))).toBe('request.not_found');
  });
});

import { describe, expect, it } from '@jest/globals';
import { MemoryTransientStore } from '#libs/transient';
import type { Claims, Misdeeds } from '../../../test/fixtures/hostile-idp.js';
import { requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf } from '../../../test/fixtures/login-scene.js';
import { ADA, oidcScene } from '../../../test/fixtures/oidc-scene.js';

const scene = oidcScene();

describe('a hostile provider', () => {
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
    ['of another issuer', { claims: { iss: 'https://scene.other.example.com' } }],
    ['past its end', { claims: { exp: Math.floor(Date.now() / 1000) - 31 } }],
    ['with another nonce', { claims: { nonce: 'replayed' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['without an end', { claims: { exp: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
  ])('signs nobody in with a token %s', async (_what, misdeeds) => {
    expect(await codeOf(scene.signIn(ADA, misdeeds))).toBe('auth.login.oidc_error');
    expect(await scene.reasons()).toEqual(['token_invalid']);
    expect(await scene.users()).toEqual([]);
  });

  it.each<[algorithm: string, signingAlgorithms: readonly string[] | undefined, outcome: string]>([
    ...['RS256', 'PS256', 'ES256', 'EdDSA'].map((each) => [each, undefined, 'accepted'] as [string, undefined, string]),
    ...['RS384', 'RS512', 'PS384', 'PS512', 'ES384', 'ES512'].flatMap(
      (each): [string, readonly string[] | undefined, string][] => [
        [each, undefined, 'auth.login.oidc_error'],
        [each, [each], 'accepted'],
      ],
    ),
    ['RS256', ['ES512'], 'auth.login.oidc_error'],
  ])('signing with %s where the operator lists %p: %s', async (algorithm, signingAlgorithms, outcome) => {
    await scene.idp.rotate(algorithm);
    const at = await scene.open({
      providers: [scene.idp.setting('acme', signingAlgorithms ? { signingAlgorithms } : {})],
    });
    expect(await codeOf(scene.signIn(ADA, {}, { at }))).toBe(outcome);
    await at.close();
    await scene.idp.rotate();
  });

  it('is allowed half a minute of another clock', async () => {
    await expect(scene.signIn(ADA, { claims: { exp: now() - 20 } })).resolves.toBeDefined();
  });

  it.each<[string, Claims, string]>([
    ['says the address is not verified', { email_verified: false }, 'email_unverified'],
    ['does not say whether it is', { email_verified: undefined }, 'email_unverified'],
    ['says so in a text', { email_verified: 'true' }, 'email_unverified'],
    ['sends an address that is none', { email: 'not an address' }, 'email_missing'],
  ])('signs nobody in when it %s', async (_what, claims, reason) => {
    expect(await codeOf(scene.signIn(ADA, { claims }))).toBe('auth.login.oidc_error');
    expect(await scene.reasons()).toEqual([reason]);
  });

  it('cannot answer the user info of another person', async () => {
    const { email, email_verified, ...bare } = ADA;
    const userInfo = { sub: 'somebody-else', email, email_verified };
    expect(await codeOf(scene.signIn(bare, { userInfo }))).toBe('auth.login.oidc_error');
    expect(await scene.reasons()).toEqual(['token_invalid']);
  });

  it('gets no session for a state, an issuer or a provider of another sign-in', async () => {
    scene.idp.behave(ADA);
    scene.other.behave(ADA);
    const finish = (provider: string, query: URLSearchParams, transaction: string | undefined) =>
      codeOf(scene.service().finish(provider, query.toString(), transaction, requestFacts()));
    const one = await scene.begin();
    const two = await scene.begin();
    const query = () => scene.idp.signIn(one.location).query;
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
      async () => finish('acme', twice, (await scene.begin()).transaction),
      async () => finish('acme', query(), `${(await scene.begin()).transaction}x`),
      async () => finish('globex', query(), (await scene.begin()).transaction), // mix-up: sent to the other's callback
    ];
    for (const attempt of attempts) expect(await attempt()).toBe('auth.login.oidc_error');
    expect(new Set(await scene.reasons())).toEqual(new Set(['state_mismatch']));

    // Mix-up: the code of one provider under a state that was meant for the scene.other.
    const mixed = await scene.begin();
    const foreign = scene.other.signIn(mixed.location).query;
    expect(await finish('acme', foreign, mixed.transaction)).toBe('auth.login.oidc_error');
    const silent = await scene.begin();
    const without = scene.idp.signIn(silent.location).query;
    without.delete('iss');
    expect(await finish('acme', without, silent.transaction)).toBe('auth.login.oidc_error');
    expect(new Set(await scene.reasons())).toEqual(new Set(['state_mismatch']));
    expect(await scene.users()).toEqual([]);
  });

  it('cannot have one callback used twice, even where it takes codes again, on any instance', async () => {
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    const [here, there] = [await scene.open({}, { store }), await scene.open({}, { store })];
    scene.idp.behave(ADA, { careless: true });
    const { location, transaction } = await scene.begin('acme', here);
    const query = scene.idp.signIn(location).query.toString();
    await scene.service(here).finish('acme', query, transaction, requestFacts());
    for (const at of [here, there]) {
      expect(await codeOf(scene.service(at).finish('acme', query, transaction, requestFacts()))).toBe(
        'auth.login.oidc_error',
      );
    }
    await Promise.all([here.close(), there.close()]);
    await store.close();
  });

  it('cannot stretch a sign-in beyond ten minutes', async () => {
    scene.idp.behave(ADA);
    const { location, transaction } = await scene.begin();
    scene.instance.clock.advance(11);
    const { query } = scene.idp.signIn(location);
    expect(await codeOf(scene.service().finish('acme', query.toString(), transaction, requestFacts()))).toBe(
      'auth.login.oidc_error',
    );
  });

  it('tells us that the person refused, and its own words go nowhere', async () => {
    scene.idp.behave(ADA);
    const { location, transaction } = await scene.begin();
    const state = new URL(location).searchParams.get('state') ?? '';
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: '<b>planted</b>',
      state,
      iss: scene.idp.issuer,
    });
    const error: unknown = await scene
      .service()
      .finish('acme', query.toString(), transaction, requestFacts())
      .catch((refusal: unknown) => refusal);
    expect(JSON.stringify(error)).not.toContain('planted');
    expect(await scene.reasons()).toEqual(['provider_refused']);
  });
});

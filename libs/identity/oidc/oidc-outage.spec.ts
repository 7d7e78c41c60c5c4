import { describe, expect, it } from '@jest/globals';
import { codeOf } from '../../../test/fixtures/login-scene.js';
import { ADA, oidcScene } from '../../../test/fixtures/oidc-scene.js';

const scene = oidcScene();

describe('a provider that is away', () => {
  it.each<['error' | 'huge' | 'other_issuer']>([['error'], ['huge'], ['other_issuer']])(
    'is asked once a minute at most when its discovery is wrong: %s',
    async (discovery) => {
      scene.idp.behave(ADA, { discovery });
      for (let tries = 0; tries < 3; tries++) expect(await codeOf(scene.begin())).toBe('auth.login.oidc_error');
      expect(scene.idp.requests).toHaveLength(1);
      expect(await scene.reasons()).toEqual(Array(3).fill('provider_unavailable'));
      scene.idp.behave(ADA);
      scene.instance.clock.advance(1.1);
      await expect(scene.begin()).resolves.toMatchObject({ maxAgeSeconds: 600 });
    },
  );

  it.each<['error' | 'huge']>([['error'], ['huge']])('ends a sign-in when its keys are wrong: %s', async (keys) => {
    expect(await codeOf(scene.signIn(ADA, { keys }))).toBe('auth.login.oidc_error');
    expect(await scene.users()).toEqual([]);
  });

  it('keeps no one waiting for longer than ten seconds, and many wait for one request', async () => {
    scene.idp.behave(ADA, { discovery: 'hang' });
    const refusals = await Promise.all([1, 2, 3].map(() => codeOf(scene.begin())));
    expect(refusals).toEqual(Array(3).fill('auth.login.oidc_error'));
    expect(scene.idp.requests).toHaveLength(1);
  }, 15_000);

  it('does not stop a start: asking ahead of time never fails', async () => {
    scene.idp.behave(ADA, { discovery: 'error' });
    await expect(scene.service().warm()).resolves.toBeUndefined();
  });
});

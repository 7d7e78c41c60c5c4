import { describe, expect, it } from '@jest/globals';
import { requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { Authenticator } from '../access/authenticator.js';
import { LoginService } from './login.service.js';

const scene = loginScene();

describe('changing the password', () => {
  const NEXT = 'mud puddle tram 88';

  it('clears the forced change, ends the other sessions and keeps this one', async () => {
    await scene.person('ada@example.org', { must_change_password: true });
    const other = await scene.login('ada@example.org', PASSWORD);
    const { principal, token } = await scene.login('ada@example.org', PASSWORD);
    expect(principal.mustChangePassword).toBe(true);
    await scene.instance.get(LoginService).changePassword(principal, PASSWORD, NEXT);
    const now = await scene.instance.get(Authenticator).authenticateSession(token, requestFacts());
    expect(now.mustChangePassword).toBe(false);
    expect(await codeOf(scene.instance.get(Authenticator).authenticateSession(other.token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
    expect(await codeOf(scene.login('ada@example.org', PASSWORD))).toBe('auth.login.bad_credentials');
    expect(await codeOf(scene.login('ada@example.org', NEXT))).toBe('accepted');
  });

  it.each([
    ['velvet gravel onion 51', 'unchanged'],
    ['short', 'too_short'],
    ['x1'.repeat(65), 'too_long'],
    ['password12345', 'common'],
    ['my name is lovelace', 'contains_identity'],
  ])('refuses %j as %s', async (next, reason) => {
    await scene.person('ada@example.org');
    const { principal } = await scene.login('ada@example.org', PASSWORD);
    const refused = await refusal(scene.instance.get(LoginService).changePassword(principal, PASSWORD, next));
    expect(refused).toMatchObject({ code: 'auth.password.policy_violation', body: { details: { reason } } });
    expect(JSON.stringify(refused)).not.toContain(PASSWORD);
  });

  it('shares the counter with the login: five wrong ones lock both', async () => {
    await scene.person('ada@example.org');
    const { principal } = await scene.login('ada@example.org', PASSWORD);
    const change = () => codeOf(scene.instance.get(LoginService).changePassword(principal, 'wrong', NEXT));
    for (let n = 0; n < 5; n++) expect(await change()).toBe('auth.password.current_invalid');
    expect(await change()).toBe('auth.login.locked');
    expect(await codeOf(scene.login('ada@example.org', PASSWORD))).toBe('auth.login.locked');
    expect(await scene.auditOf('auth.password.change_locked')).toHaveLength(1);
  });

  it('is for sessions with a local password only', async () => {
    const id = await scene.person('ada@example.org');
    const { principal } = await scene.login('ada@example.org', PASSWORD);
    const key = { ...principal, method: 'api_key', keyKind: 'user', scopes: ['author'] } as const;
    expect(await codeOf(scene.instance.get(LoginService).changePassword(key, PASSWORD, NEXT))).toBe(
      'auth.session.required',
    );
    await scene.database.execute('UPDATE users SET password_hash = NULL, updated_at = NOW() WHERE id = $1', [id]);
    expect(await codeOf(scene.instance.get(LoginService).changePassword(principal, PASSWORD, NEXT))).toBe(
      'auth.password.no_local_account',
    );
  });

  it('lets only one of two simultaneous changes win', async () => {
    await scene.person('ada@example.org');
    const { principal } = await scene.login('ada@example.org', PASSWORD);
    const codes = await Promise.all(
      [NEXT, 'lantern walrus 77 fog'].map((next) =>
        codeOf(scene.instance.get(LoginService).changePassword(principal, PASSWORD, next)),
      ),
    );
    expect(codes.sort()).toEqual(['accepted', 'auth.password.current_invalid']);
  });
});

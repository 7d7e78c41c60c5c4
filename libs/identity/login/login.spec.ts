import { describe, expect, it } from '@jest/globals';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { Authenticator } from '../access/authenticator.js';
import { CsrfTokens } from '../sessions/csrf-tokens.js';
import { SystemActor } from '../users/system-actor.js';
import { LoginService } from './login.service.js';

const scene = loginScene();

describe('signing in', () => {
  it('opens a session that authenticates, and writes one audit row without the secret', async () => {
    const id = await scene.person('ada@example.org');
    const outcome = await scene.login('  Ada@Example.ORG ', PASSWORD);
    const principal = await scene.instance.get(Authenticator).authenticateSession(outcome.token, requestFacts());
    expect(principal).toMatchObject({ userId: id, method: 'session', amr: 'pwd', superAdmin: false, scopes: [] });
    expect(principal.sessionId).toBe(outcome.principal.sessionId);
    expect(scene.instance.get(CsrfTokens).verify(outcome.csrf, outcome.csrf, principal.sessionId ?? '')).toBe('ok');
    const [row] = await scene.auditOf('auth.login.success');
    expect(row).toMatchObject({
      userId: id,
      email: 'ada@example.org',
      provider: 'local',
      amr: 'pwd',
      session_id: principal.sessionId,
    });
    expect((await scene.stateOf(id)).lastLogin).not.toBeNull();
  });

  it('keeps neither the token nor its session id in the database', async () => {
    await scene.person('ada@example.org');
    const { token } = await scene.login('ada@example.org', PASSWORD);
    const { sid } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };
    const dump = await scene.database.query<{ row: string }>(
      `SELECT row_to_json(s)::text AS row FROM user_sessions s UNION ALL SELECT row_to_json(a)::text FROM audit_log a`,
    );
    expect(dump.length).toBeGreaterThan(1);
    for (const { row } of dump) for (const secret of [sid, PASSWORD, token]) expect(row).not.toContain(secret);
  });

  it('answers unknown, password-less, system and wrong alike: one status, one body, one verification', async () => {
    await scene.person('ada@example.org');
    await scene.person('oidc@example.org', { provider: 'google', password_hash: null, password_changed_at: null });
    const system = await scene.instance.get(SystemActor).id();
    await scene.database.execute('UPDATE users SET password_hash = $2, updated_at = NOW() WHERE id = $1', [
      system,
      scene.hash,
    ]);
    const facts = requestFacts({ correlationId: '00000000-0000-4000-8000-00000000000a' });
    const refusals = await Promise.all(
      [
        scene.login('nobody@example.org', PASSWORD, facts),
        scene.login('oidc@example.org', PASSWORD, facts),
        scene.login('system@system.invalid', PASSWORD, facts),
        scene.login('ada@example.org', 'wrong', facts),
        scene.login('ada@example.org', 'x'.repeat(100_000), facts),
        scene.login('ada@example.org', '', facts),
      ].map(refusal),
    );
    for (const one of refusals) expect(one).toEqual(refusals[0]);
    expect(refusals[0]).toMatchObject({ code: 'auth.login.bad_credentials', status: 401 });
  });

  it('refuses what is no address, and everything where local accounts are off', async () => {
    for (const email of ['', 'ada', 'a@b@c', `${'x'.repeat(250)}@a.bc`, 'a\u0000@b.cd', "x' OR '1'='1"])
      expect(await codeOf(scene.login(email, PASSWORD))).toBe('auth.user.email_invalid');
    const off = await identityInstance({ database: scene.database, options: { localAccounts: false } });
    expect(await codeOf(off.get(LoginService).login('ada@example.org', PASSWORD, requestFacts()))).toBe(
      'request.not_found',
    );
    await off.close();
  });

  it('tells a deactivated person so only after the right password, and changes nothing', async () => {
    const id = await scene.person('ada@example.org', { is_active: false, failed_login_count: 2 });
    expect(await codeOf(scene.login('ada@example.org', PASSWORD))).toBe('auth.login.user_inactive');
    expect(await scene.stateOf(id)).toMatchObject({ failures: 2, lastLogin: null });
    expect(await codeOf(scene.login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
  });

  it('refuses a one-time password that nobody used in its time like a wrong one, and only the trail says why', async () => {
    const hours = (n: number) => new Date(Date.now() - n * 3_600_000);
    const fresh = { must_change_password: true, password_changed_at: hours(71) };
    const id = await scene.person('late@example.org', { must_change_password: true, password_changed_at: hours(73) });
    await scene.person('soon@example.org', fresh);
    await scene.person('chosen@example.org', { password_changed_at: hours(10_000) });
    const late = await refusal(scene.login('late@example.org', PASSWORD));
    const wrong = await refusal(scene.login('soon@example.org', 'wrong'));
    expect([late.code, late.status, late.body]).toEqual([wrong.code, wrong.status, wrong.body]);
    expect(await scene.auditOf('auth.login.bad_credentials')).toMatchObject([
      { email: 'late@example.org', reason: 'one_time_expired' },
      { email: 'soon@example.org' },
    ]);
    // Whoever knows it does not guess: the count is not touched.
    expect(await scene.stateOf(id)).toMatchObject({ failures: 0, lastLogin: null });
    expect((await scene.login('soon@example.org', PASSWORD)).principal.mustChangePassword).toBe(true);
    expect((await scene.login('chosen@example.org', PASSWORD)).principal.mustChangePassword).toBe(false);
  });

  it('renews a hash made with weaker parameters on the way in', async () => {
    const { hash: argon, argon2id } = await import('argon2');
    const weak = await argon(PASSWORD, { type: argon2id, memoryCost: 8192, timeCost: 1, parallelism: 1 });
    const id = await scene.person('ada@example.org', { password_hash: weak });
    await scene.login('ada@example.org', PASSWORD);
    const [row] = await scene.database.query<{ hash: string }>(
      'SELECT password_hash AS hash FROM users WHERE id = $1',
      [id],
    );
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    expect(await codeOf(scene.login('ada@example.org', PASSWORD))).toBe('accepted');
  });
});

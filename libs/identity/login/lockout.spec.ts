import { describe, expect, it } from '@jest/globals';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { LoginService } from './login.service.js';

const scene = loginScene();

describe('the lockout', () => {
  it('locks at the limit, answers 401 there, then 403 without judging even the right password', async () => {
    const id = await scene.person('ada@example.org');
    for (let attempt = 1; attempt <= 5; attempt++)
      expect(await codeOf(scene.login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
    expect(await scene.stateOf(id)).toMatchObject({ failures: 5, locked: true });
    const locked = await refusal(scene.login('ada@example.org', PASSWORD));
    expect(locked).toMatchObject({ code: 'auth.login.locked', status: 403 });
    expect(await scene.stateOf(id)).toMatchObject({ failures: 5, lastLogin: null });
    expect(await scene.auditOf('auth.login.locked')).toHaveLength(1);
    expect((await scene.auditOf('auth.login.bad_credentials')).map(({ reason }) => reason)).toEqual([
      ...Array(5).fill(undefined),
      'locked',
    ]);
  });

  it('counts from nothing after the lock has passed', async () => {
    const id = await scene.person('ada@example.org', {
      failed_login_count: 5,
      locked_until: new Date(Date.now() - 1000),
    });
    expect(await codeOf(scene.login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
    expect(await scene.stateOf(id)).toMatchObject({ failures: 1, locked: false, lockedUntil: null });
    expect(await codeOf(scene.login('ada@example.org', PASSWORD))).toBe('accepted');
    expect(await scene.stateOf(id)).toMatchObject({ failures: 0, lockedUntil: null });
  });

  it('lets two logins that meet at the limit set the lock once', async () => {
    const id = await scene.person('ada@example.org', { failed_login_count: 4 });
    const other = await identityInstance({ database: scene.database });
    const codes = await Promise.all([
      codeOf(scene.login('ada@example.org', 'wrong')),
      codeOf(other.get(LoginService).login('ada@example.org', 'wrong', requestFacts())),
    ]);
    expect(codes).toContain('auth.login.bad_credentials');
    for (const code of codes) expect(['auth.login.bad_credentials', 'auth.login.locked']).toContain(code);
    expect(await scene.stateOf(id)).toMatchObject({ failures: 5, locked: true });
    expect(await scene.auditOf('auth.login.locked')).toHaveLength(1);
    await other.close();
  });

  it('never counts past the limit under a burst from two instances, and no guess gets in', async () => {
    const id = await scene.person('ada@example.org');
    const other = await identityInstance({ database: scene.database });
    const burst = Array.from({ length: 24 }, (_, n) =>
      codeOf((n % 2 ? other : scene.instance).get(LoginService).login('ada@example.org', `guess ${n}`, requestFacts())),
    );
    const codes = await Promise.all(burst);
    expect(codes).not.toContain('accepted');
    expect(codes.filter((code) => code === 'auth.login.bad_credentials')).toHaveLength(5);
    expect(await scene.stateOf(id)).toMatchObject({ failures: 5, locked: true });
    await other.close();
  });

  it('does not let a right password in that was judged before the lock fell', async () => {
    const id = await scene.person('ada@example.org');
    const blocker = scene.database.transaction(async (tx) => {
      await tx.execute(
        `UPDATE users SET locked_until = NOW() + INTERVAL '5 minutes', failed_login_count = 5, updated_at = NOW() WHERE id = $1`,
        [id],
      );
      // The login reads the old row, finds the password right and then waits for this transaction's row lock.
      attempt = codeOf(scene.login('ada@example.org', PASSWORD));
      await waitForBlockedBackend();
    });
    let attempt: Promise<string> = Promise.resolve('');
    await blocker;
    expect(await attempt).toBe('auth.login.locked');
    const sessions = await scene.database.query('SELECT id FROM user_sessions');
    expect(sessions).toEqual([]);
  });
});

/** Until some backend of this database waits for a lock. */
async function waitForBlockedBackend(): Promise<void> {
  for (;;) {
    const [row] = await scene.database.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if ((row?.waiting ?? 0) > 0) return;
  }
}

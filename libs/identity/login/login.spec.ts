import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PenstockError } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { identityInstance, requestFacts, type TestInstance } from '../../../test/fixtures/identity.js';
import { Authenticator } from '../access/authenticator.js';
import { DEMO_WORKSPACE_ID } from '../access/membership.repository.js';
import { UseStamps } from '../access/use-stamps.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { CsrfTokens } from '../sessions/csrf-tokens.js';
import { SessionService } from '../sessions/session.service.js';
import { BootstrapAdmin } from '../users/bootstrap-admin.js';
import { SystemActor } from '../users/system-actor.js';
import { LoginService } from './login.service.js';
import type { LoginFacts } from './sign-in.js';

const PASSWORD = 'velvet gravel onion 51';

let db: TestDatabase;
let instance: TestInstance;
let hash: string;

beforeAll(async () => {
  hash = await new SecretHasher().hash(PASSWORD);
});
beforeEach(async () => {
  db = await createTestDatabase();
  instance = await identityInstance({ database: db.database });
});
afterEach(async () => {
  await instance.close();
  await db.drop();
});

async function person(email: string, columns: Record<string, unknown> = {}): Promise<string> {
  const row = {
    email,
    display_name: 'Ada Lovelace',
    provider: 'local',
    provider_subject: email,
    password_hash: hash,
    password_changed_at: new Date(),
    ...columns,
  };
  const names = Object.keys(row);
  const [made] = await db.database.query<{ id: string }>(
    `INSERT INTO users (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return made?.id ?? '';
}

const user = async (id: string) => {
  const [row] = await db.database.query<{
    failures: number;
    locked: boolean;
    lockedUntil: string | null;
    lastLogin: string | null;
  }>(
    `SELECT failed_login_count AS failures, COALESCE(locked_until > NOW(), FALSE) AS locked, locked_until AS "lockedUntil",
            last_login_at AS "lastLogin" FROM users WHERE id = $1`,
    [id],
  );
  if (!row) throw new TypeError('no such user');
  return row;
};

const auditOf = async (event: string): Promise<Record<string, unknown>[]> => {
  const rows = await db.database.query<{ details: string; userId: string | null }>(
    `SELECT details_json AS details, user_id AS "userId" FROM audit_log WHERE event = $1 ORDER BY id`,
    [event],
  );
  return rows.map((row) => ({ userId: row.userId, ...(JSON.parse(row.details) as Record<string, unknown>) }));
};

const login = (email: string, password: string, facts: LoginFacts = requestFacts()) =>
  instance.get(LoginService).login(email, password, facts);

async function refusal(attempt: Promise<unknown>): Promise<{ code: string; status: number; body: unknown }> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof PenstockError) return { code: error.code, status: error.status, body: error.toBody() };
    throw error;
  }
  return { code: 'accepted', status: 200, body: undefined };
}

const codeOf = async (attempt: Promise<unknown>) => (await refusal(attempt)).code;

describe('signing in', () => {
  it('opens a session that authenticates, and writes one audit row without the secret', async () => {
    const id = await person('ada@example.org');
    const outcome = await login('  Ada@Example.ORG ', PASSWORD);
    const principal = await instance.get(Authenticator).authenticateSession(outcome.token, requestFacts());
    expect(principal).toMatchObject({ userId: id, method: 'session', amr: 'pwd', superAdmin: false, scopes: [] });
    expect(principal.sessionId).toBe(outcome.principal.sessionId);
    expect(instance.get(CsrfTokens).verify(outcome.csrf, outcome.csrf, principal.sessionId ?? '')).toBe('ok');
    const [row] = await auditOf('auth.login.success');
    expect(row).toMatchObject({
      userId: id,
      email: 'ada@example.org',
      provider: 'local',
      amr: 'pwd',
      session_id: principal.sessionId,
    });
    expect((await user(id)).lastLogin).not.toBeNull();
  });

  it('keeps neither the token nor its session id in the database', async () => {
    await person('ada@example.org');
    const { token } = await login('ada@example.org', PASSWORD);
    const { sid } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };
    const dump = await db.database.query<{ row: string }>(
      `SELECT row_to_json(s)::text AS row FROM user_sessions s UNION ALL SELECT row_to_json(a)::text FROM audit_log a`,
    );
    expect(dump.length).toBeGreaterThan(1);
    for (const { row } of dump) for (const secret of [sid, PASSWORD, token]) expect(row).not.toContain(secret);
  });

  it('answers unknown, password-less, system and wrong alike: one status, one body, one verification', async () => {
    await person('ada@example.org');
    await person('oidc@example.org', { provider: 'google', password_hash: null, password_changed_at: null });
    const system = await instance.get(SystemActor).id();
    await db.database.execute('UPDATE users SET password_hash = $2, updated_at = NOW() WHERE id = $1', [system, hash]);
    const facts = requestFacts({ correlationId: '00000000-0000-4000-8000-00000000000a' });
    const refusals = await Promise.all(
      [
        login('nobody@example.org', PASSWORD, facts),
        login('oidc@example.org', PASSWORD, facts),
        login('system@system.invalid', PASSWORD, facts),
        login('ada@example.org', 'wrong', facts),
        login('ada@example.org', 'x'.repeat(100_000), facts),
        login('ada@example.org', '', facts),
      ].map(refusal),
    );
    for (const one of refusals) expect(one).toEqual(refusals[0]);
    expect(refusals[0]).toMatchObject({ code: 'auth.login.bad_credentials', status: 401 });
  });

  it('refuses what is no address, and everything where local accounts are off', async () => {
    for (const email of ['', 'ada', 'a@b@c', `${'x'.repeat(250)}@a.bc`, 'a\u0000@b.cd', "x' OR '1'='1"])
      expect(await codeOf(login(email, PASSWORD))).toBe('auth.user.email_invalid');
    const off = await identityInstance({ database: db.database, options: { localAccounts: false } });
    expect(await codeOf(off.get(LoginService).login('ada@example.org', PASSWORD, requestFacts()))).toBe(
      'request.not_found',
    );
    await off.close();
  });

  it('tells a deactivated person so only after the right password, and changes nothing', async () => {
    const id = await person('ada@example.org', { is_active: false, failed_login_count: 2 });
    expect(await codeOf(login('ada@example.org', PASSWORD))).toBe('auth.login.user_inactive');
    expect(await user(id)).toMatchObject({ failures: 2, lastLogin: null });
    expect(await codeOf(login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
  });

  it('renews a hash made with weaker parameters on the way in', async () => {
    const { hash: argon, argon2id } = await import('argon2');
    const weak = await argon(PASSWORD, { type: argon2id, memoryCost: 8192, timeCost: 1, parallelism: 1 });
    const id = await person('ada@example.org', { password_hash: weak });
    await login('ada@example.org', PASSWORD);
    const [row] = await db.database.query<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE id = $1', [
      id,
    ]);
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    expect(await codeOf(login('ada@example.org', PASSWORD))).toBe('accepted');
  });
});

describe('the lockout', () => {
  it('locks at the limit, answers 401 there, then 403 without judging even the right password', async () => {
    const id = await person('ada@example.org');
    for (let attempt = 1; attempt <= 5; attempt++)
      expect(await codeOf(login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
    expect(await user(id)).toMatchObject({ failures: 5, locked: true });
    const locked = await refusal(login('ada@example.org', PASSWORD));
    expect(locked).toMatchObject({ code: 'auth.login.locked', status: 403 });
    expect(await user(id)).toMatchObject({ failures: 5, lastLogin: null });
    expect(await auditOf('auth.login.locked')).toHaveLength(1);
    expect((await auditOf('auth.login.bad_credentials')).map(({ reason }) => reason)).toEqual([
      ...Array(5).fill(undefined),
      'locked',
    ]);
  });

  it('counts from nothing after the lock has passed', async () => {
    const id = await person('ada@example.org', { failed_login_count: 5, locked_until: new Date(Date.now() - 1000) });
    expect(await codeOf(login('ada@example.org', 'wrong'))).toBe('auth.login.bad_credentials');
    expect(await user(id)).toMatchObject({ failures: 1, locked: false, lockedUntil: null });
    expect(await codeOf(login('ada@example.org', PASSWORD))).toBe('accepted');
    expect(await user(id)).toMatchObject({ failures: 0, lockedUntil: null });
  });

  it('lets two logins that meet at the limit set the lock once', async () => {
    const id = await person('ada@example.org', { failed_login_count: 4 });
    const other = await identityInstance({ database: db.database });
    const codes = await Promise.all([
      codeOf(login('ada@example.org', 'wrong')),
      codeOf(other.get(LoginService).login('ada@example.org', 'wrong', requestFacts())),
    ]);
    expect(codes).toContain('auth.login.bad_credentials');
    for (const code of codes) expect(['auth.login.bad_credentials', 'auth.login.locked']).toContain(code);
    expect(await user(id)).toMatchObject({ failures: 5, locked: true });
    expect(await auditOf('auth.login.locked')).toHaveLength(1);
    await other.close();
  });

  it('never counts past the limit under a burst from two instances, and no guess gets in', async () => {
    const id = await person('ada@example.org');
    const other = await identityInstance({ database: db.database });
    const burst = Array.from({ length: 24 }, (_, n) =>
      codeOf((n % 2 ? other : instance).get(LoginService).login('ada@example.org', `guess ${n}`, requestFacts())),
    );
    const codes = await Promise.all(burst);
    expect(codes).not.toContain('accepted');
    expect(codes.filter((code) => code === 'auth.login.bad_credentials')).toHaveLength(5);
    expect(await user(id)).toMatchObject({ failures: 5, locked: true });
    await other.close();
  });

  it('does not let a right password in that was judged before the lock fell', async () => {
    const id = await person('ada@example.org');
    const blocker = db.database.transaction(async (tx) => {
      await tx.execute(
        `UPDATE users SET locked_until = NOW() + INTERVAL '5 minutes', failed_login_count = 5, updated_at = NOW() WHERE id = $1`,
        [id],
      );
      // The login reads the old row, finds the password right and then waits for this transaction's row lock.
      attempt = codeOf(login('ada@example.org', PASSWORD));
      await waitForBlockedBackend();
    });
    let attempt: Promise<string> = Promise.resolve('');
    await blocker;
    expect(await attempt).toBe('auth.login.locked');
    const sessions = await db.database.query('SELECT id FROM user_sessions');
    expect(sessions).toEqual([]);
  });
});

/** Until some backend of this database waits for a lock. */
async function waitForBlockedBackend(): Promise<void> {
  for (;;) {
    const [row] = await db.database.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if ((row?.waiting ?? 0) > 0) return;
  }
}

describe('sessions', () => {
  it('ends the one that was presented with the login: a planted cookie gains nothing', async () => {
    await person('ada@example.org');
    const first = await login('ada@example.org', PASSWORD);
    await login('ada@example.org', PASSWORD, { ...requestFacts(), presentedSession: first.token });
    expect(await codeOf(instance.get(Authenticator).authenticateSession(first.token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
  });

  it('keeps at most the configured number, ending the oldest, also when logins race', async () => {
    const pair = await identityInstance({
      database: db.database,
      options: { sessionsPerUser: 3 },
      channel: instance.channel,
    });
    await person('ada@example.org');
    const outcomes = [];
    for (let n = 0; n < 3; n++)
      outcomes.push(await pair.get(LoginService).login('ada@example.org', PASSWORD, requestFacts()));
    await Promise.all([1, 2].map(() => pair.get(LoginService).login('ada@example.org', PASSWORD, requestFacts())));
    const [live] = await db.database.query<{ live: number }>(
      'SELECT count(*)::int AS live FROM user_sessions WHERE revoked_at IS NULL',
    );
    expect(live?.live).toBe(3);
    const oldest = pair.get(Authenticator).authenticateSession(outcomes[0]?.token ?? '', requestFacts());
    expect(await codeOf(oldest)).toBe('auth.session.invalid');
    await pair.close();
  });

  it('expires by age and by idleness, and lives on while it is used', async () => {
    await person('ada@example.org');
    const { token } = await login('ada@example.org', PASSWORD);
    const authenticate = () => codeOf(instance.get(Authenticator).authenticateSession(token, requestFacts()));
    for (let n = 0; n < 3; n++) {
      instance.clock.advance(100);
      expect(await authenticate()).toBe('accepted');
      await instance.get(UseStamps).settled();
    }
    instance.clock.advance(121);
    expect(await authenticate()).toBe('auth.session.expired');
    instance.clock.advance(8 * 60);
    expect(await authenticate()).toBe('auth.session.expired');
  });

  it('is ended by logout on every instance at once, and logging out twice is no error', async () => {
    await person('ada@example.org');
    const other = await identityInstance({ database: db.database, channel: instance.channel });
    const { token } = await login('ada@example.org', PASSWORD);
    const elsewhere = await other.get(Authenticator).authenticateSession(token, requestFacts());
    await instance.get(LoginService).logout(elsewhere);
    await instance.get(LoginService).logout(elsewhere);
    expect(await codeOf(other.get(Authenticator).authenticateSession(token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
    expect(await auditOf('auth.logout')).toHaveLength(1);
    await other.close();
  });

  it("lists and ends only one's own, and says nothing about those of others", async () => {
    await person('ada@example.org');
    await person('bob@example.org');
    const ada = (await login('ada@example.org', PASSWORD)).principal;
    const bob = await login('bob@example.org', PASSWORD);
    const sessions = instance.get(SessionService);
    expect((await sessions.list(ada)).map(({ id, is_current }) => [id, is_current])).toEqual([[ada.sessionId, true]]);
    await sessions.revoke(ada, bob.principal.sessionId ?? '');
    await sessions.revoke(ada, 'not an id');
    expect(await codeOf(instance.get(Authenticator).authenticateSession(bob.token, requestFacts()))).toBe('accepted');
  });
});

describe('changing the password', () => {
  const NEXT = 'mud puddle tram 88';

  it('clears the forced change, ends the other sessions and keeps this one', async () => {
    await person('ada@example.org', { must_change_password: true });
    const other = await login('ada@example.org', PASSWORD);
    const { principal, token } = await login('ada@example.org', PASSWORD);
    expect(principal.mustChangePassword).toBe(true);
    await instance.get(LoginService).changePassword(principal, PASSWORD, NEXT);
    const now = await instance.get(Authenticator).authenticateSession(token, requestFacts());
    expect(now.mustChangePassword).toBe(false);
    expect(await codeOf(instance.get(Authenticator).authenticateSession(other.token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
    expect(await codeOf(login('ada@example.org', PASSWORD))).toBe('auth.login.bad_credentials');
    expect(await codeOf(login('ada@example.org', NEXT))).toBe('accepted');
  });

  it.each([
    ['velvet gravel onion 51', 'unchanged'],
    ['short', 'too_short'],
    ['x1'.repeat(65), 'too_long'],
    ['password12345', 'common'],
    ['my name is lovelace', 'contains_identity'],
  ])('refuses %j as %s', async (next, reason) => {
    await person('ada@example.org');
    const { principal } = await login('ada@example.org', PASSWORD);
    const refused = await refusal(instance.get(LoginService).changePassword(principal, PASSWORD, next));
    expect(refused).toMatchObject({ code: 'auth.password.policy_violation', body: { details: { reason } } });
    expect(JSON.stringify(refused)).not.toContain(PASSWORD);
  });

  it('shares the counter with the login: five wrong ones lock both', async () => {
    await person('ada@example.org');
    const { principal } = await login('ada@example.org', PASSWORD);
    const change = () => codeOf(instance.get(LoginService).changePassword(principal, 'wrong', NEXT));
    for (let n = 0; n < 5; n++) expect(await change()).toBe('auth.password.current_invalid');
    expect(await change()).toBe('auth.login.locked');
    expect(await codeOf(login('ada@example.org', PASSWORD))).toBe('auth.login.locked');
    expect(await auditOf('auth.password.change_locked')).toHaveLength(1);
  });

  it('is for sessions with a local password only', async () => {
    const id = await person('ada@example.org');
    const { principal } = await login('ada@example.org', PASSWORD);
    const key = { ...principal, method: 'api_key', keyKind: 'user', scopes: ['author'] } as const;
    expect(await codeOf(instance.get(LoginService).changePassword(key, PASSWORD, NEXT))).toBe('auth.session.required');
    await db.database.execute('UPDATE users SET password_hash = NULL, updated_at = NOW() WHERE id = $1', [id]);
    expect(await codeOf(instance.get(LoginService).changePassword(principal, PASSWORD, NEXT))).toBe(
      'auth.password.no_local_account',
    );
  });

  it('lets only one of two simultaneous changes win', async () => {
    await person('ada@example.org');
    const { principal } = await login('ada@example.org', PASSWORD);
    const codes = await Promise.all(
      [NEXT, 'lantern walrus 77 fog'].map((next) =>
        codeOf(instance.get(LoginService).changePassword(principal, PASSWORD, next)),
      ),
    );
    expect(codes.sort()).toEqual(['accepted', 'auth.password.current_invalid']);
  });
});

describe('entering a workspace', () => {
  const demo = () =>
    db.database.execute(`INSERT INTO workspaces (id, name, display_name) VALUES ($1, 'demo', 'Demo')`, [
      DEMO_WORKSPACE_ID,
    ]);

  it('makes a viewer of demo on the very first login only: somebody removed does not come back', async () => {
    await demo();
    const id = await person('ada@example.org');
    const first = await login('ada@example.org', PASSWORD);
    expect(first.principal.workspace).toEqual({
      id: DEMO_WORKSPACE_ID,
      name: 'demo',
      flags: { author: false, promoter: false, admin: false },
      superAdmin: false,
      implicit: false,
    });
    await db.database.execute('DELETE FROM workspace_members WHERE user_id = $1', [id]);
    const restarted = await identityInstance({ database: db.database });
    const second = await restarted.get(LoginService).login('ada@example.org', PASSWORD, requestFacts());
    expect(second.principal.workspace).toBeUndefined();
    await restarted.close();
    expect(await auditOf('workspace.member_added')).toMatchObject([{ workspace: 'demo', reason: 'first_login' }]);
  });

  it('leaves people alone where demo is deactivated or absent', async () => {
    await person('bob@example.org');
    expect((await login('bob@example.org', PASSWORD)).principal.workspace).toBeUndefined();
    await demo();
    await db.database.execute('UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1', [
      DEMO_WORKSPACE_ID,
    ]);
    await person('ada@example.org');
    expect((await login('ada@example.org', PASSWORD)).principal.workspace).toBeUndefined();
  });

  it('turns invitations into memberships as of their date, those of inactive workspaces wait, and demo is left out', async () => {
    await demo();
    const inviter = await person('inviter@example.org');
    const id = await person('ada@example.org');
    await db.database.execute(
      `INSERT INTO workspaces (name, display_name, deactivated_at) VALUES ('open', 'Open', NULL), ('older', 'Older', NULL), ('closed', 'Closed', NOW())`,
    );
    await db.database.execute(
      `INSERT INTO workspace_invitations (workspace_id, email, author, admin, invited_by, invited_at)
       SELECT id, 'ada@example.org', TRUE, name = 'open', $1, NOW() - CASE name WHEN 'older' THEN INTERVAL '2 days' ELSE INTERVAL '1 day' END
       FROM workspaces WHERE name IN ('open', 'older', 'closed')`,
      [inviter],
    );
    const { principal } = await login('ada@example.org', PASSWORD);
    expect(principal.workspace?.name).toBe('older');
    const members = await db.database.query<{ name: string; admin: boolean }>(
      `SELECT w.name, m.admin FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = $1 ORDER BY m.joined_at`,
      [id],
    );
    expect(members).toEqual([
      { name: 'older', admin: false },
      { name: 'open', admin: true },
    ]);
    expect(await db.database.query('SELECT email FROM workspace_invitations')).toHaveLength(1);
    expect(await auditOf('workspace.invitation_materialised')).toHaveLength(2);
  });
});

describe('the bootstrap administrator', () => {
  it('is made once in embedded mode with a password shown once, works, and must change it', async () => {
    const embedded = await identityInstance({ database: db.database, options: { embedded: true } });
    const first = await embedded.get(BootstrapAdmin).ensure();
    expect(first).toMatchObject({ created: true, email: 'admin@penstock.local', pending: true });
    expect(first.oneTimePassword).toMatch(/^[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}$/);
    expect(await embedded.get(BootstrapAdmin).ensure()).toEqual({
      created: false,
      email: 'admin@penstock.local',
      pending: true,
    });

    const password = first.oneTimePassword ?? '';
    const { principal } = await embedded.get(LoginService).login('admin@penstock.local', password, requestFacts());
    expect(principal).toMatchObject({
      superAdmin: true,
      mustChangePassword: true,
      workspace: { name: 'default', implicit: true },
    });
    await embedded.get(LoginService).changePassword(principal, password, 'lantern walrus 77 fog');
    expect(await embedded.get(BootstrapAdmin).ensure()).toMatchObject({ created: false, pending: false });
    const dump = await db.database.query<{ row: string }>('SELECT row_to_json(a)::text AS row FROM audit_log a');
    for (const { row } of dump) expect(row).not.toContain(password);
    expect(await auditOf('auth.user.admin_granted')).toMatchObject([{ actor: 'bootstrap' }]);
    await embedded.close();
  });

  it('is made by one of two servers that start together', async () => {
    const options = { embedded: true, bootstrapAdminEmail: 'Ops@Example.org' };
    const pair = await Promise.all([1, 2].map(() => identityInstance({ database: db.database, options })));
    const outcomes = await Promise.all(pair.map((one) => one.get(BootstrapAdmin).ensure()));
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    expect(outcomes.filter(({ oneTimePassword }) => oneTimePassword !== undefined)).toHaveLength(1);
    await Promise.all(pair.map((one) => one.close()));
  });

  it('gives nobody rights back: a revoked administrator stays revoked', async () => {
    const options = { bootstrapAdminEmail: 'ops@example.org', bootstrapPassword: PASSWORD };
    const seeded = await identityInstance({ database: db.database, options });
    await seeded.get(BootstrapAdmin).ensure();
    await db.database.execute(`UPDATE users SET is_admin = FALSE, updated_at = NOW()`);
    await seeded.get(BootstrapAdmin).ensure();
    const [row] = await db.database.query<{ admin: boolean }>('SELECT is_admin AS admin FROM users');
    expect(row?.admin).toBe(false);
    await seeded.close();
  });

  it('refuses a one-time password past its hours, and arms an unused one again at the next start', async () => {
    const embedded = await identityInstance({ database: db.database, options: { embedded: true } });
    const first = await embedded.get(BootstrapAdmin).ensure();
    await db.database.execute(`UPDATE users SET password_changed_at = NOW() - INTERVAL '73 hours', updated_at = NOW()`);
    const attempt = (password = '') =>
      embedded.get(LoginService).login('admin@penstock.local', password, requestFacts());
    expect(await codeOf(attempt(first.oneTimePassword))).toBe('auth.login.bad_credentials');
    const again = await embedded.get(BootstrapAdmin).ensure();
    expect(again).toMatchObject({ created: false, pending: true });
    expect(again.oneTimePassword).not.toBe(first.oneTimePassword);
    expect(await codeOf(attempt(again.oneTimePassword))).toBe('accepted');
    await embedded.close();
  });
});

it('has one system actor, however many ask at once, and no way to sign in as it', async () => {
  const other = await identityInstance({ database: db.database });
  const ids = await Promise.all([instance, other, instance].map((one) => one.get(SystemActor).id()));
  expect(new Set(ids).size).toBe(1);
  await other.close();
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { MailDispatcher } from '#libs/mail';
import { identityInstance, requestFacts, type TestInstance } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { MailServer } from '../../../test/fixtures/mail-server.js';
import { Authenticator } from '../access/authenticator.js';
import { LocalAccounts } from '../administration/local-accounts.js';
import { UserStanding } from '../administration/user-standing.js';
import { LoginService } from '../login/login.service.js';
import { SessionPurge } from '../sessions/session-purge.js';
import { PasswordReset } from './password-reset.js';

const NEXT = 'lantern walrus 77 fog';
const EMAIL = 'ada@example.org';
const INVALID = 'auth.password.reset_invalid';

const scene = loginScene();
let server: MailServer;
let instance: TestInstance;
let id: string;

beforeEach(async () => {
  server = await MailServer.start();
  instance = await identityInstance({ database: scene.database, mail: { port: server.port } });
  id = await scene.person(EMAIL, { password_changed_at: new Date(Date.now() - 60_000) });
});
afterEach(async () => {
  await instance.close();
  await server.close();
});

async function request(email: string, on = instance): Promise<void> {
  on.get(PasswordReset).request(email, requestFacts());
  await on.get(PasswordReset).settled();
  await on.get(MailDispatcher).settled();
}

/** The token of the newest mail. */
async function link(email = EMAIL): Promise<string> {
  await request(email);
  const [, token] =
    /https:\/\/data\.example\.com\/reset-password#token=(\S+)/.exec(server.last(email)?.text ?? '') ?? [];
  return token ?? '';
}

const confirm = (token: string, next = NEXT, on = instance) =>
  on.get(PasswordReset).confirm(token, next, requestFacts());
const signIn = (password: string) => instance.get(LoginService).login(EMAIL, password, requestFacts());

describe('a reset link', () => {
  it('sets the password once, opens the account, ends every session, and clears locks and the forced change', async () => {
    const sessions = [await signIn(PASSWORD), await signIn(PASSWORD)];
    await scene.database.execute(
      `UPDATE users SET failed_login_count = 5, locked_until = NOW() + INTERVAL '1 hour', must_change_password = TRUE`,
    );
    const token = await link();
    await confirm(token);
    for (const { token: cookie } of sessions) {
      expect(await codeOf(instance.get(Authenticator).authenticateSession(cookie, requestFacts()))).toBe(
        'auth.session.invalid',
      );
    }
    const { principal } = await signIn(NEXT);
    expect(principal.mustChangePassword).toBe(false);
    expect(await codeOf(signIn(PASSWORD))).toBe('auth.login.bad_credentials');
    expect(await codeOf(confirm(token, 'another walrus 78 fog'))).toBe(INVALID);
    const [asked] = await scene.auditOf('auth.password.reset_requested');
    const [completed] = await scene.auditOf('auth.password.reset_completed');
    expect([asked?.['userId'], completed?.['userId'], completed?.['token_id']]).toEqual([id, id, asked?.['token_id']]);
  });

  it('is stored as a hash only, and stands in no row of the trail or of the ledger', async () => {
    const token = await link();
    const rows = await scene.database.query<{ row: string; hash: Buffer }>(
      'SELECT token_hash AS hash FROM password_reset_tokens',
    );
    expect(rows[0]?.hash).toEqual(createHash('sha256').update(token).digest());
    const dump = await scene.database.query<{ row: string }>(
      `SELECT row_to_json(a)::text AS row FROM audit_log a UNION ALL SELECT row_to_json(m)::text FROM mail_sends m
       UNION ALL SELECT row_to_json(t)::text FROM password_reset_tokens t`,
    );
    for (const { row } of dump) expect(row).not.toContain(token);
  });

  it('lets one of many win who present it at once, on two instances', async () => {
    const other = await identityInstance({ database: scene.database, mail: { port: server.port } });
    const token = await link();
    const codes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((n) => codeOf(confirm(token, `lantern walrus ${n} fog`, n % 2 ? other : instance))),
    );
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === INVALID)).toHaveLength(5);
    await other.close();
  });

  it('takes the other links of the person with it, and those only', async () => {
    await scene.person('bob@example.org', { password_changed_at: new Date(Date.now() - 60_000) });
    const [first, second, bobs] = [await link(), await link(), await link('bob@example.org')];
    await confirm(second);
    expect(await codeOf(confirm(first))).toBe(INVALID);
    expect(await codeOf(confirm(bobs))).toBe('accepted');
  });

  it.each<[string, string]>([
    ['expired', `UPDATE password_reset_tokens SET expires_at = NOW() - INTERVAL '1 second'`],
    ['older than the password', `UPDATE users SET password_changed_at = NOW() + INTERVAL '1 second'`],
    ['of a closed account', 'UPDATE users SET is_active = FALSE'],
    ['of an account that lost its password', 'UPDATE users SET password_hash = NULL'],
  ])('is dead when %s, in the same words as one that never was', async (_what, sql) => {
    const token = await link();
    await scene.database.execute(sql);
    const dead = await refusal(confirm(token));
    const unknown = await refusal(confirm('A'.repeat(43)));
    const garbage = await refusal(confirm('<script>'));
    expect(dead).toEqual(unknown);
    expect(garbage).toEqual(unknown);
    expect(unknown).toMatchObject({ code: INVALID, status: 400 });
  });

  it('dies with what an administrator does: a reset, a deactivation, even when that is undone', async () => {
    await scene.person('root@example.org', { is_admin: true });
    const root = (await scene.login('root@example.org', PASSWORD)).principal;
    const first = await link();
    await instance.get(LocalAccounts).resetPassword(root, id);
    expect(await codeOf(confirm(first))).toBe(INVALID);
    const second = await link();
    await instance.get(UserStanding).deactivate(root, id);
    await instance.get(UserStanding).activate(root, id);
    expect(await codeOf(confirm(second))).toBe(INVALID);
  });

  it.each([
    ['short', 'too_short'],
    ['password1234', 'common'],
    ['my name is lovelace', 'contains_identity'],
    [PASSWORD, 'unchanged'],
  ])('survives the refused password %s', async (next, reason) => {
    const token = await link();
    expect(await refusal(confirm(token, next))).toMatchObject({
      code: 'auth.password.policy_violation',
      body: { details: { reason } },
    });
    expect(await codeOf(confirm(token))).toBe('accepted');
  });

  it('is purged a month after its end, with the sessions', async () => {
    await link();
    expect(await instance.get(SessionPurge).run()).toBe(0);
    instance.clock.advance(60 * 24 * 31);
    expect(await instance.get(SessionPurge).run()).toBe(1);
  });
});

describe('asking for a link', () => {
  it('sends none to who has no open local account, and says nothing of it', async () => {
    await scene.person('okta@example.org', { provider: 'okta', password_hash: null, password_changed_at: null });
    await scene.person('closed@example.org', { is_active: false });
    await scene.person('system@system.invalid', { provider: 'system', provider_subject: 'system' });
    for (const email of ['nobody@example.org', 'okta@example.org', 'closed@example.org', 'system@system.invalid']) {
      await request(email);
    }
    expect([server.received, await scene.auditOf('auth.password.reset_requested')]).toEqual([[], []]);
  });

  it('finds the account in any spelling of its address, and refuses what is none', async () => {
    expect(await link(EMAIL)).toHaveLength(43);
    await request(' ADA@Example.org ');
    expect(server.received).toHaveLength(2);
    expect(() => instance.get(PasswordReset).request('no address', requestFacts())).toThrow(
      expect.objectContaining({ code: 'auth.user.email_invalid' }),
    );
  });

  it('sends so many an hour and no more, also to who asks many times at once', async () => {
    const resets = instance.get(PasswordReset);
    for (let n = 0; n < 10; n++) resets.request(EMAIL, requestFacts());
    await resets.settled();
    await instance.get(MailDispatcher).settled();
    expect(server.received).toHaveLength(3);
    await scene.database.execute(`UPDATE password_reset_tokens SET created_at = created_at - INTERVAL '61 minutes'`);
    await request(EMAIL);
    expect(server.received).toHaveLength(4);
  });

  it('answers before the account is looked for, and what cannot be done then is no error of the asker', async () => {
    await scene.database.execute('ALTER TABLE password_reset_tokens RENAME TO elsewhere');
    instance.get(PasswordReset).request(EMAIL, requestFacts());
    await instance.get(PasswordReset).settled();
    await scene.database.execute('ALTER TABLE elsewhere RENAME TO password_reset_tokens');
    await request(EMAIL);
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['mail', {}, undefined],
    ['local accounts', { localAccounts: false }, 1],
    ['the setting', { selfServiceReset: false }, 1],
  ])('is not there without %s', async (_what, options, port) => {
    const off = await identityInstance({ database: scene.database, options, ...(port ? { mail: { port } } : {}) });
    expect(off.get(PasswordReset).enabled).toBe(false);
    expect(() => off.get(PasswordReset).request(EMAIL, requestFacts())).toThrow(
      expect.objectContaining({ code: 'request.not_found' }),
    );
    expect(await codeOf(confirm('A'.repeat(43), NEXT, off))).toBe('request.not_found');
    await off.close();
  });
});

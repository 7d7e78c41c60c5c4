import { describe, expect, it } from '@jest/globals';
import { newId } from '#libs/kernel';
import { MailDispatcher } from '#libs/mail';
import { administrationScene } from '../../../test/fixtures/administration-scene.js';
import { identityInstance } from '../../../test/fixtures/identity.js';
import { codeOf, PASSWORD } from '../../../test/fixtures/login-scene.js';
import { MailServer } from '../../../test/fixtures/mail-server.js';
import { MailLedger } from './mail-ledger.js';

const ONE_TIME = /^[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}$/;
const { accounts, authenticate, root, rootId, scene, signIn, snapshot, workspace } = administrationScene();

describe('a local account', () => {
  it('is made with a one-time password that is shown once, works once, and must be changed', async () => {
    const { user, oneTimePassword = '' } = await accounts().create(root(), { email: ' New@Example.ORG ' });
    expect(user).toMatchObject({ email: 'new@example.org', display_name: 'new', provider: 'local', is_admin: false });
    expect(oneTimePassword).toMatch(ONE_TIME);
    const { principal } = await signIn('new@example.org', oneTimePassword);
    expect(principal.mustChangePassword).toBe(true);
    expect(await scene.auditOf('auth.user.created')).toEqual([
      expect.objectContaining({
        userId: rootId(),
        actor: rootId(),
        target_user_id: user.id,
        email: 'new@example.org',
        method: 'local',
      }),
    ]);
    const dump = await scene.database.query<{ row: string }>('SELECT row_to_json(a)::text AS row FROM audit_log a');
    for (const { row } of dump) expect(row).not.toContain(oneTimePassword);
  });

  it('is never made twice for one address, whoever asks at the same moment', async () => {
    const make = () => codeOf(accounts().create(root(), { email: 'twin@example.org' }));
    expect((await Promise.all([make(), make(), make()])).sort()).toEqual([
      'accepted',
      'auth.user.email_taken',
      'auth.user.email_taken',
    ]);
  });

  it.each([
    [{ email: 'no-address' }, 'auth.user.email_invalid'],
    [{ email: 7 }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'a@example.org', display_name: '  ' }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'a@example.org', display_name: 'a\nb' }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'a@example.org', display_name: 'x'.repeat(201) }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'ROOT@example.org' }, 'auth.user.email_taken'],
  ])('refuses %j, and nothing changes', async (request, code) => {
    const before = await snapshot();
    expect(await codeOf(accounts().create(root(), request))).toBe(code);
    expect(await snapshot()).toBe(before);
  });

  it('administers when it has the configured address and nobody was made administrator so, and no second one does', async () => {
    const configured = async (bootstrapAdminEmail: string, email = bootstrapAdminEmail) => {
      const instance = await identityInstance({ database: scene.database, options: { bootstrapAdminEmail } });
      const { user } = await accounts(instance).create(root(), { email });
      await instance.close();
      return user.is_admin;
    };
    expect(await configured('ops@example.org', 'ada@example.org')).toBe(false);
    expect(await configured('Ops@Example.org')).toBe(true);
    expect(await configured('later@example.org')).toBe(false);
    expect(await scene.auditOf('auth.user.admin_granted')).toMatchObject([{ actor: 'bootstrap', userId: rootId() }]);
  });

  it('is made for whatever domain: the list of domains is for those who come by themselves', async () => {
    const closed = await identityInstance({ database: scene.database, options: { allowedDomains: ['example.org'] } });
    const { user } = await accounts(closed).create(root(), { email: 'auditor@elsewhere.example' });
    expect(user).toMatchObject({ email: 'auditor@elsewhere.example', is_active: true });
    await closed.close();
  });

  it('turns the invitations that waited for its address into memberships, dated by the invitation', async () => {
    const [active, closed] = [await workspace('active', {}), await workspace('closed', {})];
    for (const id of [active, closed]) {
      await scene.database.execute(
        `INSERT INTO workspace_invitations (workspace_id, email, author, invited_by, invited_at)
         VALUES ($1, 'guest@example.org', TRUE, $2, '2020-02-29T12:00:00Z')`,
        [id, rootId()],
      );
    }
    await scene.database.execute('UPDATE workspaces SET deactivated_at = NOW(), deactivated_by = $2 WHERE id = $1', [
      closed,
      rootId(),
    ]);
    const { user } = await accounts().create(root(), { email: 'guest@example.org' });
    const members = await scene.database.query(
      'SELECT workspace_id AS id, author, joined_at AS joined FROM workspace_members WHERE user_id = $1',
      [user.id],
    );
    expect(members).toEqual([{ id: active, author: true, joined: '2020-02-29T12:00:00.000000Z' }]);
    expect(await scene.auditOf('workspace.invitation_materialised')).toMatchObject([
      { workspace: 'active', inviter: rootId() },
    ]);
    expect(await scene.database.query('SELECT workspace_id AS id FROM workspace_invitations')).toEqual([
      { id: closed },
    ]);
  });

  it('gets a new password by a reset, which ends sessions, locks and links', async () => {
    const id = await scene.person('ada@example.org', { failed_login_count: 4 });
    const { token } = await signIn('ada@example.org', PASSWORD);
    await scene.database.execute(`UPDATE users SET locked_until = NOW() + INTERVAL '1 hour' WHERE id = $1`, [id]);
    await scene.database.execute(
      `INSERT INTO password_reset_tokens (id, user_id, token_hash, expires_at) VALUES ($1, $2, '\\x00', NOW() + INTERVAL '1 hour')`,
      [newId(), id],
    );
    const { oneTimePassword = '', user } = await accounts().resetPassword(root(), id);
    expect(user).toMatchObject({ must_change_password: true, locked_until: null });
    expect(await codeOf(authenticate(token))).toBe('auth.session.invalid');
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('auth.login.bad_credentials');
    expect(await codeOf(signIn('ada@example.org', oneTimePassword))).toBe('accepted');
    expect(await scene.database.query('SELECT 1 FROM password_reset_tokens WHERE used_at IS NULL')).toEqual([]);
    expect(await scene.auditOf('auth.password.reset')).toMatchObject([{ actor: rootId(), target_user_id: id }]);
    expect(await scene.auditOf('auth.session.revoked')).toMatchObject([{ reason: 'password_reset', actor: rootId() }]);
  });

  it('loses its password when local sign-in is taken away, and gets one back by a reset', async () => {
    const id = await scene.person('ada@example.org');
    expect(await accounts().disable(root(), id)).toMatchObject({ has_password: false });
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('auth.login.bad_credentials');
    expect(await codeOf(accounts().disable(root(), id))).toBe('auth.password.no_local_account');
    const { oneTimePassword = '' } = await accounts().resetPassword(root(), id);
    expect(await codeOf(signIn('ada@example.org', oneTimePassword))).toBe('accepted');
    const guest = await scene.person('okta@example.org', {
      provider: 'okta',
      password_hash: null,
      password_changed_at: null,
    });
    expect(await codeOf(accounts().resetPassword(root(), guest))).toBe('auth.password.no_local_account');
  });

  it('is unlocked, which is recorded when there was something to unlock', async () => {
    const id = await scene.person('ada@example.org', {
      failed_login_count: 5,
      locked_until: new Date(Date.now() + 1e6),
    });
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('auth.login.locked');
    await accounts().unlock(root(), id);
    await accounts().unlock(root(), id);
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('accepted');
    expect(await scene.auditOf('auth.user.unlocked')).toHaveLength(1);
  });

  it('is neither made nor reset where local accounts are off', async () => {
    const off = await identityInstance({ database: scene.database, options: { localAccounts: false } });
    expect(await codeOf(accounts(off).create(root(), { email: 'a@example.org' }))).toBe('request.not_found');
    expect(await codeOf(accounts(off).resetPassword(root(), rootId()))).toBe('request.not_found');
    await off.close();
  });
});

describe('where mail is on', () => {
  it('the password goes to its owner and to nobody else, the operators hear of the account, the ledger shows both', async () => {
    const server = await MailServer.start();
    const mailing = await identityInstance({
      database: scene.database,
      mail: { port: server.port, opsTo: 'ops@example.com' },
    });
    const made = await accounts(mailing).create(root(), { email: 'new@example.org', display_name: 'Nova' });
    expect(made.oneTimePassword).toBeUndefined();
    await mailing.get(MailDispatcher).settled();
    const password = /[A-Z2-7]{4}(-[A-Z2-7]{4}){2}/.exec(server.last('new@example.org')?.text ?? '')?.[0] ?? '';
    expect(await codeOf(signIn('new@example.org', password))).toBe('accepted');
    expect(server.last('ops@example.com')?.text).toContain('Nova (new@example.org)');
    expect(server.last('ops@example.com')?.text).not.toContain(password);

    const again = await accounts(mailing).resetPassword(root(), made.user.id);
    expect(again.oneTimePassword).toBeUndefined();
    await mailing.get(MailDispatcher).settled();
    const ledger = await mailing.get(MailLedger).list(root(), {});
    expect(ledger.items.map(({ kind, status }) => [kind, status])).toEqual([
      ['password_reset', 'SENT'],
      expect.arrayContaining(['SENT']),
      expect.arrayContaining(['SENT']),
    ]);
    const first = await mailing.get(MailLedger).list(root(), { first: 1 });
    const rest = await mailing.get(MailLedger).list(root(), { first: 5, after: first.items[0]?.cursor });
    expect([first.items.length, rest.items.length, rest.hasPrevious]).toEqual([1, 2, true]);
    expect(JSON.stringify(ledger)).not.toContain(password);
    await mailing.close();
    await server.close();
  });
});

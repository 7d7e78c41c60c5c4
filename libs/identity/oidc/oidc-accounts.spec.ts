import { describe, expect, it } from '@jest/globals';
import { requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf } from '../../../test/fixtures/login-scene.js';
import { ADA, oidcScene } from '../../../test/fixtures/oidc-scene.js';
import { Authenticator } from '../access/authenticator.js';
import { BootstrapAdmin } from '../users/bootstrap-admin.js';

const scene = oidcScene();

describe('the row an identity belongs to', () => {
  it('follows the subject to a free address and refuses one that is taken', async () => {
    await scene.signIn(ADA);
    await scene.signIn({ ...ADA, email: 'ada.king@example.com' });
    expect(await scene.users()).toMatchObject([{ email: 'ada.king@example.com', subject: 'ada-1' }]);
    expect(await scene.auditOf('auth.user.email_changed')).toMatchObject([
      { from: 'ada@example.com', to: 'ada.king@example.com' },
    ]);
    await scene.insert('grace@example.com', { provider: 'local', provider_subject: 'grace@example.com' });
    expect(await codeOf(scene.signIn({ ...ADA, email: 'grace@example.com' }))).toBe('auth.login.identity_mismatch');
  });

  it('shows what changed at once in sessions that are open on another instance', async () => {
    const other = await scene.open({}, { channel: scene.instance.channel });
    const { token } = await scene.signIn(ADA, {}, { at: other });
    const seen = async () => {
      const { email, displayName } = await other.get(Authenticator).authenticateSession(token, requestFacts());
      return [email, displayName];
    };
    expect(await seen()).toEqual(['ada@example.com', 'Ada Lovelace']);
    await scene.signIn({ ...ADA, name: 'Ada King', email: 'ada.king@example.com' });
    expect(await seen()).toEqual(['ada.king@example.com', 'Ada King']);
    await other.close();
  });

  it('is never inherited by a recycled address of the same provider', async () => {
    await scene.signIn(ADA);
    expect(await codeOf(scene.signIn({ ...ADA, sub: 'ada-2' }))).toBe('auth.login.identity_mismatch');
    expect(await scene.auditOf('auth.login.identity_mismatch')).toMatchObject([
      { email: 'ada@example.com', stored_provider: 'acme', incoming_provider: 'acme' },
    ]);
    expect(await scene.users()).toMatchObject([{ subject: 'ada-1' }]);
  });

  it.each(['bootstrap', 'local'])('is the one prepared for the address (%s), with no new right', async (provider) => {
    await scene.insert('ada@example.com', { provider, provider_subject: 'ada@example.com', password_hash: 'kept' });
    const outcome = await scene.signIn(ADA);
    expect(outcome.principal.superAdmin).toBe(false);
    expect(await scene.users()).toMatchObject([{ provider: 'acme', subject: 'ada-1', admin: false }]);
    expect(await scene.auditOf('auth.user.identity_linked')).toMatchObject([{ from: provider, to: 'acme' }]);
    const [row] = await scene.database.query('SELECT password_hash AS hash FROM users');
    expect(row).toEqual({ hash: 'kept' });
    expect(JSON.stringify(await scene.auditOf('auth.user.identity_linked'))).not.toContain('ada-1');
  });

  it('is never the system actor', async () => {
    await scene.insert('system@system.invalid', { provider: 'system', provider_subject: 'system' });
    expect(await codeOf(scene.signIn({ ...ADA, email: 'system@system.invalid' }))).toBe('auth.login.identity_mismatch');
  });

  it('moves to another provider for a literally verified address, unless the operator says never', async () => {
    await scene.signIn(ADA);
    await scene.signIn({ ...ADA, sub: 'globex-7' }, {}, { provider: 'globex' });
    expect(await scene.users()).toMatchObject([{ provider: 'globex', subject: 'globex-7' }]);
    const strict = await scene.open({ relinkPolicy: 'never' });
    expect(await codeOf(scene.signIn(ADA, {}, { at: strict }))).toBe('auth.login.identity_mismatch');
    await strict.close();
  });

  it('moves for no address the operator merely trusts, though such people may sign in', async () => {
    await scene.signIn(ADA);
    const trusting = await scene.open({
      providers: [scene.other.setting('globex', { trustEmailWithoutVerifiedClaim: true })],
    });
    const silent = { ...ADA, email_verified: undefined, sub: 'globex-7' };
    expect(await codeOf(scene.signIn(silent, {}, { at: trusting, provider: 'globex' }))).toBe(
      'auth.login.identity_mismatch',
    );
    await scene.signIn({ ...silent, email: 'grace@example.com' }, {}, { at: trusting, provider: 'globex' });
    expect(await scene.auditOf('auth.login.email_verified_assumed')).toMatchObject([{ provider: 'globex' }]);
    expect(
      await codeOf(scene.signIn({ ...silent, email_verified: false }, {}, { at: trusting, provider: 'globex' })),
    ).toBe('auth.login.oidc_error');
    await trusting.close();
  });

  it('of a local administrator moves for a verified address only; of anybody else, and of one prepared, on trust too', async () => {
    const trusting = await scene.open({
      providers: [scene.other.setting('globex', { trustEmailWithoutVerifiedClaim: true })],
    });
    const arrive = (name: string, verified?: boolean) =>
      codeOf(
        scene.signIn(
          { sub: name, email: `${name}@example.com`, name, email_verified: verified },
          {},
          { at: trusting, provider: 'globex' },
        ),
      );
    const local = { provider: 'local', password_hash: 'kept' };
    await scene.insert('root@example.com', { ...local, provider_subject: 'root@example.com', is_admin: true });
    await scene.insert('grace@example.com', { ...local, provider_subject: 'grace@example.com' });
    await scene.insert('ops@example.com', {
      provider: 'bootstrap',
      provider_subject: 'ops@example.com',
      is_admin: true,
    });
    expect(await arrive('root')).toBe('auth.login.identity_mismatch');
    expect(await arrive('grace')).toBe('accepted');
    expect(await arrive('ops')).toBe('accepted');
    expect((await scene.auditOf('auth.login.email_verified_assumed')).length).toBeGreaterThan(0);
    expect(await scene.auditOf('auth.login.identity_mismatch')).toMatchObject([
      { email: 'root@example.com', stored_provider: 'local', incoming_provider: 'globex' },
    ]);
    expect(await arrive('root', true)).toBe('accepted');
    await trusting.close();
  });

  it('stays shut when it is deactivated, whichever way it is found', async () => {
    await scene.signIn(ADA);
    await scene.database.query('UPDATE users SET is_active = FALSE');
    expect(await codeOf(scene.signIn(ADA))).toBe('auth.login.user_inactive');
    expect(await codeOf(scene.signIn({ ...ADA, sub: 'globex-7' }, {}, { provider: 'globex' }))).toBe(
      'auth.login.user_inactive',
    );
    expect(await scene.users()).toMatchObject([{ provider: 'acme', subject: 'ada-1' }]);
  });

  it('becomes an administrator by the configured address once, when it is made', async () => {
    const configured = await scene.open({ bootstrapAdminEmail: 'ada@example.com' });
    expect((await scene.signIn(ADA, {}, { at: configured })).principal.superAdmin).toBe(true);
    expect(await scene.auditOf('auth.user.admin_granted')).toMatchObject([{ actor: 'bootstrap' }]);
    await scene.database.query('UPDATE users SET is_admin = FALSE');
    const after = await scene.open({ bootstrapAdminEmail: 'ada@example.com' });
    expect((await scene.signIn(ADA, {}, { at: after })).principal.superAdmin).toBe(false);
    await Promise.all([configured.close(), after.close()]);
  });

  it('makes no second administrator once the configured address has changed', async () => {
    const first = await scene.open({ bootstrapAdminEmail: 'ada@example.com' });
    await scene.signIn(ADA, {}, { at: first });
    const changed = await scene.open({ bootstrapAdminEmail: 'grace@example.com' });
    const grace = { sub: 'grace-1', email: 'grace@example.com', email_verified: true, name: 'Grace' };
    expect((await scene.signIn(grace, {}, { at: changed })).principal.superAdmin).toBe(false);
    expect(await changed.get(BootstrapAdmin).ensure()).toMatchObject({ created: false, mismatch: true });
    expect(await scene.users()).toMatchObject([{ admin: true }, { email: 'grace@example.com', admin: false }]);
    expect(await scene.auditOf('auth.user.admin_granted')).toHaveLength(1);
    await Promise.all([first.close(), changed.close()]);
  });

  it('is that of the administrator prepared at boot, who links by his verified address and stays one', async () => {
    const prepared = await scene.open({ bootstrapAdminEmail: 'ada@example.com', bootstrapPrepared: true });
    await prepared.get(BootstrapAdmin).ensure();
    const unverified = { ...ADA, email_verified: false };
    expect(await codeOf(scene.signIn(unverified, {}, { at: prepared }))).toBe('auth.login.oidc_error');
    expect((await scene.signIn(ADA, {}, { at: prepared })).principal.superAdmin).toBe(true);
    expect(await scene.users()).toMatchObject([{ provider: 'acme', subject: 'ada-1', admin: true }]);
    expect(await scene.auditOf('auth.user.admin_granted')).toHaveLength(1);
    expect(await prepared.get(BootstrapAdmin).ensure()).toEqual({
      created: false,
      email: 'ada@example.com',
      pending: false,
    });
    await prepared.close();
  });
});

import { describe, expect, it } from '@jest/globals';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD } from '../../../test/fixtures/login-scene.js';
import { AdministrationRepository } from '../administration/administration.repository.js';
import type { IdentityOptions } from '../identity-settings.js';
import { LoginService } from '../login/login.service.js';
import { BootstrapAdmin, type BootstrapOutcome } from './bootstrap-admin.js';
import { SystemActor } from './system-actor.js';

const scene = loginScene();

/** A boot with these settings, and its end. */
async function start(options: Partial<IdentityOptions>): Promise<BootstrapOutcome> {
  const instance = await identityInstance({
    database: scene.database,
    options: { bootstrapPassword: PASSWORD, ...options },
  });
  const outcome = await instance.get(BootstrapAdmin).ensure();
  await instance.close();
  return outcome;
}

async function people(): Promise<[email: string, provider: string, admin: boolean][]> {
  const rows = await scene.database.query<{ email: string; provider: string; admin: boolean }>(
    'SELECT email, provider, is_admin AS admin FROM users ORDER BY created_at',
  );
  return rows.map(({ email, provider, admin }) => [email, provider, admin]);
}

describe('the bootstrap administrator', () => {
  it('is made once in embedded mode with a password shown once, works, and must change it', async () => {
    const embedded = await identityInstance({ database: scene.database, options: { embedded: true } });
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
    const dump = await scene.database.query<{ row: string }>('SELECT row_to_json(a)::text AS row FROM audit_log a');
    for (const { row } of dump) expect(row).not.toContain(password);
    expect(await scene.auditOf('auth.user.admin_granted')).toMatchObject([{ actor: 'bootstrap' }]);
    await embedded.close();
  });

  it('is not made a second time under another address: a changed setting gives nobody rights', async () => {
    expect(await start({ bootstrapAdminEmail: 'ops@example.org' })).toMatchObject({ created: true });
    expect(await start({ bootstrapAdminEmail: 'other@example.org' })).toMatchObject({ created: false, mismatch: true });
    expect(await start({ bootstrapAdminEmail: 'ops@example.org' })).toEqual({
      created: false,
      email: 'ops@example.org',
      pending: true,
    });
    expect(await scene.auditOf('auth.user.admin_granted')).toHaveLength(1);
    expect(await people()).toEqual([['ops@example.org', 'bootstrap', true]]);
  });

  it('is not made of an account that was there before the setting: linking and naming grant nothing', async () => {
    await scene.person('ada@example.org');
    expect(await start({ bootstrapAdminEmail: 'ada@example.org' })).toMatchObject({ created: false, mismatch: true });
    expect(await people()).toEqual([['ada@example.org', 'local', false]]);
    expect(await scene.auditOf('auth.user.admin_granted')).toEqual([]);
  });

  it('is made though another row has become a placeholder by an identity reset, which is no administrator', async () => {
    const id = await scene.person('ada@example.org', { provider: 'okta', provider_subject: 'ada-1' });
    await scene.database.transaction((tx) => new AdministrationRepository().resetIdentity(tx, id));
    expect(await start({ bootstrapAdminEmail: 'ops@example.org' })).toMatchObject({ created: true });
    expect(await people()).toEqual([
      ['ada@example.org', 'bootstrap', false],
      ['ops@example.org', 'bootstrap', true],
    ]);
    expect(await start({ bootstrapAdminEmail: 'ada@example.org' })).toMatchObject({ created: false, mismatch: true });
  });

  it('waits as a row without a password where datasources are declared, local accounts or not', async () => {
    const prepared = { bootstrapAdminEmail: 'Ops@Example.org', bootstrapPassword: undefined, bootstrapPrepared: true };
    expect(await start({ ...prepared, localAccounts: false })).toEqual({
      created: true,
      email: 'ops@example.org',
      pending: false,
    });
    expect(await start(prepared)).toEqual({ created: false, email: 'ops@example.org', pending: false });
    const rows = await scene.database.query(
      'SELECT provider, provider_subject AS subject, password_hash AS hash, is_admin AS admin FROM users',
    );
    expect(rows).toEqual([{ provider: 'bootstrap', subject: 'ops@example.org', hash: null, admin: true }]);
    expect(await scene.auditOf('auth.password.seeded')).toEqual([]);
    expect(await codeOf(scene.login('ops@example.org', PASSWORD))).toBe('auth.login.bad_credentials');
    // Without declared datasources there is nothing to wait for: he is made at his first sign-in.
    expect(await start({ ...prepared, bootstrapAdminEmail: 'x@example.org', bootstrapPrepared: false })).toMatchObject({
      created: false,
    });
  });

  it('is one, of two servers that start together with different addresses', async () => {
    const outcomes = await Promise.all(
      ['ops@example.org', 'other@example.org'].map((bootstrapAdminEmail) => start({ bootstrapAdminEmail })),
    );
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    expect(await people()).toEqual([[expect.stringMatching(/^(ops|other)@/), 'bootstrap', true]]);
  });

  it('is made by one of two servers that start together', async () => {
    const options = { embedded: true, bootstrapAdminEmail: 'Ops@Example.org' };
    const pair = await Promise.all([1, 2].map(() => identityInstance({ database: scene.database, options })));
    const outcomes = await Promise.all(pair.map((one) => one.get(BootstrapAdmin).ensure()));
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    expect(outcomes.filter(({ oneTimePassword }) => oneTimePassword !== undefined)).toHaveLength(1);
    await Promise.all(pair.map((one) => one.close()));
  });

  it('gives nobody rights back: a revoked administrator stays revoked', async () => {
    const options = { bootstrapAdminEmail: 'ops@example.org', bootstrapPassword: PASSWORD };
    const seeded = await identityInstance({ database: scene.database, options });
    await seeded.get(BootstrapAdmin).ensure();
    await scene.database.execute(`UPDATE users SET is_admin = FALSE, updated_at = NOW()`);
    await seeded.get(BootstrapAdmin).ensure();
    const [row] = await scene.database.query<{ admin: boolean }>('SELECT is_admin AS admin FROM users');
    expect(row?.admin).toBe(false);
    await seeded.close();
  });

  it('refuses a one-time password past its hours, and arms an unused one again at the next start', async () => {
    const embedded = await identityInstance({ database: scene.database, options: { embedded: true } });
    const first = await embedded.get(BootstrapAdmin).ensure();
    await scene.database.execute(
      `UPDATE users SET password_changed_at = NOW() - INTERVAL '73 hours', updated_at = NOW()`,
    );
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
  const other = await identityInstance({ database: scene.database });
  const ids = await Promise.all([scene.instance, other, scene.instance].map((one) => one.get(SystemActor).id()));
  expect(new Set(ids).size).toBe(1);
  await other.close();
});

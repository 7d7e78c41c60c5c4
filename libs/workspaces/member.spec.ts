import { beforeEach, describe, expect, it } from '@jest/globals';
import { BootstrapAdmin, DEFAULT_WORKSPACE_ID } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { identityInstance } from '../../test/fixtures/identity.js';
import { ADMIN, codeOf, NONE, refusal, workspaceScene } from '../../test/fixtures/workspace-scene.js';
import { WorkspacesModule } from './workspaces.module.js';

const scene = workspaceScene();

describe('members', () => {
  let eve: Principal;
  beforeEach(async () => {
    eve = await scene.join(await scene.account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
  });

  it('are added by address; admin brings author; adding again changes nothing', async () => {
    const ada = await scene.account('ada@example.org');
    const added = await scene.members().add(eve, 'default', { email: ' ADA@example.org ', admin: true });
    expect(added).toMatchObject({ member: { user_id: ada.id, author: true, promoter: false, admin: true } });
    expect(await scene.members().add(eve, 'default', { email: 'ada@example.org' })).toMatchObject({
      member: { admin: true },
    });
    expect(await scene.auditOf('workspace.member_added')).toMatchObject([{ target_user_id: ada.id, flags: ADMIN }]);
  });

  it('wait as invitations until they have an account; a second invitation replaces the first', async () => {
    const body = { email: 'bob@example.org', author: true };
    expect(await scene.members().add(eve, 'default', body)).toEqual({
      invited: true,
      email: 'bob@example.org',
      flags: { ...NONE, author: true },
    });
    await scene.members().add(eve, 'default', { email: 'bob@example.org', promoter: true });
    const { invitations, members: rows } = await scene.members().list(eve, 'default');
    expect(invitations).toMatchObject([
      { email: 'bob@example.org', author: false, promoter: true, invited_by: eve.userId },
    ]);
    expect(rows.map(({ email }) => email)).toEqual(['eve@example.org']);
    expect(await scene.auditOf('workspace.member_invited')).toHaveLength(2);
    await scene.members().revokeInvitation(eve, 'default', 'Bob@Example.org');
    expect(await codeOf(scene.members().revokeInvitation(eve, 'default', 'bob@example.org'))).toBe(
      'workspace.invitation.not_found',
    );
  });

  it('never include the system actor', async () => {
    await scene.database.execute(
      `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('system@system.invalid', 'System', 'system', 'system')`,
    );
    expect(await scene.members().add(eve, 'default', { email: 'system@system.invalid' })).toMatchObject({
      invited: true,
    });
  });

  it.each([
    [{}, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 5 }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'nobody' }, 'auth.user.email_invalid'],
    [{ email: 'a@b.cd', admin: 'true' }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'a@b.cd', author: 1 }, 'pipeline.execution.invalid_parameter_type'],
  ])('refuses the body %j with %s', async (body, code) => {
    expect(await codeOf(scene.members().add(eve, 'default', body))).toBe(code);
  });

  it('are managed by administrators only; others see no address and no invitation', async () => {
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, {
      author: true,
      promoter: true,
    });
    await scene.members().add(eve, 'default', { email: 'bob@example.org' });
    expect(await codeOf(scene.members().add(ada, 'default', { email: 'x@y.zz' }))).toBe('auth.role_required');
    expect(await codeOf(scene.members().setFlags(ada, 'default', ada.userId, { admin: true }))).toBe(
      'auth.role_required',
    );
    expect(await codeOf(scene.members().remove(ada, 'default', eve.userId))).toBe('auth.role_required');
    const seen = await scene.members().list(ada, 'default');
    expect(seen.invitations).toEqual([]);
    expect(seen.members.map(({ email }) => email)).toEqual([undefined, 'ada@example.org']);
  });

  it('have flags replaced, and the change says what was before', async () => {
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, { author: true });
    expect(await scene.members().setFlags(eve, 'default', ada.userId, { promoter: true })).toMatchObject({
      author: false,
      promoter: true,
    });
    await scene.members().setFlags(eve, 'default', ada.userId, { promoter: true });
    expect(await scene.auditOf('workspace.member_flags_changed')).toMatchObject([
      { target_user_id: ada.userId, from: { ...NONE, author: true }, to: { ...NONE, promoter: true } },
    ]);
    const stranger = await scene.account('stranger@example.org');
    for (const id of [stranger.id, 'not an id', '00000000-0000-4000-8000-000000000009'])
      expect(await codeOf(scene.members().setFlags(eve, 'default', id, {}))).toBe('workspace.not_found');
  });

  it('keep one administrator: the last can neither step down nor leave nor be removed', async () => {
    expect(await codeOf(scene.members().setFlags(eve, 'default', eve.userId, { author: true }))).toBe(
      'workspace.last_admin',
    );
    expect(await codeOf(scene.members().remove(eve, 'default', eve.userId))).toBe('workspace.last_admin');
    expect(await codeOf(scene.members().remove(scene.root, 'default', eve.userId))).toBe('workspace.last_admin');
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    await scene.members().remove(ada, 'default', eve.userId);
    expect(await codeOf(scene.members().remove(ada, 'default', ada.userId))).toBe('workspace.last_admin');
    expect(await scene.auditOf('workspace.member_removed')).toHaveLength(1);
  });

  it('keep one however the id is written: in capitals it is the same person, and loses the rights at once', async () => {
    const written = eve.userId.toUpperCase();
    expect(await codeOf(scene.members().remove(eve, 'default', written))).toBe('workspace.last_admin');
    expect(await codeOf(scene.members().setFlags(eve, 'default', written, { ...NONE }))).toBe('workspace.last_admin');
    const account = await scene.account('ada@example.org');
    expect((await scene.join(account, DEFAULT_WORKSPACE_ID, ADMIN)).workspace).toBeDefined();
    await scene.members().remove(eve, 'default', account.id.toUpperCase());
    expect((await scene.session(account)).workspace).toBeUndefined();
    expect(await scene.auditOf('workspace.member_removed')).toMatchObject([{ target_user_id: account.id }]);
  });

  it('count no administrator whose account is closed: he can look after nothing', async () => {
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    await scene.database.execute('UPDATE users SET is_active = FALSE WHERE id = $1', [ada.userId]);
    expect(await codeOf(scene.members().remove(eve, 'default', eve.userId))).toBe('workspace.last_admin');
    expect(await codeOf(scene.members().remove(eve, 'default', ada.userId))).toBe('accepted');
  });

  it('are invited only from admitted domains; who has an account is in already', async () => {
    const picky = await identityInstance({
      database: scene.database,
      options: { allowedDomains: ['example.org'] },
      modules: [WorkspacesModule],
    });
    await scene.account('guest@sub.example.org');
    const add = (email: string) => refusal(scene.members(picky).add(eve, 'default', { email }));
    expect(await add('new@sub.example.org')).toMatchObject({ code: 'auth.login.domain_not_allowed', status: 400 });
    expect(await add('new@example.org')).toMatchObject({ code: 'accepted' });
    expect(await add('guest@sub.example.org')).toMatchObject({ code: 'accepted' });
    expect(await scene.database.query('SELECT email FROM workspace_invitations')).toEqual([
      { email: 'new@example.org' },
    ]);
    await picky.close();
  });

  it('lets one of two administrators win who demote each other on two instances', async () => {
    const other = await identityInstance({
      database: scene.database,
      channel: scene.instance.channel,
      modules: [WorkspacesModule],
    });
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    for (let round = 0; round < 5; round++) {
      const codes = await Promise.all([
        codeOf(scene.members().setFlags(eve, 'default', ada.userId, {})),
        codeOf(scene.members(other).setFlags(ada, 'default', eve.userId, {})),
      ]);
      expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
      const [row] = await scene.database.query<{ admins: number }>(
        'SELECT count(*)::int AS admins FROM workspace_members WHERE admin',
      );
      expect(row?.admins).toBe(1);
      await scene.database.execute('UPDATE workspace_members SET author = TRUE, admin = TRUE');
    }
    await other.close();
  });

  it('does not let a demoted administrator act on flags that a cache still believes', async () => {
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    // The row changes behind every cache's back: only the row may decide.
    await scene.database.execute('UPDATE workspace_members SET admin = FALSE WHERE user_id = $1', [ada.userId]);
    expect(await codeOf(scene.members().setFlags(ada, 'default', ada.userId, { admin: true }))).toBe(
      'auth.role_required',
    );
    expect(await codeOf(scene.members().add(ada, 'default', { email: 'friend@example.org' }))).toBe(
      'auth.role_required',
    );
    expect(await scene.database.query('SELECT email FROM workspace_invitations')).toEqual([]);
  });

  it('does not orphan an invitation when the account is made at the same moment', async () => {
    const other = await identityInstance({
      database: scene.database,
      options: { bootstrapAdminEmail: 'new@example.org', embedded: true },
      modules: [WorkspacesModule],
    });
    await Promise.all([
      scene.members().add(eve, 'default', { email: 'new@example.org', author: true }),
      other.get(BootstrapAdmin).ensure(),
    ]);
    const [row] = await scene.database.query<{ members: number; invitations: number }>(
      `SELECT (SELECT count(*)::int FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE u.email = 'new@example.org') AS members,
              (SELECT count(*)::int FROM workspace_invitations) AS invitations`,
    );
    expect(row).toEqual({ members: 1, invitations: 0 });
    await other.close();
  });
});

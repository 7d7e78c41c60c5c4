import { describe, expect, it } from '@jest/globals';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { loginScene, PASSWORD } from '../../../test/fixtures/login-scene.js';
import { DEMO_WORKSPACE_ID } from '../access/membership.repository.js';
import { LoginService } from './login.service.js';

const scene = loginScene();

describe('entering a workspace', () => {
  const demo = () =>
    scene.database.execute(`INSERT INTO workspaces (id, name, display_name) VALUES ($1, 'demo', 'Demo')`, [
      DEMO_WORKSPACE_ID,
    ]);

  it('makes a viewer of demo on the very first login only: somebody removed does not come back', async () => {
    await demo();
    const id = await scene.person('ada@example.org');
    const first = await scene.login('ada@example.org', PASSWORD);
    expect(first.principal.workspace).toEqual({
      id: DEMO_WORKSPACE_ID,
      name: 'demo',
      flags: { author: false, promoter: false, admin: false },
      superAdmin: false,
      implicit: false,
    });
    await scene.database.execute('DELETE FROM workspace_members WHERE user_id = $1', [id]);
    const restarted = await identityInstance({ database: scene.database });
    const second = await restarted.get(LoginService).login('ada@example.org', PASSWORD, requestFacts());
    expect(second.principal.workspace).toBeUndefined();
    await restarted.close();
    expect(await scene.auditOf('workspace.member_added')).toMatchObject([{ workspace: 'demo', reason: 'first_login' }]);
  });

  it('leaves people alone where demo is deactivated or absent', async () => {
    await scene.person('bob@example.org');
    expect((await scene.login('bob@example.org', PASSWORD)).principal.workspace).toBeUndefined();
    await demo();
    await scene.database.execute('UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1', [
      DEMO_WORKSPACE_ID,
    ]);
    await scene.person('ada@example.org');
    expect((await scene.login('ada@example.org', PASSWORD)).principal.workspace).toBeUndefined();
  });

  it('turns invitations into memberships as of their date, those of inactive workspaces wait, and demo is left out', async () => {
    await demo();
    const inviter = await scene.person('inviter@example.org');
    const id = await scene.person('ada@example.org');
    await scene.database.execute(
      `INSERT INTO workspaces (name, display_name, deactivated_at) VALUES ('open', 'Open', NULL), ('older', 'Older', NULL), ('closed', 'Closed', NOW())`,
    );
    await scene.database.execute(
      `INSERT INTO workspace_invitations (workspace_id, email, author, admin, invited_by, invited_at)
       SELECT id, 'ada@example.org', TRUE, name = 'open', $1, NOW() - CASE name WHEN 'older' THEN INTERVAL '2 days' ELSE INTERVAL '1 day' END
       FROM workspaces WHERE name IN ('open', 'older', 'closed')`,
      [inviter],
    );
    const { principal } = await scene.login('ada@example.org', PASSWORD);
    expect(principal.workspace?.name).toBe('older');
    const members = await scene.database.query<{ name: string; admin: boolean }>(
      `SELECT w.name, m.admin FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = $1 ORDER BY m.joined_at`,
      [id],
    );
    expect(members).toEqual([
      { name: 'older', admin: false },
      { name: 'open', admin: true },
    ]);
    expect(await scene.database.query('SELECT email FROM workspace_invitations')).toHaveLength(1);
    expect(await scene.auditOf('workspace.invitation_materialised')).toHaveLength(2);
  });
});

import { describe, expect, it } from '@jest/globals';
import { MailDispatcher } from '#libs/mail';
import { WorkspacesModule } from '#libs/workspaces';
import { administrationScene } from '../../../test/fixtures/administration-scene.js';
import { identityInstance } from '../../../test/fixtures/identity.js';
import { codeOf, refusal } from '../../../test/fixtures/login-scene.js';
import { MailServer } from '../../../test/fixtures/mail-server.js';

const { accounts, erasure, root, rootId, scene, snapshot, standing, workspace } = administrationScene();

describe('who goes', () => {
  it('leaves word in the trail of content that nobody administers any more', async () => {
    const id = await scene.person('ada@example.org');
    const [alone] = [
      await workspace('alone', { [id]: 'admin' }),
      await workspace('shared', { [id]: 'admin', [rootId()]: 'admin' }),
    ];
    await workspace('empty', { [id]: 'admin' });
    for (const name of ['alone', 'shared']) {
      await scene.database.execute(
        `INSERT INTO templates (workspace_id, name, display_name, description, created_by)
         SELECT id, 't.sql', 't', '', $2 FROM workspaces WHERE name = $1`,
        [name, id],
      );
    }
    await standing().deactivate(root(), id);
    expect(await scene.auditOf('auth.workspace.stranded_content')).toMatchObject([
      { workspace_id: alone, counts: { templates: 1 } },
    ]);
    const members = await scene.database.query('SELECT 1 FROM workspace_members WHERE user_id = $1', [id]);
    expect(members).toHaveLength(3);
  });

  it('is erased by closing the account, where that is the rule', async () => {
    const id = await scene.person('ada@example.org');
    const erased = await erasure().erase(root(), id);
    expect(erased).toMatchObject({ is_active: false, email: 'ada@example.org' });
    expect(await scene.auditOf('auth.user.erased')).toMatchObject([{ mode: 'deactivate' }]);
  });

  it('is anonymised: nothing of the person stays in any row but the trail, history keeps its id, the address is free', async () => {
    const server = await MailServer.start();
    const anonymising = await identityInstance({
      database: scene.database,
      options: { userErasure: 'anonymise' },
      modules: [WorkspacesModule],
      mail: { port: server.port, opsTo: 'ops@example.com' },
    });
    const { user } = await accounts(anonymising).create(root(), {
      email: 'ada@example.org',
      display_name: 'Ada Lovelace',
    });
    await anonymising.get(MailDispatcher).settled();
    const { id } = user;
    await workspace('team', { [id]: 'viewer' });
    await scene.database.execute(
      `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash, scopes, kind)
       SELECT 'dpk_AAAAAAAAAAAA', $1, id, 'k', 'h', '{read}', 'user' FROM workspaces WHERE name = 'team'`,
      [id],
    );
    const erased = await erasure(anonymising).erase(root(), id);
    expect(erased).toMatchObject({
      id,
      email: `erased-${id}@erased.invalid`,
      display_name: 'Erased user',
      provider: 'erased',
      is_active: false,
      has_password: false,
    });
    const rows = await scene.database.query<{ row: string }>(
      `SELECT u::text AS row FROM users u UNION ALL SELECT m::text FROM mail_sends m UNION ALL SELECT k::text FROM api_keys k
       UNION ALL SELECT s::text FROM user_sessions s WHERE s.user_id = $1`,
      [id],
    );
    for (const { row } of rows) expect(row).not.toMatch(/ada@example\.org|Ada Lovelace|192\.0\.2/);
    expect(
      await scene.database.query('SELECT 1 FROM mail_sends WHERE recipient = $1', ['ops@example.com']),
    ).toHaveLength(1);
    expect(await scene.database.query('SELECT 1 FROM api_keys WHERE NOT is_revoked')).toEqual([]);
    expect(await scene.auditOf('workspace.member_removed')).toMatchObject([
      { target_user_id: id, reason: 'erased', workspace: 'team' },
    ]);
    expect(await scene.auditOf('auth.api_key.revoked')).toMatchObject([{ owner_id: id, reason: 'owner_erased' }]);
    expect(await scene.auditOf('auth.user.erased')).toMatchObject([{ mode: 'anonymise' }]);
    expect(await codeOf(standing(anonymising).activate(root(), id))).toBe('auth.user.not_found');
    expect(await codeOf(accounts(anonymising).create(root(), { email: 'ada@example.org' }))).toBe('accepted');
    await anonymising.close();
    await server.close();
  });

  it('is not erased as the last administrator of a workspace or of the instance, nor by himself, and nothing changes', async () => {
    const anonymising = await identityInstance({
      database: scene.database,
      options: { userErasure: 'anonymise' },
      modules: [WorkspacesModule],
    });
    const erase = (id: string) => refusal(erasure(anonymising).erase(root(), id));
    const id = await scene.person('ada@example.org', { is_admin: true });
    await workspace('first', { [id]: 'viewer' });
    await workspace('alone', { [id]: 'admin' });
    const before = await snapshot();
    expect(await erase(id)).toMatchObject({ code: 'workspace.last_admin', body: { details: { workspace: 'alone' } } });
    expect(await erase(rootId())).toMatchObject({
      code: 'pipeline.execution.invalid_parameter_type',
      body: { details: { reason: 'self' } },
    });
    expect(await snapshot()).toBe(before);
    await anonymising.close();
  });
});

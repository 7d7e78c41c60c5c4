import { describe, expect, it } from '@jest/globals';
import { DEFAULT_WORKSPACE_ID } from '#libs/identity';
import { identityInstance } from '../../test/fixtures/identity.js';
import { ADMIN, codeOf, refusal, workspaceScene } from '../../test/fixtures/workspace-scene.js';
import { WorkspacesModule } from './workspaces.module.js';

const scene = workspaceScene();

describe('workspaces', () => {
  it('are created by super admins only, who get no membership by it', async () => {
    const made = await scene.workspaces().create(scene.root, { name: 'lending', display_name: ' Lending ' });
    expect(made).toMatchObject({
      name: 'lending',
      display_name: 'Lending',
      is_active: true,
      is_personal: false,
      created_by: scene.root.userId,
    });
    expect(await scene.database.query('SELECT user_id FROM workspace_members')).toEqual([]);
    expect(await scene.auditOf('auth.workspace.created')).toMatchObject([
      { name: 'lending', workspace: 'lending', acting_via: 'super_admin' },
    ]);
    const admin = await scene.join(await scene.account('adm@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    expect(await codeOf(scene.workspaces().create(admin, { name: 'mine' }))).toBe('auth.role_required');
  });

  it.each(['', 'Lending', 'a b', 'ä', 'x'.repeat(64), '../x', 'a/b', 7, null, undefined])(
    'refuses the name %j',
    async (name) => {
      expect(await codeOf(scene.workspaces().create(scene.root, { name }))).toBe('workspace.validation.name_invalid');
    },
  );

  it('keeps a name taken for ever, by deleted workspaces too, also when two creations race', async () => {
    const codes = await Promise.all(
      [1, 2].map(() => codeOf(scene.workspaces().create(scene.root, { name: 'lending' }))),
    );
    expect(codes.sort()).toEqual(['accepted', 'workspace.validation.duplicate_name']);
    await scene.lifecycle().remove(scene.root, 'lending');
    expect(await codeOf(scene.workspaces().create(scene.root, { name: 'lending' }))).toBe(
      'workspace.validation.duplicate_name',
    );
    expect(await scene.auditOf('auth.workspace.created')).toHaveLength(1);
  });

  it('look the same when unknown, foreign and inactive: one status and one body', async () => {
    await scene.workspaces().create(scene.root, { name: 'foreign' });
    await scene.workspaces().create(scene.root, { name: 'asleep' });
    const eve = await scene.join(await scene.account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    const [row] = await scene.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'asleep'`);
    await scene.join({ id: eve.userId, email: eve.email, isAdmin: false }, row?.id ?? '', ADMIN);
    await scene.lifecycle().deactivate(scene.root, 'asleep');
    const seen = [];
    for (const name of ['foreign', 'asleep', 'unknown', "x' OR '1'='1", '']) {
      seen.push(await refusal(scene.workspaces().read(eve, name)), await refusal(scene.members().list(eve, name)));
      seen.push(
        await refusal(scene.members().add(eve, name, { email: 'a@b.cd' })),
        await refusal(scene.workspaces().switchTo(eve, name, 'x')),
      );
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ code: 'workspace.not_found', status: 404 });
    expect(await codeOf(scene.workspaces().read(scene.root, 'asleep'))).toBe('workspace.inactive');
  });

  it('are judged by the flags held in the named one, not in the active one', async () => {
    await scene.workspaces().create(scene.root, { name: 'lending' });
    const ada = await scene.account('ada@example.org');
    await scene.join(ada, DEFAULT_WORKSPACE_ID);
    const [row] = await scene.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'lending'`);
    await scene.database.execute(
      `INSERT INTO workspace_members (workspace_id, user_id, author, admin) VALUES ($1, $2, TRUE, TRUE)`,
      [row?.id, ada.id],
    );
    const fresh = await identityInstance({ database: scene.database, modules: [WorkspacesModule] });
    const viewerAtHome = await scene.session(ada, fresh);
    expect(viewerAtHome.workspace?.name).toBe('default');
    expect(await codeOf(scene.workspaces(fresh).update(viewerAtHome, 'lending', { display_name: 'New' }))).toBe(
      'accepted',
    );
    expect(await codeOf(scene.workspaces(fresh).update(viewerAtHome, 'default', { display_name: 'New' }))).toBe(
      'auth.role_required',
    );
    expect(await scene.auditOf('auth.workspace.updated')).toMatchObject([
      { workspace: 'lending', from: { display_name: 'lending' }, to: { display_name: 'New' } },
    ]);
    await fresh.close();
  });

  it('are listed by membership, all of them to super admins, and only the pin to a key', async () => {
    await scene.workspaces().create(scene.root, { name: 'lending' });
    await scene.lifecycle().deactivate(scene.root, 'lending');
    const eve = await scene.join(await scene.account('eve@example.org'), DEFAULT_WORKSPACE_ID, { promoter: true });
    expect((await scene.workspaces().list(eve)).items).toMatchObject([{ name: 'default', flags: { promoter: true } }]);
    const all = await scene.workspaces().list(scene.root);
    expect(all.items.map(({ name, is_active, flags }) => [name, is_active, flags])).toEqual([
      ['default', true, undefined],
      ['lending', false, undefined],
    ]);
    const key = { ...eve, method: 'api_key', keyKind: 'user', keyId: 'dpk_AAAAAAAAAAAA', scopes: ['author'] } as const;
    expect((await scene.workspaces().list(key)).items.map(({ name }) => name)).toEqual(['default']);
    expect(await codeOf(scene.workspaces().read(key, 'lending'))).toBe('workspace.not_found');
    expect(await codeOf(scene.workspaces().switchTo(key, 'default', 'x'))).toBe('workspace.session_required');
  });
});

import { describe, expect, it } from '@jest/globals';
import { DEFAULT_WORKSPACE_ID, DEMO_WORKSPACE_ID } from '#libs/identity';
import { writeJson, type JsonObject } from '#libs/kernel';
import { ensureDemoWorkspace } from './demo-workspace.js';
import { eventually } from '../../test/fixtures/eventually.js';
import { ADMIN, codeOf, refusal, workspaceScene } from '../../test/fixtures/workspace-scene.js';

const scene = workspaceScene();

describe('the life of a workspace', () => {
  it('deactivation is undone by reactivation, both once, both audited once', async () => {
    const eve = await scene.join(await scene.account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    expect(await codeOf(scene.lifecycle().deactivate(eve, 'default'))).toBe('auth.role_required');
    for (let n = 0; n < 2; n++) {
      expect(await scene.lifecycle().deactivate(scene.root, 'default')).toMatchObject({
        is_active: false,
        deactivated_by: scene.root.userId,
      });
    }
    expect(await codeOf(scene.workspaces().read(eve, 'default'))).toBe('accepted');
    expect(
      await codeOf(
        scene.workspaces().read(await scene.session({ id: eve.userId, email: eve.email, isAdmin: false }), 'default'),
      ),
    ).toBe('workspace.not_found');
    for (let n = 0; n < 2; n++)
      expect(await scene.lifecycle().reactivate(scene.root, 'default')).toMatchObject({
        is_active: true,
        deactivated_by: null,
      });
    expect(
      [await scene.auditOf('workspace.deactivated'), await scene.auditOf('workspace.reactivated')].map(
        (rows) => rows.length,
      ),
    ).toEqual([1, 1]);
    expect(
      await codeOf(
        scene.workspaces().read(await scene.session({ id: eve.userId, email: eve.email, isAdmin: false }), 'default'),
      ),
    ).toBe('accepted');
  });

  it('deactivation counts in the trail what nobody reaches from then on; a workspace without content strands nothing', async () => {
    const made = await scene.workspaces().create(scene.root, { name: 'lending' });
    await scene.lifecycle().deactivate(scene.root, 'lending');
    expect(await scene.auditOf('auth.workspace.stranded_content')).toEqual([]);
    await scene.lifecycle().reactivate(scene.root, 'lending');
    await scene.database.execute(
      `INSERT INTO templates (workspace_id, name, display_name, created_by) VALUES ($1, 'a/b', 'T', $2)`,
      [made.id, scene.root.userId],
    );
    await scene.lifecycle().deactivate(scene.root, 'lending');
    const [row] = (await scene.auditOf('auth.workspace.stranded_content')) as JsonObject[];
    expect(row?.workspace_id).toBe(made.id);
    expect(writeJson(row?.counts)).toBe('{"keys":0,"endpoints":0,"pipelines":0,"templates":1,"datasources":0}');
    expect(await scene.database.query('SELECT 1 FROM templates')).toHaveLength(1);
  });

  it('deletion takes only an empty one, and tells what is in the way', async () => {
    const made = await scene.workspaces().create(scene.root, { name: 'lending' });
    const eve = await scene.join(await scene.account('eve@example.org'), made.id, ADMIN);
    await scene.database.execute(
      `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash) VALUES ('dpk_AAAAAAAAAAAA', $1, $2, 'k', 'h')`,
      [eve.userId, made.id],
    );
    const refused = await refusal(scene.lifecycle().remove(scene.root, 'lending'));
    expect(refused).toMatchObject({
      code: 'workspace.in_use',
      status: 409,
      body: { details: { counts: { pipelines: 0, templates: 0, endpoints: 0, datasources: 0, api_keys: 1 } } },
    });
    await scene.database.execute('UPDATE api_keys SET is_revoked = TRUE');
    await scene.members().add(scene.root, 'lending', { email: 'later@example.org' });
    await scene.lifecycle().deactivate(scene.root, 'lending');
    await scene.lifecycle().remove(scene.root, 'lending');
    expect(await codeOf(scene.lifecycle().remove(scene.root, 'lending'))).toBe('workspace.not_found');
    expect(await codeOf(scene.lifecycle().reactivate(scene.root, 'lending'))).toBe('workspace.not_found');
    const left = await scene.database.query(
      'SELECT 1 FROM workspace_members UNION ALL SELECT 1 FROM workspace_invitations',
    );
    expect(left).toEqual([]);
    expect(await scene.auditOf('auth.workspace.deleted')).toMatchObject([{ name: 'lending' }]);
  });
});

describe('deletion beside others', () => {
  it('waits for content that is being written, and then finds it: nothing is left behind in a deleted workspace', async () => {
    const made = await scene.workspaces().create(scene.root, { name: 'lending' });
    let written: () => void = () => undefined;
    const writing = new Promise<void>((resolve) => (written = resolve));
    let commit: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (commit = resolve));
    const author = scene.database.transaction(async (tx) => {
      await tx.execute(
        `INSERT INTO templates (workspace_id, name, display_name, created_by) VALUES ($1, 'a/b', 'T', $2)`,
        [made.id, scene.root.userId],
      );
      written();
      await held;
    });
    await writing;
    let over = false;
    const deletion = codeOf(scene.lifecycle().remove(scene.root, 'lending')).finally(() => (over = true));
    await eventually('the deletion waits, or is over', async () => {
      const [waiting] = await scene.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting !== undefined || over;
    });
    commit();
    await author;
    expect(await deletion).toBe('workspace.in_use');
  });
});

describe('the demo workspace', () => {
  it('is made once and never again, whatever became of it', async () => {
    const ensure = () => scene.database.transaction((tx) => ensureDemoWorkspace(tx));
    expect(await ensure()).toEqual({ created: true, active: true });
    expect(await ensure()).toEqual({ created: false, active: true });
    await scene.lifecycle().deactivate(scene.root, 'demo');
    expect(await ensure()).toEqual({ created: false, active: false });
    await scene.lifecycle().remove(scene.root, 'demo');
    expect(await ensure()).toEqual({ created: false, active: false });
    const rows = await scene.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'demo'`);
    expect(rows).toEqual([{ id: DEMO_WORKSPACE_ID }]);
  });
});

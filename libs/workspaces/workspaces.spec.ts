import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditRepository } from '#libs/audit';
import { BootstrapAdmin, DEFAULT_WORKSPACE_ID, DEMO_WORKSPACE_ID, WorkspaceDirectory } from '#libs/identity';
import { isPenstockError, type MemberFlags, type Principal } from '#libs/kernel';
import { identityInstance, type TestInstance } from '../../test/fixtures/identity.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { AuditReader } from './audit-reader.js';
import { ensureDemoWorkspace } from './demo-workspace.js';
import { MemberService } from './member.service.js';
import { WorkspaceLifecycle } from './workspace-lifecycle.js';
import { WorkspaceService } from './workspace.service.js';
import { WorkspacesModule } from './workspaces.module.js';

let db: TestDatabase;
let instance: TestInstance;
let root: Principal;

beforeEach(async () => {
  db = await createTestDatabase();
  instance = await identityInstance({ database: db.database, modules: [WorkspacesModule] });
  root = await session(await account('root@example.org', true));
});
afterEach(async () => {
  await instance.close();
  await db.drop();
});

const NONE: MemberFlags = { author: false, promoter: false, admin: false };
const ADMIN: MemberFlags = { author: true, promoter: false, admin: true };

interface Account {
  id: string;
  email: string;
  isAdmin: boolean;
}

async function account(email: string, isAdmin = false): Promise<Account> {
  const [row] = await db.database.query<{ id: string }>(
    `INSERT INTO users (email, display_name, provider, provider_subject, is_admin) VALUES ($1, $1, 'local', $1, $2) RETURNING id`,
    [email, isAdmin],
  );
  return { id: row?.id ?? '', email, isAdmin };
}

/** A principal as the authenticator makes one; call it again for fresh flags. */
async function session({ id, email, isAdmin }: Account, on = instance): Promise<Principal> {
  const workspace = await on.get(WorkspaceDirectory).select({ id, isAdmin }, {});
  return {
    userId: id,
    email,
    displayName: email,
    method: 'session',
    surface: 'session',
    scopes: [],
    superAdmin: isAdmin,
    mustChangePassword: false,
    correlationId: '00000000-0000-4000-8000-000000000001',
    ...(workspace ? { workspace } : {}),
  };
}

async function join(who: Account, workspaceId: string, flags: Partial<MemberFlags> = {}): Promise<Principal> {
  const { author, promoter, admin } = { ...NONE, ...flags };
  await db.database.execute(
    'INSERT INTO workspace_members (workspace_id, user_id, author, promoter, admin) VALUES ($1, $2, $3, $4, $5)',
    [workspaceId, who.id, author, promoter, admin],
  );
  return session(who);
}

const workspaces = (on = instance) => on.get(WorkspaceService);
const members = (on = instance) => on.get(MemberService);
const lifecycle = () => instance.get(WorkspaceLifecycle);

async function refusal(attempt: Promise<unknown>): Promise<{ code: string; status?: number; body?: unknown }> {
  try {
    await attempt;
    return { code: 'accepted' };
  } catch (error) {
    if (isPenstockError(error)) return { code: error.code, status: error.status, body: error.toBody() };
    throw error;
  }
}
const codeOf = async (attempt: Promise<unknown>) => (await refusal(attempt)).code;

const auditOf = async (event: string) =>
  (await new AuditRepository().page(db.database, { eventPrefix: event }, { limit: 200 }))
    .map(({ details }) => details)
    .reverse();

describe('workspaces', () => {
  it('are created by super admins only, who get no membership by it', async () => {
    const made = await workspaces().create(root, { name: 'lending', display_name: ' Lending ' });
    expect(made).toMatchObject({
      name: 'lending',
      display_name: 'Lending',
      is_active: true,
      is_personal: false,
      created_by: root.userId,
    });
    expect(await db.database.query('SELECT user_id FROM workspace_members')).toEqual([]);
    expect(await auditOf('auth.workspace.created')).toMatchObject([
      { name: 'lending', workspace: 'lending', acting_via: 'super_admin' },
    ]);
    const admin = await join(await account('adm@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    expect(await codeOf(workspaces().create(admin, { name: 'mine' }))).toBe('auth.role_required');
  });

  it.each(['', 'Lending', 'a b', 'ä', 'x'.repeat(64), '../x', 'a/b', 7, null, undefined])(
    'refuses the name %j',
    async (name) => {
      expect(await codeOf(workspaces().create(root, { name }))).toBe('workspace.validation.name_invalid');
    },
  );

  it('keeps a name taken for ever, by deleted workspaces too, also when two creations race', async () => {
    const codes = await Promise.all([1, 2].map(() => codeOf(workspaces().create(root, { name: 'lending' }))));
    expect(codes.sort()).toEqual(['accepted', 'workspace.validation.duplicate_name']);
    await lifecycle().remove(root, 'lending');
    expect(await codeOf(workspaces().create(root, { name: 'lending' }))).toBe('workspace.validation.duplicate_name');
    expect(await auditOf('auth.workspace.created')).toHaveLength(1);
  });

  it('look the same when unknown, foreign and inactive: one status and one body', async () => {
    await workspaces().create(root, { name: 'foreign' });
    await workspaces().create(root, { name: 'asleep' });
    const eve = await join(await account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    const [row] = await db.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'asleep'`);
    await join({ id: eve.userId, email: eve.email, isAdmin: false }, row?.id ?? '', ADMIN);
    await lifecycle().deactivate(root, 'asleep');
    const seen = [];
    for (const name of ['foreign', 'asleep', 'unknown', "x' OR '1'='1", '']) {
      seen.push(await refusal(workspaces().read(eve, name)), await refusal(members().list(eve, name)));
      seen.push(
        await refusal(members().add(eve, name, { email: 'a@b.cd' })),
        await refusal(workspaces().switchTo(eve, name, 'x')),
      );
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ code: 'workspace.not_found', status: 404 });
    expect(await codeOf(workspaces().read(root, 'asleep'))).toBe('workspace.inactive');
  });

  it('are judged by the flags held in the named one, not in the active one', async () => {
    await workspaces().create(root, { name: 'lending' });
    const ada = await account('ada@example.org');
    await join(ada, DEFAULT_WORKSPACE_ID);
    const [row] = await db.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'lending'`);
    await db.database.execute(
      `INSERT INTO workspace_members (workspace_id, user_id, author, admin) VALUES ($1, $2, TRUE, TRUE)`,
      [row?.id, ada.id],
    );
    const fresh = await identityInstance({ database: db.database, modules: [WorkspacesModule] });
    const viewerAtHome = await session(ada, fresh);
    expect(viewerAtHome.workspace?.name).toBe('default');
    expect(await codeOf(workspaces(fresh).update(viewerAtHome, 'lending', { display_name: 'New' }))).toBe('accepted');
    expect(await codeOf(workspaces(fresh).update(viewerAtHome, 'default', { display_name: 'New' }))).toBe(
      'auth.role_required',
    );
    expect(await auditOf('auth.workspace.updated')).toMatchObject([
      { workspace: 'lending', from: { display_name: 'lending' }, to: { display_name: 'New' } },
    ]);
    await fresh.close();
  });

  it('are listed by membership, all of them to super admins, and only the pin to a key', async () => {
    await workspaces().create(root, { name: 'lending' });
    await lifecycle().deactivate(root, 'lending');
    const eve = await join(await account('eve@example.org'), DEFAULT_WORKSPACE_ID, { promoter: true });
    expect((await workspaces().list(eve)).items).toMatchObject([{ name: 'default', flags: { promoter: true } }]);
    const all = await workspaces().list(root);
    expect(all.items.map(({ name, is_active, flags }) => [name, is_active, flags])).toEqual([
      ['default', true, undefined],
      ['lending', false, undefined],
    ]);
    const key = { ...eve, method: 'api_key', keyKind: 'user', keyId: 'dpk_AAAAAAAAAAAA', scopes: ['author'] } as const;
    expect((await workspaces().list(key)).items.map(({ name }) => name)).toEqual(['default']);
    expect(await codeOf(workspaces().read(key, 'lending'))).toBe('workspace.not_found');
    expect(await codeOf(workspaces().switchTo(key, 'default', 'x'))).toBe('workspace.session_required');
  });
});

describe('the life of a workspace', () => {
  it('deactivation is undone by reactivation, both once, both audited once', async () => {
    const eve = await join(await account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    expect(await codeOf(lifecycle().deactivate(eve, 'default'))).toBe('auth.role_required');
    for (let n = 0; n < 2; n++) {
      expect(await lifecycle().deactivate(root, 'default')).toMatchObject({
        is_active: false,
        deactivated_by: root.userId,
      });
    }
    expect(await codeOf(workspaces().read(eve, 'default'))).toBe('accepted');
    expect(
      await codeOf(workspaces().read(await session({ id: eve.userId, email: eve.email, isAdmin: false }), 'default')),
    ).toBe('workspace.not_found');
    for (let n = 0; n < 2; n++)
      expect(await lifecycle().reactivate(root, 'default')).toMatchObject({ is_active: true, deactivated_by: null });
    expect(
      [await auditOf('workspace.deactivated'), await auditOf('workspace.reactivated')].map((rows) => rows.length),
    ).toEqual([1, 1]);
    expect(
      await codeOf(workspaces().read(await session({ id: eve.userId, email: eve.email, isAdmin: false }), 'default')),
    ).toBe('accepted');
  });

  it('deletion takes only an empty one, and tells what is in the way', async () => {
    const made = await workspaces().create(root, { name: 'lending' });
    const eve = await join(await account('eve@example.org'), made.id, ADMIN);
    await db.database.execute(
      `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash) VALUES ('dpk_AAAAAAAAAAAA', $1, $2, 'k', 'h')`,
      [eve.userId, made.id],
    );
    const refused = await refusal(lifecycle().remove(root, 'lending'));
    expect(refused).toMatchObject({
      code: 'workspace.in_use',
      status: 409,
      body: { details: { counts: { pipelines: 0, templates: 0, endpoints: 0, datasources: 0, api_keys: 1 } } },
    });
    await db.database.execute('UPDATE api_keys SET is_revoked = TRUE');
    await members().add(root, 'lending', { email: 'later@example.org' });
    await lifecycle().deactivate(root, 'lending');
    await lifecycle().remove(root, 'lending');
    expect(await codeOf(lifecycle().remove(root, 'lending'))).toBe('workspace.not_found');
    expect(await codeOf(lifecycle().reactivate(root, 'lending'))).toBe('workspace.not_found');
    const left = await db.database.query(
      'SELECT 1 FROM workspace_members UNION ALL SELECT 1 FROM workspace_invitations',
    );
    expect(left).toEqual([]);
    expect(await auditOf('auth.workspace.deleted')).toMatchObject([{ name: 'lending' }]);
  });
});

describe('members', () => {
  let eve: Principal;
  beforeEach(async () => {
    eve = await join(await account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
  });

  it('are added by address; admin brings author; adding again changes nothing', async () => {
    const ada = await account('ada@example.org');
    const added = await members().add(eve, 'default', { email: ' ADA@example.org ', admin: true });
    expect(added).toMatchObject({ member: { user_id: ada.id, author: true, promoter: false, admin: true } });
    expect(await members().add(eve, 'default', { email: 'ada@example.org' })).toMatchObject({
      member: { admin: true },
    });
    expect(await auditOf('workspace.member_added')).toMatchObject([{ target_user_id: ada.id, flags: ADMIN }]);
  });

  it('wait as invitations until they have an account; a second invitation replaces the first', async () => {
    const body = { email: 'bob@example.org', author: true };
    expect(await members().add(eve, 'default', body)).toEqual({
      invited: true,
      email: 'bob@example.org',
      flags: { ...NONE, author: true },
    });
    await members().add(eve, 'default', { email: 'bob@example.org', promoter: true });
    const { invitations, members: rows } = await members().list(eve, 'default');
    expect(invitations).toMatchObject([
      { email: 'bob@example.org', author: false, promoter: true, invited_by: eve.userId },
    ]);
    expect(rows.map(({ email }) => email)).toEqual(['eve@example.org']);
    expect(await auditOf('workspace.member_invited')).toHaveLength(2);
    await members().revokeInvitation(eve, 'default', 'Bob@Example.org');
    expect(await codeOf(members().revokeInvitation(eve, 'default', 'bob@example.org'))).toBe(
      'workspace.invitation.not_found',
    );
  });

  it('never include the system actor', async () => {
    await db.database.execute(
      `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('system@system.invalid', 'System', 'system', 'system')`,
    );
    expect(await members().add(eve, 'default', { email: 'system@system.invalid' })).toMatchObject({ invited: true });
  });

  it.each([
    [{}, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 5 }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'nobody' }, 'auth.user.email_invalid'],
    [{ email: 'a@b.cd', admin: 'true' }, 'pipeline.execution.invalid_parameter_type'],
    [{ email: 'a@b.cd', author: 1 }, 'pipeline.execution.invalid_parameter_type'],
  ])('refuses the body %j with %s', async (body, code) => {
    expect(await codeOf(members().add(eve, 'default', body))).toBe(code);
  });

  it('are managed by administrators only; others see no address and no invitation', async () => {
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, { author: true, promoter: true });
    await members().add(eve, 'default', { email: 'bob@example.org' });
    expect(await codeOf(members().add(ada, 'default', { email: 'x@y.zz' }))).toBe('auth.role_required');
    expect(await codeOf(members().setFlags(ada, 'default', ada.userId, { admin: true }))).toBe('auth.role_required');
    expect(await codeOf(members().remove(ada, 'default', eve.userId))).toBe('auth.role_required');
    const seen = await members().list(ada, 'default');
    expect(seen.invitations).toEqual([]);
    expect(seen.members.map(({ email }) => email)).toEqual([undefined, 'ada@example.org']);
  });

  it('have flags replaced, and the change says what was before', async () => {
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, { author: true });
    expect(await members().setFlags(eve, 'default', ada.userId, { promoter: true })).toMatchObject({
      author: false,
      promoter: true,
    });
    await members().setFlags(eve, 'default', ada.userId, { promoter: true });
    expect(await auditOf('workspace.member_flags_changed')).toMatchObject([
      { target_user_id: ada.userId, from: { ...NONE, author: true }, to: { ...NONE, promoter: true } },
    ]);
    const stranger = await account('stranger@example.org');
    for (const id of [stranger.id, 'not an id', '00000000-0000-4000-8000-000000000009'])
      expect(await codeOf(members().setFlags(eve, 'default', id, {}))).toBe('workspace.not_found');
  });

  it('keep one administrator: the last can neither step down nor leave nor be removed', async () => {
    expect(await codeOf(members().setFlags(eve, 'default', eve.userId, { author: true }))).toBe('workspace.last_admin');
    expect(await codeOf(members().remove(eve, 'default', eve.userId))).toBe('workspace.last_admin');
    expect(await codeOf(members().remove(root, 'default', eve.userId))).toBe('workspace.last_admin');
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    await members().remove(ada, 'default', eve.userId);
    expect(await codeOf(members().remove(ada, 'default', ada.userId))).toBe('workspace.last_admin');
    expect(await auditOf('workspace.member_removed')).toHaveLength(1);
  });

  it('lets one of two administrators win who demote each other on two instances', async () => {
    const other = await identityInstance({
      database: db.database,
      channel: instance.channel,
      modules: [WorkspacesModule],
    });
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    for (let round = 0; round < 5; round++) {
      const codes = await Promise.all([
        codeOf(members().setFlags(eve, 'default', ada.userId, {})),
        codeOf(members(other).setFlags(ada, 'default', eve.userId, {})),
      ]);
      expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
      const [row] = await db.database.query<{ admins: number }>(
        'SELECT count(*)::int AS admins FROM workspace_members WHERE admin',
      );
      expect(row?.admins).toBe(1);
      await db.database.execute('UPDATE workspace_members SET author = TRUE, admin = TRUE');
    }
    await other.close();
  });

  it('does not let a demoted administrator act on flags that a cache still believes', async () => {
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    // The row changes behind every cache's back: only the row may decide.
    await db.database.execute('UPDATE workspace_members SET admin = FALSE WHERE user_id = $1', [ada.userId]);
    expect(await codeOf(members().setFlags(ada, 'default', ada.userId, { admin: true }))).toBe('auth.role_required');
    expect(await codeOf(members().add(ada, 'default', { email: 'friend@example.org' }))).toBe('auth.role_required');
    expect(await db.database.query('SELECT email FROM workspace_invitations')).toEqual([]);
  });

  it('does not orphan an invitation when the account is made at the same moment', async () => {
    const other = await identityInstance({
      database: db.database,
      options: { bootstrapAdminEmail: 'new@example.org', embedded: true },
      modules: [WorkspacesModule],
    });
    const [outcome] = await Promise.all([
      members().add(eve, 'default', { email: 'new@example.org', author: true }),
      other.get(BootstrapAdmin).ensure(),
    ]);
    const [row] = await db.database.query<{ members: number; invitations: number }>(
      `SELECT (SELECT count(*)::int FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE u.email = 'new@example.org') AS members,
              (SELECT count(*)::int FROM workspace_invitations) AS invitations`,
    );
    expect(row).toEqual('member' in outcome ? { members: 1, invitations: 0 } : { members: 0, invitations: 1 });
    await other.close();
  });
});

describe('the demo workspace', () => {
  it('is made once and never again, whatever became of it', async () => {
    const ensure = () => db.database.transaction((tx) => ensureDemoWorkspace(tx));
    expect(await ensure()).toEqual({ created: true, active: true });
    expect(await ensure()).toEqual({ created: false, active: true });
    await lifecycle().deactivate(root, 'demo');
    expect(await ensure()).toEqual({ created: false, active: false });
    await lifecycle().remove(root, 'demo');
    expect(await ensure()).toEqual({ created: false, active: false });
    const rows = await db.database.query<{ id: string }>(`SELECT id FROM workspaces WHERE name = 'demo'`);
    expect(rows).toEqual([{ id: DEMO_WORKSPACE_ID }]);
  });
});

describe('reading the trail', () => {
  it('shows administrators their workspace, super admins the instance, others nothing', async () => {
    const eve = await join(await account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    const ada = await join(await account('ada@example.org'), DEFAULT_WORKSPACE_ID, { author: true });
    await workspaces().create(root, { name: 'elsewhere' });
    for (let n = 0; n < 3; n++) await members().add(eve, 'default', { email: `p${n}@example.org` });
    const reader = instance.get(AuditReader);
    const events = async (who: Principal, instance_ = false) =>
      (await reader.list(who, { instance: instance_ })).items.map(({ event }) => event);
    expect(await events(eve)).toEqual(Array(3).fill('workspace.member_invited'));
    expect(await events(root, true)).toEqual([...Array(3).fill('workspace.member_invited'), 'auth.workspace.created']);
    expect(await codeOf(events(eve, true))).toBe('auth.role_required');
    expect(await codeOf(events(ada))).toBe('auth.role_required');

    const first = await reader.list(eve, {}, { first: 2 });
    expect([first.items.length, first.hasNext, first.hasPrevious]).toEqual([2, true, false]);
    const rest = await reader.list(eve, {}, { first: 2, after: first.items[1]?.cursor });
    expect([rest.items.length, rest.hasNext, rest.hasPrevious]).toEqual([1, false, true]);
    const back = await reader.list(eve, {}, { last: 2, before: rest.items[0]?.cursor });
    expect(back.items.map(({ id }) => id)).toEqual(first.items.map(({ id }) => id));
    expect((await reader.list(eve, {}, { last: 1 })).items[0]?.id).toBe(rest.items[0]?.id);
    for (const after of ['', 'x', '2026-01-01T00:00:00Z,1;DROP', '2026-01-01T00:00:00Z'])
      expect(await codeOf(reader.list(eve, {}, { after }))).toBe('pipeline.execution.invalid_parameter_type');
  });
});

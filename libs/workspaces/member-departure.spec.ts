import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_WORKSPACE_ID, UserErasure, UserStanding } from '#libs/identity';
import { eventually } from '../../test/fixtures/eventually.js';
import { identityInstance, type TestInstance } from '../../test/fixtures/identity.js';
import type { Account } from '../../test/fixtures/session-of.js';
import { ADMIN, codeOf, workspaceScene } from '../../test/fixtures/workspace-scene.js';
import { WorkspacesModule } from './workspaces.module.js';

const scene = workspaceScene();

let instance: TestInstance;
/** The administrators of a workspace that holds something; the third is a member only. */
let eve: Account;
let ada: Account;
let bob: Account;

beforeEach(async () => {
  instance = await identityInstance({
    database: scene.database,
    options: { userErasure: 'anonymise' },
    modules: [WorkspacesModule],
  });
  [eve, ada, bob] = [
    await scene.account('eve@example.org'),
    await scene.account('ada@example.org'),
    await scene.account('bob@example.org'),
  ];
  for (const admin of [eve, ada]) await scene.join(admin, DEFAULT_WORKSPACE_ID, ADMIN);
  await scene.join(bob, DEFAULT_WORKSPACE_ID);
  await scene.database.execute(
    `INSERT INTO templates (workspace_id, name, display_name, description, created_by) VALUES ($1, 't.sql', 't', '', $2)`,
    [DEFAULT_WORKSPACE_ID, eve.id],
  );
});
afterEach(() => instance.close());

const ACTS = {
  demote: (who: Account) => scene.members(instance).setFlags(scene.root, 'default', who.id, {}),
  promote: (who: Account) => scene.members(instance).setFlags(scene.root, 'default', who.id, { ...ADMIN }),
  remove: (who: Account) => scene.members(instance).remove(scene.root, 'default', who.id),
  deactivate: (who: Account) => instance.get(UserStanding).deactivate(scene.root, who.id),
  erase: (who: Account) => instance.get(UserErasure).erase(scene.root, who.id),
};
type Act = [verb: keyof typeof ACTS, who: 'eve' | 'ada' | 'bob'];

/** Acts that all wait for one workspace and get it in this order; what each caller is told. */
async function inOrder(acts: readonly Act[]): Promise<string[]> {
  const attempts: Promise<string>[] = [];
  let done = 0;
  await scene.database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [DEFAULT_WORKSPACE_ID]);
    for (const [verb, who] of acts) {
      attempts.push(codeOf(ACTS[verb]({ eve, ada, bob }[who])).finally(() => (done += 1)));
      // One that is not held up is through, and shows in what was told.
      await eventually(`${verb} waits`, async () => (await waiting()) + done === attempts.length);
    }
  });
  return Promise.all(attempts);
}

/** How many backends of this database wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await scene.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

/** Administrators who can come in, and how often the trail told that content has none. */
async function left(): Promise<{ admins: number; stranded: number }> {
  const [row] = await scene.database.query<{ admins: number }>(
    `SELECT count(*)::int AS admins FROM workspace_members m JOIN users u ON u.id = m.user_id
      WHERE m.admin AND u.is_active`,
  );
  return { admins: row?.admins ?? 0, stranded: (await scene.auditOf('auth.workspace.stranded_content')).length };
}

const OK = 'accepted';
const LAST = 'workspace.last_admin';

describe('the last administrator, where two go at the same moment', () => {
  it.each<[order: Act[], told: string[]]>([
    [[['demote', 'ada'], ['remove', 'eve']], [OK, LAST]],
    [[['remove', 'ada'], ['demote', 'eve']], [OK, LAST]],
    [[['remove', 'ada'], ['remove', 'eve']], [OK, LAST]],
    [[['demote', 'ada'], ['erase', 'eve']], [OK, LAST]],
    [[['erase', 'ada'], ['demote', 'eve']], [OK, LAST]],
    [[['remove', 'ada'], ['erase', 'eve']], [OK, LAST]],
    [[['erase', 'ada'], ['remove', 'eve']], [OK, LAST]],
    [[['erase', 'ada'], ['erase', 'eve']], [OK, LAST]],
    [[['deactivate', 'ada'], ['demote', 'eve']], [OK, LAST]],
    [[['deactivate', 'ada'], ['remove', 'eve']], [OK, LAST]],
    [[['deactivate', 'ada'], ['erase', 'eve']], [OK, LAST]],
    // Flags are those of the moment the workspace is held: the one who was a mere member when the wait began is the last.
    [[['promote', 'bob'], ['remove', 'ada'], ['remove', 'eve'], ['erase', 'bob']], [OK, OK, OK, LAST]],
  ])('stays: %j', async (order, told) => {
    expect(await inOrder(order)).toEqual(told);
    expect(await left()).toEqual({ admins: 1, stranded: 0 });
  }); // prettier-ignore

  // Closing an account must not wait for somebody to take over; what is left without anybody is told (contract 04 §10).
  it.each<[order: Act[]]>([
    [[['demote', 'ada'], ['deactivate', 'eve']]],
    [[['remove', 'ada'], ['deactivate', 'eve']]],
    [[['erase', 'ada'], ['deactivate', 'eve']]],
    [[['deactivate', 'ada'], ['deactivate', 'eve']]],
  ])('is closed with word of what he leaves: %j', async (order) => {
    expect(await inOrder(order)).toEqual([OK, OK]);
    expect(await left()).toEqual({ admins: 0, stranded: 1 });
  }); // prettier-ignore
});

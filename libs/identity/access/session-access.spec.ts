import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isPenstockError, newId } from '#libs/kernel';
import { identityInstance, requestFacts, type TestInstance } from '../../../test/fixtures/identity.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { SessionIssuer } from '../sessions/session-issuer.js';
import { UserService } from '../users/user.service.js';
import { Admission } from './admission.js';
import { Authenticator } from './authenticator.js';
import { DEFAULT_WORKSPACE_ID } from './membership.repository.js';

let db: TestDatabase;
let instance: TestInstance;

beforeEach(async () => {
  db = await createTestDatabase();
  instance = await identityInstance({ database: db.database });
});
afterEach(async () => {
  await instance.close();
  await db.drop();
});

async function account(email: string, isAdmin = false): Promise<string> {
  const [row] = await db.database.query<{ id: string }>(
    `INSERT INTO users (email, display_name, provider, provider_subject, is_admin) VALUES ($1, $1, 'local', $1, $2) RETURNING id`,
    [email, isAdmin],
  );
  return row?.id ?? '';
}

async function workspace(name: string, ...memberIds: string[]): Promise<string> {
  const id = newId();
  await db.database.execute('INSERT INTO workspaces (id, name, display_name) VALUES ($1, $2, $2)', [id, name]);
  for (const member of memberIds) {
    await db.database.execute('INSERT INTO workspace_members (workspace_id, user_id) VALUES ($1, $2)', [id, member]);
  }
  return id;
}

/** A session opened past the password, remembering a workspace. */
async function open(userId: string, email: string, isAdmin = false, rememberedId?: string): Promise<string> {
  const user = {
    id: userId,
    email,
    displayName: email,
    provider: 'local',
    isActive: true,
    isAdmin,
    mustChangePassword: false,
  };
  const issuer = instance.get(SessionIssuer);
  const session = await db.database.transaction((tx) => issuer.open(tx, user, 'pwd', requestFacts()));
  return issuer.token(user, session, rememberedId);
}

const authenticate = (token: string, workspaceHeader?: string) =>
  instance.get(Authenticator).authenticateSession(token, { ...requestFacts(), workspaceHeader });

async function refusal(attempt: Promise<unknown>): Promise<unknown> {
  try {
    await attempt;
    return 'accepted';
  } catch (error) {
    if (isPenstockError(error)) return { status: error.status, body: error.toBody() };
    throw error;
  }
}

describe('where a session acts', () => {
  it('is the named workspace, else the remembered one while it stands, else the first membership, else nowhere', async () => {
    const ada = await account('ada@example.org');
    const first = await workspace('first', ada);
    const second = await workspace('second', ada);
    const token = await open(ada, 'ada@example.org', false, second);
    expect((await authenticate(token)).workspace?.name).toBe('second');
    expect((await authenticate(token, 'first')).workspace).toMatchObject({
      id: first,
      superAdmin: false,
      implicit: false,
    });
    const restarted = await identityInstance({ database: db.database });
    await db.database.execute('UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1', [
      second,
    ]);
    expect((await restarted.get(Authenticator).authenticateSession(token, requestFacts())).workspace?.name).toBe(
      'first',
    );
    await restarted.close();
    const lone = await account('lone@example.org');
    expect((await authenticate(await open(lone, 'lone@example.org'))).workspace).toBeUndefined();
  });

  it('is never somewhere else than asked: unknown, foreign and inactive answer with one body', async () => {
    const ada = await account('ada@example.org');
    await workspace('mine', ada);
    await workspace('foreign');
    const asleep = await workspace('asleep', ada);
    await db.database.execute('UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1', [
      asleep,
    ]);
    const token = await open(ada, 'ada@example.org');
    const answers = [];
    for (const name of ['foreign', 'asleep', 'unknown', '', 'MINE', '../mine'])
      answers.push(await refusal(authenticate(token, name)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'workspace.not_found' } });
    const rejected = await db.database.query(`SELECT id FROM audit_log WHERE event = 'auth.workspace.header_rejected'`);
    expect(rejected).toHaveLength(answers.length);
  });

  it('is every active workspace for a super admin, as an implicit member; default when none is chosen', async () => {
    const root = await account('root@example.org', true);
    await workspace('far');
    const asleep = await workspace('asleep');
    await db.database.execute('UPDATE workspaces SET deactivated_at = NOW(), updated_at = NOW() WHERE id = $1', [
      asleep,
    ]);
    const token = await open(root, 'root@example.org', true);
    expect((await authenticate(token)).workspace).toMatchObject({
      id: DEFAULT_WORKSPACE_ID,
      superAdmin: true,
      implicit: true,
    });
    expect((await authenticate(token, 'far')).workspace).toMatchObject({ name: 'far', implicit: true });
    expect(await refusal(authenticate(token, 'asleep'))).toMatchObject({
      status: 404,
      body: { code: 'workspace.inactive' },
    });
  });
});

describe('switching', () => {
  it('gives the same session another memory: same end, same row, revoked together', async () => {
    const ada = await account('ada@example.org');
    await workspace('first', ada);
    const second = await workspace('second', ada);
    const token = await open(ada, 'ada@example.org');
    const principal = await authenticate(token);
    const switched = await instance.get(SessionIssuer).reissue(principal, token, second);
    const after = await authenticate(switched);
    expect([after.workspace?.name, after.sessionId]).toEqual(['second', principal.sessionId]);
    expect(await authenticate(token)).toMatchObject({ workspace: { name: 'first' } });
  });

  it('does not re-issue the token of somebody else', async () => {
    const ada = await account('ada@example.org');
    const bob = await account('bob@example.org');
    const target = await workspace('first', ada);
    const principal = await authenticate(await open(ada, 'ada@example.org'));
    const foreign = await open(bob, 'bob@example.org');
    expect(await refusal(instance.get(SessionIssuer).reissue(principal, foreign, target))).toMatchObject({
      status: 401,
    });
  });
});

describe('a session', () => {
  it('dies with its user, and a token of one person cannot name the session of another', async () => {
    const ada = await account('ada@example.org');
    const token = await open(ada, 'ada@example.org');
    await db.database.execute('UPDATE users SET is_active = FALSE, updated_at = NOW() WHERE id = $1', [ada]);
    expect(await refusal(authenticate(token))).toMatchObject({ body: { code: 'auth.session.invalid' } });
  });

  it('describes oneself without anything secret, and others by what the viewer may see', async () => {
    const ada = await account('ada@example.org');
    const bob = await account('bob@example.org');
    await workspace('shared', ada, bob);
    const principal = await authenticate(await open(ada, 'ada@example.org'));
    const users = instance.get(UserService);
    expect(await users.me(principal)).toEqual({
      user_id: ada,
      email: 'ada@example.org',
      display_name: 'ada@example.org',
      auth_method: 'session',
      scopes: [],
      workspace: { name: 'shared', flags: { author: false, promoter: false, admin: false } },
      super_admin: false,
      must_change_password: false,
      theme_preference: null,
    });
    expect(await users.setTheme(principal, 'dark')).toMatchObject({ theme_preference: 'dark' });
    expect(await users.setTheme(principal, null)).toMatchObject({ theme_preference: null });
    expect(await refusal(users.setTheme(principal, 'pink'))).toMatchObject({ status: 400 });

    const seen = await users.actor([ada, bob, bob, newId(), 'no id'], principal);
    expect([seen.get(ada)?.email, seen.get(bob)?.email, seen.size]).toEqual(['ada@example.org', undefined, 2]);
    await db.database.execute('UPDATE workspace_members SET author = TRUE, admin = TRUE WHERE user_id = $1', [ada]);
    expect((await users.actor([bob], principal)).get(bob)?.email).toBe('bob@example.org');
    expect((await users.actor([ada])).get(ada)?.email).toBeUndefined();
  });
});

describe('admission by a door', () => {
  const audited = async (event: string) => {
    const rows = await db.database.query<{ details: string }>(
      'SELECT details_json AS details FROM audit_log WHERE event = $1 ORDER BY id',
      [event],
    );
    return rows.map(({ details }) => JSON.parse(details) as Record<string, unknown>);
  };

  it('records every operation of a super admin in a workspace he is no member of, reads included', async () => {
    const root = await account('root@example.org', true);
    const own = await workspace('own', root);
    const admission = instance.get(Admission);
    const token = await open(root, 'root@example.org', true, own);
    await admission.admit(await authenticate(token), 'pipeline.read', { path: '/api/v1/pipelines', method: 'GET' });
    expect(await audited('auth.super_admin_acting')).toEqual([]);
    await admission.admit(await authenticate(token, 'default'), 'pipeline.read', {
      path: '/api/v1/pipelines',
      method: 'GET',
    });
    expect(await audited('auth.super_admin_acting')).toMatchObject([
      {
        operation: 'pipeline.read',
        path: '/api/v1/pipelines',
        method: 'GET',
        workspace: 'default',
        acting_via: 'super_admin',
      },
    ]);
  });

  it('records what was refused, on which axis, and refuses all the same', async () => {
    const ada = await account('ada@example.org');
    await workspace('mine', ada);
    const principal = await authenticate(await open(ada, 'ada@example.org'));
    expect(await refusal(instance.get(Admission).admit(principal, 'pipeline.create'))).toMatchObject({
      body: { code: 'auth.role_required' },
    });
    expect(await audited('auth.scope.denied')).toMatchObject([
      { operation: 'pipeline.create', axis: 'capability', required: 'author', held: [], workspace: 'mine' },
    ]);
  });
});

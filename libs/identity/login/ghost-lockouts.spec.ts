import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { MemoryTransientStore } from '#libs/transient';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { LoginService } from './login.service.js';

describe('locks of addresses nobody has', () => {
  const scene = loginScene();
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const attempts = async (email: string, times: number): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let tries = 0; tries < times; tries++) {
      const { code, status, body } = await refusal(scene.login(email, 'wrong password 12'));
      const shown = JSON.parse(JSON.stringify(body)) as { details?: Record<string, unknown> };
      if (typeof shown.details?.['locked_until'] === 'string') {
        expect(shown.details['locked_until']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        shown.details['locked_until'] = 'a stamp';
      }
      seen.push({ code, status, shown });
    }
    return seen;
  };

  it("fall as an account's do, so that neither 401 nor 403 tells who has an account here", async () => {
    await scene.person('known@example.com');
    await scene.person('oidc@example.com', {
      provider: 'acme',
      provider_subject: 's',
      password_hash: null,
      password_changed_at: null,
    });
    await scene.person('system@system.invalid', {
      provider: 'system',
      provider_subject: 'system',
      password_hash: null,
      password_changed_at: null,
    });
    const known = await attempts('known@example.com', 7);
    expect(known.map((each) => (each as { status: number }).status)).toEqual([401, 401, 401, 401, 401, 403, 403]);
    for (const email of ['nobody@example.com', 'oidc@example.com', 'system@system.invalid']) {
      expect(await attempts(email, 7)).toEqual(known);
    }
  });

  it('show one end at every attempt, as an account does', async () => {
    await attempts('nobody@example.com', 5);
    const bodies = await Promise.all([1, 2, 3].map(() => refusal(scene.login('nobody@example.com', PASSWORD))));
    expect(new Set(bodies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('leave the same rows in the audit trail', async () => {
    await scene.person('known@example.com');
    await attempts('known@example.com', 6);
    await attempts('nobody@example.com', 6);
    const rows = await scene.auditOf('auth.login.bad_credentials');
    const of = (email: string) => rows.filter((row) => row['email'] === email).map(({ reason }) => reason);
    expect(of('nobody@example.com')).toEqual(of('known@example.com'));
    expect((await scene.auditOf('auth.login.locked')).map(({ email }) => email)).toEqual([
      'known@example.com',
      'nobody@example.com',
    ]);
  });

  it('cost one verification while open and none while locked', async () => {
    const judged = jest.spyOn(SecretHasher.prototype, 'judged');
    let verifications = 0;
    judged.mockImplementation((judge) =>
      judge({
        matches: async () => (verifications++, false),
        matchesNothing: async () => (verifications++, false),
      }),
    );
    await attempts('nobody@example.com', 5);
    expect(verifications).toBe(5);
    await attempts('nobody@example.com', 3);
    expect(verifications).toBe(5);
  });

  it('are shared by the instances', async () => {
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    const pair = await Promise.all([1, 2].map(() => identityInstance({ database: scene.database, store })));
    const codes: string[] = [];
    for (let tries = 0; tries < 6; tries++) {
      const at = pair[tries % 2];
      codes.push(await codeOf(at!.get(LoginService).login('nobody@example.com', PASSWORD, requestFacts())));
    }
    expect(codes.at(-1)).toBe('auth.login.locked');
    await Promise.all(pair.map((each) => each.close()));
    await store.close();
  });

  it('are nothing while the store is away: a plain 401', async () => {
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    const instance = await identityInstance({ database: scene.database, store });
    await store.close();
    for (let tries = 0; tries < 7; tries++) {
      expect(await codeOf(instance.get(LoginService).login('nobody@example.com', PASSWORD, requestFacts()))).toBe(
        'auth.login.bad_credentials',
      );
    }
    await instance.close();
  });
});

describe('the workspace chosen last', () => {
  const scene = loginScene();

  it('is where the next sign-in starts while it is still held', async () => {
    const ada = await scene.person('ada@example.com', { last_login_at: new Date() });
    const ids: string[] = [];
    for (const name of ['first', 'second']) {
      const [row] = await scene.database.query<{ id: string }>(
        'INSERT INTO workspaces (name, display_name, created_by) VALUES ($1, $1, $2) RETURNING id',
        [name, ada],
      );
      ids.push(row!.id);
      await scene.database.query('INSERT INTO workspace_members (workspace_id, user_id) VALUES ($1, $2)', [
        row!.id,
        ada,
      ]);
    }
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    const instance = await identityInstance({ database: scene.database, store });
    const startsIn = async () =>
      (await instance.get(LoginService).login('ada@example.com', PASSWORD, requestFacts())).principal.workspace?.name;
    expect(await startsIn()).toBe('first');
    await store.rememberWorkspace(ada, ids[1]!, 60);
    expect(await startsIn()).toBe('second');
    await scene.database.query('DELETE FROM workspace_members WHERE workspace_id = $1', [ids[1]]);
    expect(await startsIn()).toBe('first');
    await store.close();
    expect(await startsIn()).toBe('first');
    await instance.close();
  });
});

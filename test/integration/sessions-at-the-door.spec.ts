import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import type { Deployment } from '../fixtures/deployment.js';
import { LocalServer } from '../fixtures/local-server.js';
import { addPerson, emailOf, PASSWORD } from '../fixtures/people.js';

/* The life of a session as a browser sees it: cookies, ends and what each end is told (contract 04 §4.4). */

const ME = '/api/v1/auth/me';
const SESSION = '__Host-dp_session';

let server: LocalServer;
let admin: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start({
    DATAPIPELINES_AUTH_SESSION_MAX_PER_USER: '3',
    DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1000',
  });
  admin = await server.admin();
}, 60_000);
afterAll(() => server?.stop());

const people = () =>
  ({
    metadata: (sql: string, params: unknown[] = []) => server.test.database.query(sql, params),
  }) as unknown as Deployment;
let count = 0;
async function person(memberships: object = { default: {} }): Promise<{ name: string; id: string }> {
  const name = `person-${++count}`;
  return { name, id: await addPerson(people(), name, { memberships: memberships as never }) };
}
async function signIn(name: string, client = new ApiClient(server.baseUrl)): Promise<ApiClient> {
  await client.call('GET', '/login');
  const answer = await client.call('POST', '/login', { email: emailOf(name), password: PASSWORD });
  expect([name, answer.status]).toEqual([name, 200]);
  return client;
}
/** What one token is worth, apart from whatever its browser holds by now. */
async function worth(token: string | undefined): Promise<unknown> {
  const headers = { Cookie: `${SESSION}=${token}` };
  const { status, body } = await new ApiClient(server.baseUrl).call('GET', ME, undefined, { headers });
  return status === 200 ? 200 : body.error.code;
}
const claimsOf = (client: ApiClient) =>
  JSON.parse(Buffer.from(client.cookie(SESSION)?.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
const change = async (sql: string, params: unknown[]) => {
  await server.test.database.execute(sql, params);
  await server.forgets();
};

describe('a session that does not hold', () => {
  it('takes its cookies with it at every door, and sends a browser to sign in', async () => {
    const gone = `${SESSION}=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; SameSite=Lax`;
    const { name } = await person();
    const token = (await signIn(name)).cookie(SESSION) as string;
    const [head, body, mac] = token.split('.') as [string, string, string];
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`;
    for (const wrong of ['x', `${head}.${body}.${'A'.repeat(mac.length)}`, unsigned]) {
      for (const [method, path] of [['GET', ME], ['POST', '/graphql'], ['GET', '/api/v1/nothing'], ['POST', '/logout']] as const) {
        const headers = { Cookie: `${SESSION}=${wrong}` };
        const answer = await new ApiClient(server.baseUrl).fetch(method, path, method === 'POST' ? {} : undefined, { headers });
        expect([path, answer.status, await answer.text()]).toEqual([path, 401, expect.stringContaining('auth.session.invalid')]);
        expect(answer.headers.getSetCookie()).toEqual([gone, gone.replace('session', 'csrf')]);
      }
      const page = await new ApiClient(server.baseUrl).fetch('GET', '/w/default', undefined, { headers: { Cookie: `${SESSION}=${wrong}`, Accept: 'text/html' } });
      expect([page.status, page.headers.get('Location')]).toEqual([302, '/login?return_to=%2Fw%2Fdefault']);
    }
    expect(await worth(token)).toBe(200);
  }); // prettier-ignore

  it('has expired by age or by idleness, which is told apart from being wrong', async () => {
    const { name, id } = await person();
    const old = (await signIn(name)).cookie(SESSION);
    await change("UPDATE user_sessions SET expires_at = NOW() - INTERVAL '1 s' WHERE user_id = $1", [id]);
    const idle = (await signIn(name)).cookie(SESSION);
    await change("UPDATE user_sessions SET last_seen_at = NOW() - INTERVAL '121 min' WHERE user_id = $1 AND expires_at > NOW()", [id]);
    const nearly = (await signIn(name)).cookie(SESSION);
    await change("UPDATE user_sessions SET last_seen_at = NOW() - INTERVAL '119 min' WHERE user_id = $1 AND last_seen_at > NOW() - INTERVAL '1 min'", [id]);
    expect([await worth(old), await worth(idle), await worth(nearly)]).toEqual(['auth.session.expired', 'auth.session.expired', 200]);
  }); // prettier-ignore
});

describe('a session ends', () => {
  it('with its logout: 204, the browser forgets the site, and no other session is touched', async () => {
    const { name } = await person();
    const [one, two] = [await signIn(name), await signIn(name)];
    const token = one.cookie(SESSION);
    const answer = await one.fetch('POST', '/logout');
    expect([answer.status, await answer.text(), answer.headers.get('Clear-Site-Data')]).toEqual([204, '', '"cache", "cookies", "storage"']);
    expect(answer.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual([SESSION, '__Host-dp_csrf']);
    expect([await worth(token), await worth(two.cookie(SESSION))]).toEqual(['auth.session.invalid', 200]);
  }); // prettier-ignore

  it('with a sign-in that it was presented with, as the same person or another: nobody is given a planted one', async () => {
    const [first, second] = [await person(), await person()];
    const browser = await signIn(first.name);
    const planted = browser.cookie(SESSION);
    await signIn(first.name, browser);
    const again = browser.cookie(SESSION);
    expect([planted === again, await worth(planted), await worth(again)]).toEqual([false, 'auth.session.invalid', 200]);
    await signIn(second.name, browser);
    expect([await worth(again), await worth(browser.cookie(SESSION))]).toEqual(['auth.session.invalid', 200]);
    // A sign-in that fails ends nothing.
    const wrong = await browser.call('POST', '/login', { email: emailOf(first.name), password: 'wrong' });
    expect([wrong.status, await worth(browser.cookie(SESSION))]).toEqual([401, 200]);
  });

  it('as the oldest, when there are more than a person may have', async () => {
    const { name } = await person();
    const tokens = [];
    for (let n = 0; n < 4; n++) tokens.push((await signIn(name)).cookie(SESSION));
    expect(await Promise.all(tokens.map(worth))).toEqual(['auth.session.invalid', 200, 200, 200]);
  });

  it('with the account, at once, and does not come back with it', async () => {
    const { name, id } = await person();
    const token = (await signIn(name)).cookie(SESSION);
    for (const verb of ['deactivate', 'activate']) {
      expect((await admin.call('POST', `/api/v1/auth/users/${id}/${verb}`)).status).toBeLessThan(300);
      expect([verb, await worth(token)]).toEqual([verb, 'auth.session.invalid']);
    }
    expect(await worth((await signIn(name)).cookie(SESSION))).toBe(200);
  });

  it('with a change of the password, all but the one that changed it', async () => {
    const { name } = await person();
    const [one, two] = [await signIn(name), await signIn(name)];
    const body = { current_password: PASSWORD, new_password: 'quiet harbour lantern 88' };
    expect((await one.call('POST', '/api/v1/auth/password', body)).status).toBe(204);
    expect([await worth(one.cookie(SESSION)), await worth(two.cookie(SESSION))]).toEqual([200, 'auth.session.invalid']);
  });
});

describe('switching the workspace', () => {
  it('signs the same session anew with the same end: one row, revoked together', async () => {
    await admin.data('POST', '/api/v1/workspaces', { name: 'second', display_name: 'Second' });
    const { name, id } = await person({ default: {}, second: {} });
    const browser = await signIn(name);
    const [before, claims] = [browser.cookie(SESSION), claimsOf(browser)];
    expect((await browser.call('GET', ME)).body.data.workspace.name).toBe('default');
    expect((await browser.call('POST', '/workspace/switch', { workspace: 'second' })).status).toBeLessThan(300);
    expect(browser.cookie(SESSION)).not.toBe(before);
    const after = claimsOf(browser);
    expect([after['sid'], after['exp'], after['amr'], after['iss'], after['aud']]).toEqual([claims['sid'], claims['exp'], 'pwd', 'datapipelines', 'dp_session']);
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(8 * 3600);
    expect((await browser.call('GET', ME)).body.data.workspace.name).toBe('second');
    expect(await server.test.database.query('SELECT 1 AS one FROM user_sessions WHERE user_id = $1', [id])).toEqual([{ one: 1 }]);
    await browser.call('POST', '/logout');
    expect([await worth(before), await worth(browser.cookie(SESSION))]).toEqual(['auth.session.invalid', 'auth.session.invalid']);
  }); // prettier-ignore

  it('is refused for a workspace that is not one’s own, in one way, and for a key', async () => {
    const { name } = await person();
    const browser = await signIn(name);
    const before = browser.cookie(SESSION);
    for (const workspace of ['second', 'nowhere', 'Default', '']) {
      const { status, body } = await browser.call('POST', '/workspace/switch', { workspace });
      expect([workspace, status < 500 && status >= 400, body.error.code]).toEqual([workspace, true, workspace === '' ? body.error.code : 'workspace.not_found']);
    }
    expect(browser.cookie(SESSION)).toBe(before);
    const { key } = await admin.in('default').data('POST', '/api/v1/auth/api-keys', { name: 'k' });
    const { status, body } = await ApiClient.withKey(server.baseUrl, key).call('POST', '/workspace/switch', { workspace: 'default' });
    expect([status, body.error.code]).toEqual([403, 'workspace.session_required']);
  }); // prettier-ignore
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';

/*
 * State changes with a cookie are meant by our own page (contract 04 §9.2), on a server that knows its address: the
 * cookies are bound to the host, and the origin is that of `auth.base-url`, whatever `Host` a proxy passes on.
 */

const BASE = 'https://data.example.com';
const ME = '/api/v1/auth/me';

let server: LocalServer;
let browser: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start({
    DATAPIPELINES_AUTH_BASE_URL: BASE,
    DATAPIPELINES_CORS_ALLOWED_ORIGINS: 'https://app.example.org',
    DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1000',
  });
  browser = await server.admin();
}, 60_000);
afterAll(() => server?.stop());

const write = (headers: Record<string, string>, client = browser) =>
  client.call('PATCH', ME, { theme_preference: 'dark' }, { headers });
const outcome = async (attempt: ReturnType<typeof write>) => {
  const { status, body } = await attempt;
  return status === 200 ? 200 : `${status} ${body.error.code} ${body.error.details.reason}`;
};
const forged = (reason: string) => `403 auth.csrf.invalid ${reason}`;

/** The two cookies a browser holds, read off the answers that set them. */
async function cookiesOf(path: string, headers: Record<string, string> = {}): Promise<string[]> {
  const response = await fetch(`${server.baseUrl}${path}`, { headers, redirect: 'manual' });
  await response.arrayBuffer();
  return response.headers.getSetCookie();
}

describe('the origin of a write', () => {
  it.each([
    [BASE, 200],
    ['https://data.example.com:443', forged('origin')],
    ['http://data.example.com', forged('origin')],
    ['https://data.example.com.evil.example', forged('origin')],
    ['https://evil.example', forged('origin')],
    ['https://DATA.example.com', forged('origin')],
    // CORS lets it read and send keys; a cookie is another matter.
    ['https://app.example.org', forged('origin')],
    ['null', forged('origin')],
    ['', forged('origin')],
  ])('%j', async (origin, expected) => {
    expect(await outcome(write({ Origin: origin }))).toBe(expected);
  });

  it('is not that of the Host which a proxy passed on, and may be absent', async () => {
    expect(await outcome(write({ Origin: server.baseUrl }))).toBe(forged('origin'));
    expect(await outcome(write({}))).toBe(200);
  });
});

describe('the token of a write', () => {
  it('is asked of every unsafe verb at every door that reads cookies, and of no reading', async () => {
    const doors = [
      ['POST', '/api/v1/pipelines'], ['PUT', '/api/v1/templates'], ['PATCH', ME], ['DELETE', '/api/v1/auth/sessions'],
      ['POST', '/graphql'], ['POST', '/graphql/stream'], ['POST', '/logout'], ['POST', '/workspace/switch'], ['POST', '/api/v1/nothing'], ['POST', '/login'],
    ] as const; // prettier-ignore
    for (const [method, path] of doors) {
      for (const [token, reason] of [['', 'missing'], ['x', 'mismatch'], [`${'A'.repeat(22)}.${'A'.repeat(43)}`, 'mismatch']] as const) {
        const { status, body } = await browser.call(method, path, {}, { headers: { 'DP-CSRF-Token': token } });
        const { code, details } = body.error ?? body.errors[0].extensions;
        expect([method, path, status, code, details.reason]).toEqual([method, path, 403, 'auth.csrf.invalid', reason]);
      }
    }
    for (const path of [ME, '/api/v1/pipelines', '/api/v1/auth/sessions']) {
      const answer = await browser.call('GET', path, undefined, { headers: { 'DP-CSRF-Token': '', Origin: 'https://evil.example' } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
    expect((await browser.call('GET', ME)).status).toBe(200);
  }); // prettier-ignore

  it('of another session is worth nothing, nor is the one from before signing in', async () => {
    const other = await browserOfItsOwn();
    const before = new ApiClient(server.baseUrl);
    await before.call('GET', '/login');
    for (const client of [other.client, before]) {
      // The header repeats the cookie, which a sibling host may have planted; it was made for another session.
      const token = client.cookie('__Host-dp_csrf') ?? '';
      expect(token).not.toBe('');
      const answer = await fetch(`${server.baseUrl}${ME}`, {
        method: 'PATCH',
        body: '{"theme_preference":"dark"}',
        headers: {
          'Content-Type': 'application/json',
          Cookie: `__Host-dp_session=${browser.cookie('__Host-dp_session')}; __Host-dp_csrf=${token}`,
          'DP-CSRF-Token': decodeURIComponent(token),
        },
      });
      expect(answer.status).toBe(403);
    }
    expect(await outcome(write({}))).toBe(200);
  });

  it('is made anew where it is absent or wrong, and left alone where it is right', async () => {
    for (const path of ['/login', '/api/v1/auth/providers']) {
      const [first, ...others] = await cookiesOf(path);
      expect(others).toEqual([]);
      expect(first).toMatch(/^__Host-dp_csrf=[^;]+; Path=\/; Secure; SameSite=Lax$/);
      const held = (first as string).split(';')[0] as string;
      expect([path, await cookiesOf(path, { Cookie: held })]).toEqual([path, []]);
      for (const wrong of ['__Host-dp_csrf=x', `${held}x`, 'dp_csrf=x'])
        expect([path, wrong, (await cookiesOf(path, { Cookie: wrong })).length]).toEqual([path, wrong, 1]);
    }
  });

  it('comes with the session, lasts as long, and scripts can read it', async () => {
    const { cookies } = await browserOfItsOwn();
    const session = cookies.find((cookie) => cookie.startsWith('__Host-dp_session='));
    const token = cookies.find((cookie) => cookie.startsWith('__Host-dp_csrf='));
    const ends = (cookie = '') => /Expires=([^;]+)/.exec(cookie)?.[1];
    expect([ends(token), token?.includes('HttpOnly')]).toEqual([ends(session), false]);
    expect(session).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
    expect(ends(session)).toBeDefined();
  });
});

describe('what needs no token', () => {
  it('is a request with a key, which no other page can send, even beside a cookie', async () => {
    const { key } = await browser.in('default').data('POST', '/api/v1/auth/api-keys', { name: 'k', scopes: ['author'] });
    const held = { 'DP-API-Key': key, 'DP-CSRF-Token': '', Origin: 'https://evil.example' };
    expect((await write(held)).status).toBe(200);
    expect((await write(held, new ApiClient(server.baseUrl))).status).toBe(200);
    expect(await outcome(write({ 'DP-API-Key': 'dpk_wrong' }))).toBe('401 auth.api_key.invalid undefined');
  }); // prettier-ignore

  it('leaves a row of what was refused with path and reason alone', async () => {
    const { database } = server.test;
    await database.execute('DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log)');
    await write({ 'DP-CSRF-Token': 'x' });
    const rows = await database.query<{ details: string; signed: boolean }>(
      `SELECT details_json AS details, user_id IS NOT NULL AS signed FROM audit_log WHERE event = 'auth.csrf.rejected'`,
    );
    expect(rows.map(({ details, signed }) => [JSON.parse(details), signed])).toEqual([
      [expect.objectContaining({ path: ME, reason: 'mismatch' }), true],
    ]);
  });
});

/** The administrator in another browser, and the cookies his sign-in set. */
async function browserOfItsOwn(): Promise<{ client: ApiClient; cookies: string[] }> {
  const client = new ApiClient(server.baseUrl);
  await client.call('GET', '/login');
  const answer = await client.fetch('POST', '/login', {
    email: 'ops.lead@example.com',
    password: 'one-sunny-morning-2026-changed',
  });
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
  return { client, cookies: answer.headers.getSetCookie() };
}

import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { chromium } from 'playwright-core';
import { ApiClient } from '../fixtures/api-client.js';
import { FetchBrowser, type Page } from '../fixtures/fetch-browser.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RealIdp } from '../fixtures/real-idp.js';
import { startRedis, type TestRedis } from '../fixtures/redis.js';
import { ServerProcess } from '../fixtures/server-process.js';

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']; // prettier-ignore

describeWithProgram('redis-server', 'signing in through a real provider', (redisProgram) => {
  let database: EmptyDatabase;
  let redis: TestRedis;
  let idp: RealIdp;
  let server: ServerProcess;
  let base: string;

  beforeAll(async () => {
    // The provider speaks to those who would run it in production.
    for (const each of ['info', 'warn'] as const) jest.spyOn(console, each).mockImplementation(() => undefined);
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    [database, redis, idp] = await Promise.all([
      createEmptyDatabase(),
      startRedis(redisProgram),
      RealIdp.start(`${base}/login/oauth2/code/acme`),
    ]);
    server = await ServerProcess.start({
      databaseUrl: database.url,
      redisUrl: redis.url,
      env: {
        SERVER_PORT: String(port),
        DATAPIPELINES_AUTH_BASE_URL: base,
        DATAPIPELINES_AUTH_OIDC_PROVIDERS: idp.setting('acme'),
        DATAPIPELINES_AUTH_ALLOWLIST_DOMAINS: 'example.com',
        DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000',
      },
    });
  }, 90_000);

  afterAll(async () => {
    await server?.end('SIGKILL');
    await Promise.all([idp?.stop(), redis?.stop(), database?.drop()]);
  });

  /** From the sign-in page to the provider, its form and its consent, and back. */
  async function signIn(browser: FetchBrowser, person: string, returnTo = '/docs/errors'): Promise<Page> {
    let page = await browser.goto(`${base}/oauth2/authorization/acme?return_to=${encodeURIComponent(returnTo)}`);
    if (page.html.includes('name="login"')) page = await browser.submit(page, { login: person, password: 'any' });
    if (page.html.includes('value="consent"')) page = await browser.submit(page);
    return page;
  }

  const me = async (browser: FetchBrowser) => {
    const answer = await fetch(`${base}/api/v1/auth/me`, {
      headers: { Cookie: `dp_session=${browser.cookie(base, 'dp_session') ?? ''}` },
    });
    return { status: answer.status, body: (await answer.json()) as { data?: Record<string, unknown> } };
  };

  it('offers the provider, goes there and back, and ends in a session', async () => {
    const { data } = (await (await fetch(`${base}/api/v1/auth/providers`)).json()) as { data: unknown };
    expect(data).toEqual({ local: true, password_reset: false, providers: [{ name: 'acme', display_name: 'Acme' }] });
    const browser = new FetchBrowser();
    const page = await signIn(browser, 'ada');
    expect(page).toMatchObject({ url: `${base}/docs/errors`, status: 200 });
    expect((await me(browser)).body.data).toMatchObject({
      email: 'ada@example.com',
      display_name: 'ada Person',
      super_admin: false,
      must_change_password: false,
    });
    expect(browser.cookie(base, 'dp_oauth2_authz')).toBeUndefined();
  });

  it('takes the callback of one browser from no other, and once only', async () => {
    const victim = new FetchBrowser();
    const page = await signIn(victim, 'grace');
    const callback = page.via.find((url) => url.includes('/login/oauth2/code/')) as string;
    const thief = new FetchBrowser();
    expect((await thief.goto(callback)).url).toBe(`${base}/login?error=oidc_error`);
    expect(thief.cookie(base, 'dp_session')).toBeUndefined();
    expect((await victim.goto(callback)).url).toBe(`${base}/login?error=oidc_error`);
    expect((await me(victim)).status).toBe(200);
    const program = await new ApiClient(base).call('GET', new URL(callback).pathname + new URL(callback).search);
    expect(program).toMatchObject({ status: 500, body: { error: { code: 'auth.login.oidc_error' } } });
  });

  it('sends an unverified address back with a word the page explains, and an unknown provider nowhere', async () => {
    const page = await signIn(new FetchBrowser(), 'unverified');
    expect(page.url).toBe(`${base}/login?error=oidc_error`);
    expect((await fetch(`${base}/oauth2/authorization/nobody`, { redirect: 'manual' })).status).toBe(404);
  });

  it('sends who may not enter back with the word of the reason: domain, closed account, another’s address', async () => {
    await signIn(new FetchBrowser(), 'closed');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`UPDATE users SET is_active = FALSE WHERE email = 'closed@example.com'`);
    await client.query(
      `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('taken@example.com', 'T', 'acme', 'somebody-else')`,
    );
    await client.end();
    for (const [person, word] of [
      ['outsider', 'domain_not_allowed'],
      ['closed', 'inactive'],
      ['taken', 'identity_mismatch'],
    ] as const) {
      const browser = new FetchBrowser();
      const page = await signIn(browser, person);
      expect([person, page.url, browser.cookie(base, 'dp_session')]).toEqual([
        person,
        `${base}/login?error=${word}`,
        undefined,
      ]);
    }
  });

  it('leaves no code, token or secret in the log', () => {
    expect(server.output).not.toContain('a-client-secret-of-the-test');
    expect(server.output).not.toMatch(/code=[A-Za-z0-9_-]{10}/);
  });

  describeWithProgram('chromium', 'in a browser', (browserProgram) => {
    it('shows a person the way: button, provider, consent, home', async () => {
      const browser = await chromium.launch({ executablePath: browserProgram, args: QUIET });
      try {
        const page = await browser.newPage();
        const problems: string[] = [];
        page.on('pageerror', (error) => problems.push(error.message));
        await page.goto(`${base}/login?error=identity_mismatch`);
        await page.locator('#refusal', { hasText: 'already belongs' }).waitFor();
        await page.click('text=Continue with Acme');
        await page.fill('input[name=login]', 'lin');
        await page.fill('input[name=password]', 'any');
        await page.click('button[type=submit]');
        await page.click('button[type=submit]');
        await page.waitForURL(`${base}/`);
        await page.locator('#who', { hasText: 'lin@example.com' }).waitFor();
        expect(problems).toEqual([]);
      } finally {
        await browser.close();
      }
    }, 60_000);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

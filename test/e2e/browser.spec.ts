import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { findProgram, describeWithProgram } from '../fixtures/programs.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { startRedis, type TestRedis } from '../fixtures/redis.js';
import { ADMIN, ServerProcess } from '../fixtures/server-process.js';

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']; // prettier-ignore
const CHOSEN = 'a-password-of-my-own-2026';

describeWithProgram('chromium', 'the pages, in a browser', (program) => {
  let database: EmptyDatabase;
  let redis: TestRedis;
  let server: ServerProcess;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    [database, redis] = await Promise.all([
      createEmptyDatabase(),
      startRedis(findProgram('redis-server') ?? 'redis-server'),
    ]);
    server = await ServerProcess.start({ databaseUrl: database.url, redisUrl: redis.url });
    browser = await chromium.launch({ executablePath: program, args: QUIET });
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      // A refused password and the redirect of a stranger are answers, not problems.
      if (message.type() === 'error' && !/status of (401|403)/.test(message.text())) problems.push(message.text());
    });
  }, 90_000);

  afterAll(async () => {
    await browser?.close();
    await server?.end('SIGKILL');
    await Promise.all([redis?.stop(), database?.drop()]);
  });

  it('sends a stranger to the sign-in and tells what is wrong with a password', async () => {
    await page.goto(`${server.baseUrl}/graphql`);
    expect(new URL(page.url()).pathname).toBe('/login');
    await page.fill('#email', ADMIN.email);
    await page.fill('#password', 'not-the-password');
    await page.click('button');
    await page.locator('[role=alert]', { hasText: 'wrong' }).waitFor();
  });

  it('lets nobody pass before a first password is replaced, then goes where the person wanted', async () => {
    await page.fill('#password', ADMIN.password);
    await page.click('button');
    await page.waitForURL('**/settings/password**');
    await page.fill('#current', ADMIN.password);
    await page.fill('#next', 'short');
    await page.fill('#next', CHOSEN);
    await page.click('button');
    await page.waitForURL('**/graphql');
  });

  it('runs a query in the bundled console, which loads nothing from another host', async () => {
    await page.waitForSelector('button.graphiql-execute-button');
    // The button is there before the editor has its text; a press that came too early is pressed again.
    await page.locator('.graphiql-query-editor', { hasText: 'Viewer' }).waitFor();
    const answered = page.locator('.result-window', { hasText: ADMIN.email });
    for (let presses = 0; presses < 5 && (await answered.count()) === 0; presses++) {
      await page.click('button.graphiql-execute-button');
      await answered.waitFor({ timeout: 8000 }).catch(() => undefined);
    }
    expect(await answered.count()).toBe(1);
    const loaded = await page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    const foreign = loaded.filter((url) => !url.startsWith(server.baseUrl) && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
  }, 60_000);

  it('shows the home page with its empty states, and signs out', async () => {
    await page.goto(server.baseUrl);
    await page.waitForSelector('#pipelines li >> text=No pipelines in this workspace yet');
    expect(await page.textContent('#who')).toContain(ADMIN.email);
    await page.click('#logout');
    await page.waitForURL('**/login');
    await page.goto(server.baseUrl);
    expect(new URL(page.url()).pathname).toBe('/login');
  });

  it('broke no rule of the content security policy on the way', () => {
    expect(problems).toEqual([]);
  });
});

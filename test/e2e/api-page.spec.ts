import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { Deployment } from '../fixtures/deployment.js';
import { ADMIN } from '../fixtures/server-process.js';
import { describeWithProgram, findProgram } from '../fixtures/programs.js';

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']; // prettier-ignore

describeWithProgram('chromium', 'the page of the REST API', (program) => {
  let deployment: Deployment;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const server = () => deployment.server;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis: findProgram('redis-server') ?? 'redis-server' });
    browser = await chromium.launch({ executablePath: program, args: QUIET });
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 401/.test(message.text())) problems.push(message.text());
    });
  }, 90_000);

  afterAll(async () => {
    await browser?.close();
    await deployment?.stop();
  });

  it('shows a stranger every route, and how to sign in', async () => {
    await page.goto(`${server().baseUrl}/docs/api`);
    await page.locator('#caller', { hasText: 'Sign in' }).waitFor();
    await page.locator('#operations-tag-pipelines').click();
    await page
      .locator('.opblock-summary-path', { hasText: '/api/v1/pipelines' })
      .first()
      .waitFor({ state: 'attached' });
    expect(await page.locator('.errors-wrapper').count()).toBe(0);
  }, 120_000);

  it('runs a request as whoever is signed in, and a write with the token against forgery', async () => {
    await page.goto(`${server().baseUrl}/login?return_to=/docs/api`);
    await page.fill('#email', ADMIN.email);
    await page.fill('#password', `${ADMIN.password}-changed`);
    await page.click('button');
    await page.locator('#caller', { hasText: 'Requests run as' }).waitFor();
    await page.goto(`${server().baseUrl}/docs/api#/auth/identity.prefer`);
    await page.reload();
    const route = page.locator('.opblock.is-open', { hasText: 'Choose a theme' });
    await route.locator('button.execute').waitFor();
    await route.locator('textarea.body-param__text').fill('{"theme_preference": "dark"}');
    await route.locator('button.execute').click();
    await route.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    expect(await route.locator('.live-responses-table').textContent()).toContain('"theme_preference": "dark"');
  }, 120_000);

  it('loads nothing from another host, and breaks no rule of the content policy', async () => {
    const loaded = await page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    expect(loaded.filter((url) => !url.startsWith(server().baseUrl) && !url.startsWith('data:'))).toEqual([]);
    expect(problems).toEqual([]);
  });
});

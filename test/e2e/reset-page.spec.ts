import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chromium } from 'playwright-core';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { mailingAt, MailServer } from '../fixtures/mail-server.js';
import { addPerson, emailOf } from '../fixtures/people.js';
import { describeWithProgram, findProgram } from '../fixtures/programs.js';

const NEXT = 'lantern walrus 77 fog';

describeWithProgram('chromium', 'a forgotten password, in a browser', (program) => {
  let mail: MailServer;
  let deployment: Deployment;
  let baseUrl: string;

  beforeAll(async () => {
    mail = await MailServer.start();
    const served = await mailingAt(mail.port);
    baseUrl = served.baseUrl;
    deployment = await Deployment.start({ redis: findProgram('redis-server') ?? 'redis-server', env: served.env });
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await mail?.close();
  });

  it('leads a person through the pages: forgotten, link, new password, sign-in', async () => {
    await addPerson(deployment, 'visitor');
    await deployment.metadata(`UPDATE users SET password_changed_at = NOW() - INTERVAL '1 minute' WHERE email = $1`, [
      emailOf('visitor'),
    ]);
    const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
    const problems: string[] = [];
    const page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on(
      'console',
      (message) =>
        message.type() === 'error' && !/status of (400|401)/.test(message.text()) && problems.push(message.text()),
    );
    const shoot = async (name: string) => {
      const folder = process.env['PENSTOCK_SCREENSHOTS'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
    };
    await page.goto(`${baseUrl}/login`);
    await page.locator('#forgotten a').waitFor();
    await shoot('login');
    await page.click('#forgotten a');
    await page.fill('#email', emailOf('visitor'));
    await shoot('ask');
    await page.click('#request button');
    await page.locator('#asked', { hasText: emailOf('visitor') }).waitFor();
    await shoot('asked');
    await eventually('the mail', () => mail.received.length > 0);
    const link = /http\S+#token=\S+/.exec(mail.last(emailOf('visitor'))?.text ?? '')?.[0] ?? '';
    await page.goto(link);
    await page.locator('#confirm').waitFor();
    expect(page.url()).toBe(`${baseUrl}/reset-password`);
    await page.fill('#next', 'password1234');
    await page.click('#confirm button');
    await page.locator('#confirm [role=alert]', { hasText: 'attacker' }).waitFor();
    await shoot('refused');
    await page.fill('#next', NEXT);
    await page.click('#confirm button');
    await page.locator('#done').waitFor();
    await shoot('done');
    await page.click('text=Back to sign-in');
    await page.fill('#email', emailOf('visitor'));
    await page.fill('#password', NEXT);
    await page.click('#login button');
    await page.waitForURL(`${baseUrl}/`);
    expect(problems).toEqual([]);
    await browser.close();
  }, 60_000);
});

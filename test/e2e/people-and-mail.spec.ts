import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { mailingAt, MailServer, PLAIN } from '../fixtures/mail-server.js';
import { addPerson, emailOf, PASSWORD, signIn } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf, expectEnvelope } from '../fixtures/refusals.js';

const NEXT = 'lantern walrus 77 fog';
const RESET = '/api/v1/auth/password-reset';

describeWithProgram('redis-server', 'people and mail, on a real server and a real mail server', (redis) => {
  let mail: MailServer;
  let deployment: Deployment;
  let baseUrl: string;

  beforeAll(async () => {
    mail = await MailServer.start();
    const served = await mailingAt(mail.port);
    baseUrl = served.baseUrl;
    deployment = await Deployment.start({
      redis,
      env: {
        ...served.env,
        DATAPIPELINES_MAIL_OPS_TO: 'ops@example.com',
        DATAPIPELINES_AUTH_LOCAL_RESET_MAX_PER_HOUR: '50',
        DATAPIPELINES_AUTH_RATE_LIMIT_LOGIN_PER_MINUTE: '60',
      },
    });
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await mail?.close();
  });

  const passwordIn = (to: string): string => /[A-Z2-7]{4}(-[A-Z2-7]{4}){2}/.exec(mail.last(to)?.text ?? '')?.[0] ?? '';
  const arrived = (to: string, known = 0) =>
    eventually(
      `a mail to ${to}`,
      () => mail.received.filter((each) => JSON.stringify(each.to).includes(to)).length > known,
    );

  async function linkFor(email: string): Promise<string> {
    const known = mail.received.filter((each) => JSON.stringify(each.to).includes(email)).length;
    const stranger = new ApiClient(baseUrl);
    expect((await stranger.call('POST', `${RESET}/request`, { email })).status).toBe(202);
    await arrived(email, known);
    return /\/reset-password#token=(\S+)/.exec(mail.last(email)?.text ?? '')?.[1] ?? '';
  }

  it('brings somebody in: the password travels by mail alone, and is replaced at the first sign-in', async () => {
    const answer = await deployment.admin.call('POST', '/api/v1/auth/users', {
      email: 'new@example.org',
      display_name: 'Nova',
    });
    expect([answer.status, answer.body.data.one_time_password, answer.body.data.provider]).toEqual([
      201,
      undefined,
      'local',
    ]);
    await arrived('new@example.org');
    await arrived('ops@example.com');
    const password = passwordIn('new@example.org');
    expect(answer.text + deployment.server.output).not.toContain(password);
    const browser = new ApiClient(baseUrl);
    await browser.call('GET', '/login');
    expect(
      (await browser.call('POST', '/login', { email: 'new@example.org', password })).body.data.must_change_password,
    ).toBe(true);
    expect(errorOf(await browser.call('GET', '/api/v1/workspaces')).code).toBe('auth.password.change_required');
    await browser.data('POST', '/api/v1/auth/password', { current_password: password, new_password: NEXT });
    expect((await browser.call('GET', '/api/v1/auth/me')).status).toBe(200);
    const sends = await deployment.admin.data('GET', '/api/v1/mail-sends?limit=2');
    expect(sends.items.map(({ status, kind }: { status: string; kind: string }) => [status, kind]).sort()).toEqual([
      ['SENT', 'new_user'],
      ['SENT', 'welcome'],
    ]);
    expect(JSON.stringify(sends)).not.toContain(password);
  });

  it('finds, closes and opens an account; the door answers at once on its session', async () => {
    const id = await addPerson(deployment, 'closing', { memberships: { default: { author: true } } });
    const person = await signIn(deployment, 'closing');
    const key = ApiClient.withKey(baseUrl, (await person.data('POST', '/api/v1/auth/api-keys', { name: 'k' })).key);
    const found = await deployment.admin.data('GET', '/api/v1/auth/users?q=CLOSING');
    expect(found.items).toMatchObject([
      { id, email: emailOf('closing'), is_active: true, failed_login_count: expect.anything() },
    ]);
    await deployment.admin.data('POST', `/api/v1/auth/users/${id}/deactivate`);
    expect(errorOf(await person.call('GET', '/api/v1/auth/me')).code).toBe('auth.session.invalid');
    expect(errorOf(await key.call('GET', '/api/v1/auth/me')).code).toBe('auth.api_key.invalid');
    await deployment.admin.data('POST', `/api/v1/auth/users/${id}/activate`);
    expect((await key.call('GET', '/api/v1/auth/me')).status).toBe(200);
    expect((await (await signIn(deployment, 'closing')).call('GET', '/api/v1/auth/me')).status).toBe(200);
  });

  it('shows an administrator people over GraphQL, with what they belong to and hold, and nobody else', async () => {
    await addPerson(deployment, 'member', { memberships: { default: { author: true } } });
    const member = await signIn(deployment, 'member');
    await member.data('POST', '/api/v1/auth/api-keys', { name: 'of the member' });
    const query = `{ users(q: "member", first: 10) { totalCount nodes { email isActive failedLoginCount
      memberships { workspace { name } author } apiKeys(first: 5) { totalCount nodes { name } } } } }`;
    const { data } = (await deployment.admin.call('POST', '/graphql', { query })).body;
    expect(JSON.parse(JSON.stringify(data.users.nodes))).toMatchObject([
      {
        email: emailOf('member'),
        isActive: true,
        memberships: [{ workspace: { name: 'default' }, author: true }],
        apiKeys: { nodes: [{ name: 'of the member' }] },
      },
    ]);
    const refused = await member.call('POST', '/graphql', { query });
    expect(refused.body.errors[0].extensions.code).toBe('auth.role_required');
  });

  it('answers a wish for a reset link alike for everybody, byte for byte but for the correlation id', async () => {
    await addPerson(deployment, 'known');
    const stranger = new ApiClient(baseUrl);
    const bodies = [];
    for (const email of [emailOf('known'), 'unknown@example.org']) {
      const answer = await stranger.call('POST', `${RESET}/request`, { email });
      expect(answer.status).toBe(202);
      bodies.push(answer.text.replace(String(answer.body.correlation_id), ''));
    }
    expect(bodies[0]).toBe(bodies[1]);
    await arrived(emailOf('known'));
  });

  it('sets a new password by the link, once, and tells no more of a dead link than of one that never was', async () => {
    await addPerson(deployment, 'forgetful');
    await deployment.metadata(`UPDATE users SET password_changed_at = NOW() - INTERVAL '1 minute' WHERE email = $1`, [
      emailOf('forgetful'),
    ]);
    const session = await signIn(deployment, 'forgetful');
    const token = await linkFor(emailOf('forgetful'));
    const stranger = new ApiClient(baseUrl);
    const short = await stranger.call('POST', `${RESET}/confirm`, { token, new_password: 'short' });
    expect([short.status, errorOf(short).details.reason]).toEqual([400, 'too_short']);
    expect((await stranger.call('POST', `${RESET}/confirm`, { token, new_password: NEXT })).status).toBe(204);
    expect(errorOf(await session.call('GET', '/api/v1/auth/me')).code).toBe('auth.session.invalid');
    for (const dead of [token, 'A'.repeat(43)]) {
      const again = await stranger.call('POST', `${RESET}/confirm`, { token: dead, new_password: PASSWORD });
      expect([again.status, errorOf(again).code]).toEqual([400, 'auth.password.reset_invalid']);
      expectEnvelope('a dead link', again);
    }
    expect(deployment.server.output).not.toContain(token);
  });

  it('slows down whoever asks too often, under the budget of sign-ins', async () => {
    const stranger = new ApiClient(baseUrl);
    const statuses = new Set<number>();
    for (let n = 0; n < 61; n++) {
      statuses.add((await stranger.call('POST', `${RESET}/confirm`, { token: 'x', new_password: NEXT })).status);
    }
    expect([...statuses].sort()).toEqual([400, 429]);
    await deployment.redis.client.flushall();
  });

  it('never sends a password twice when the server dies between the commit and the sending', async () => {
    // A mail server that takes the connection and never says a word.
    const mute: Server = createServer();
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const dying = await deployment.addServer({
      SERVER_PORT: '0',
      DATAPIPELINES_MAIL_PORT: String((mute.address() as AddressInfo).port),
    });
    const connected = new Promise((resolve) => mute.once('connection', resolve));
    const admin = deployment.admin.on(dying.baseUrl);
    await admin.data('POST', '/api/v1/auth/users', { email: 'cut@example.org' });
    await connected;
    await dying.end('SIGKILL');
    mute.close();
    const rows = await deployment.metadata(
      `SELECT kind, sent_at, error FROM mail_sends m JOIN users u ON u.id = m.user_id WHERE u.email = 'cut@example.org' AND kind = 'welcome'`,
    );
    expect(rows).toEqual([{ kind: 'welcome', sent_at: null, error: null }]);

    const next = await deployment.addServer({ SERVER_PORT: '0' });
    const restarted = deployment.admin.on(next.baseUrl);
    const sends = await restarted.data('GET', '/api/v1/mail-sends?limit=50');
    const cut = sends.items.filter(({ recipient }: { recipient: string }) => recipient === 'cut@example.org');
    expect(cut).toMatchObject([{ kind: 'welcome', status: 'PENDING' }]);
    // The remedy: a new act, with a message of its own.
    await restarted.data('POST', `/api/v1/auth/users/${cut[0].user_id}/reset-password`);
    await arrived('cut@example.org');
    expect(mail.received.filter((each) => JSON.stringify(each.to).includes('cut@example.org'))).toHaveLength(1);
    await next.end();
  }, 60_000);

  it('finishes what it has begun to send before it ends', async () => {
    const slow = await MailServer.start({
      ...PLAIN,
      onRcptTo: (_address, _session, next) => void setTimeout(next, 700),
    });
    const ending = await deployment.addServer({ SERVER_PORT: '0', DATAPIPELINES_MAIL_PORT: String(slow.port) });
    await deployment.admin.on(ending.baseUrl).data('POST', '/api/v1/auth/users', { email: 'last@example.org' });
    expect(await ending.end('SIGTERM')).toBe(0);
    expect(slow.received).toHaveLength(2);
    const rows = await deployment.metadata(
      `SELECT count(*) FILTER (WHERE sent_at IS NOT NULL)::int AS sent FROM mail_sends m JOIN users u ON u.id = m.user_id WHERE u.email = 'last@example.org'`,
    );
    expect(rows).toEqual([{ sent: 2 }]);
    await slow.close();
  }, 60_000);
});

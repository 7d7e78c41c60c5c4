import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { datasourceBody } from '../fixtures/matrix-scene.js';
import { eventually } from '../fixtures/eventually.js';
import { HostileIdp } from '../fixtures/hostile-idp.js';
import { mailingAt, MailServer, reply } from '../fixtures/mail-server.js';
import { addPerson, emailOf, PASSWORD } from '../fixtures/people.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

const PLANTED = 'Zq7Planted/Secret+9f3A=';

describeWithProgram('redis-server', 'secrets, looked for in everything that leaves the server', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  let mail: MailServer;
  let idp: HostileIdp;
  /** What is secret, by what it is. */
  const secrets = new Map<string, string>([['a planted password', PLANTED]]);
  /** Every body and header that any caller was given, but for the one answer that shows a key. */
  const told: string[] = [];

  /** What was sent to one person alone: found in one mail and nowhere else. */
  const mailed = new Map<string, { secret: string; to: string }>();

  beforeAll(async () => {
    [source, idp] = await Promise.all([createEmptyDatabase(), HostileIdp.start()]);
    const plant = (what: string, secret = randomBytes(32).toString('base64')): string => {
      secrets.set(what, secret);
      return secret;
    };
    mail = await MailServer.start({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => done(null, { user: username }),
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('refused') ? done(reply(550, 'no such box')) : done(),
    });
    const { env } = await mailingAt(mail.port);
    const provider = { 'client-id': 'penstock', 'issuer-uri': idp.issuer };
    deployment = await Deployment.start({
      redis,
      redisOptions: { password: plant('the password of Redis', 'Rd5-planted-9f3A') },
      env: {
        ...env,
        DATAPIPELINES_OBSERVABILITY_LOGGING_LEVEL: 'debug',
        DATAPIPELINES_JWT_SECRET: plant('the secret of sessions'),
        DATAPIPELINES_JWT_PREVIOUS_SECRETS: plant('the secret of older sessions'),
        DATAPIPELINES_DB_ENCRYPTION_KEY: plant('the first key of credentials'),
        DATAPIPELINES_DB_ENCRYPTION_KEYS_2: plant('the second key of credentials'),
        DATAPIPELINES_MAIL_USERNAME: 'penstock',
        DATAPIPELINES_MAIL_PASSWORD: plant('the password of the mail server', 'Ml7-planted/Secret+1'),
        DATAPIPELINES_MAIL_OPS_TO: 'ops@example.com',
        DATAPIPELINES_AUTH_OIDC_PROVIDERS: JSON.stringify([
          { ...provider, name: 'acme', 'client-secret': plant('the secret at a provider') },
          {
            ...provider,
            name: 'gone',
            'issuer-uri': 'http://127.0.0.1:1',
            'client-secret': plant('the secret at one that is away'),
          },
        ]),
      },
    });
    secrets.set('the password of a source', new URL(source.url).password);
    secrets.set('the password of the metadata database', new URL(deployment.database.url).password);
    secrets.set('the secret half of a key', deployment.authorKey.split('.')[1] as string);
    secrets.set('the hash of a key', createHash('sha256').update(deployment.authorKey).digest('hex'));
    secrets.set('the password of a person', PASSWORD);
    await busyScene();
    await peopleAndProviders();
    await withoutRedis();
  }, 120_000);

  afterAll(async () => {
    await deployment?.stop();
    await Promise.all([source?.drop(), mail?.close(), idp?.stop()]);
  });

  async function ask(client: ApiClient, method: string, path: string, body?: unknown, headers = {}): Promise<void> {
    const answer = await client.call(method, path, body, { headers });
    told.push(`${method} ${path.split('?')[0]} ${answer.status}\n${[...answer.headers].join('\n')}\n${answer.text}`);
  }

  /** Everything that holds a secret, done well and done wrong, through every door. */
  async function busyScene(): Promise<void> {
    const { author, admin, server } = deployment;
    const keeper = admin.in('default');
    const nobody = new ApiClient(server.baseUrl);
    await addPerson(deployment, 'holder', { memberships: { default: { author: true } } });
    const person = new ApiClient(server.baseUrl);
    await person.call('GET', '/login');
    const signedIn = await person.fetch('POST', '/login', { email: emailOf('holder'), password: PASSWORD });
    const session = signedIn.headers.getSetCookie().find((cookie) => cookie.includes('session='))?.split(/[=;]/)[1];
    secrets.set('the token of a session', session as string);
    await signedIn.text();

    const good = datasourceBody(source, 'held');
    const wrong = { ...datasourceBody(source, 'wrong'), credential: { kind: 'password', username: 'nobody', secret: PLANTED } };
    await ask(keeper, 'POST', '/api/v1/datasources', good);
    await ask(keeper, 'POST', '/api/v1/datasources', wrong);
    for (const url of [`jdbc:postgresql://x:${PLANTED}@h/d`, `jdbc:postgresql://h/d?password=${PLANTED}`]) {
      await ask(keeper, 'POST', '/api/v1/datasources', { ...wrong, name: 'in-url', jdbc_url: url });
    }
    await ask(keeper, 'PUT', '/api/v1/datasources/held', { ...good, display_name: 'Held' });
    for (const name of ['held', 'wrong']) {
      await ask(keeper, 'POST', `/api/v1/datasources/${name}/test`);
      for (const rest of ['', '/schemas', '/tables', '/grants']) await ask(keeper, 'GET', `/api/v1/datasources/${name}${rest}`);
    }
    await ask(keeper, 'GET', '/api/v1/datasources?all=true');

    const templated = { name: 'held/run', source: 'held', dialect: 'POSTGRES', sql: 'SELECT 1 AS one' };
    const ids = [await oneNodePipeline(author, templated)];
    ids.push(await oneNodePipeline(author, { ...templated, name: 'held/fails', sql: `SELECT no_such_function('x')` }));
    const document = await author.data('GET', `/api/v1/pipelines/${ids[0]}/export`);
    told.push(JSON.stringify(document, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)));
    for (const id of ids) {
      const run = await author.call('POST', `/api/v1/pipelines/${id}/execute`, {});
      const execution = run.headers.get('DP-Execution-Id');
      told.push(run.text);
      for (const rest of ['', '/events', '/result']) await ask(author, 'GET', `/api/v1/executions/${execution}${rest}`);
      await ask(author, 'GET', `/api/v1/pipelines/${id}/export`);
    }
    await ask(author, 'GET', '/api/v1/executions');
    await ask(author, 'POST', '/api/v1/endpoints', { path: '/held', pipeline: ids[0] });
    await ask(author, 'GET', '/api/x/held');
    await ask(author, 'GET', `/api/x/held?password=${encodeURIComponent(PLANTED)}`);

    await ask(person, 'GET', '/api/v1/auth/me');
    await ask(person, 'GET', '/api/v1/auth/sessions');
    await ask(person, 'GET', '/api/v1/auth/api-keys');
    await ask(person, 'POST', '/api/v1/auth/password', { current_password: PLANTED, new_password: `${PLANTED} again` });
    await ask(nobody, 'POST', '/login', { email: emailOf('holder'), password: PLANTED });
    await ask(nobody, 'GET', '/api/v1/auth/me', undefined, { 'DP-API-Key': `${deployment.authorKey.split('.')[0]}.${'A'.repeat(48)}` });
    await ask(nobody, 'GET', '/api/v1/auth/me', undefined, { Authorization: `Bearer ${PLANTED}` });
    await ask(nobody, 'POST', '/api/v1/auth/password-reset/confirm', { token: PLANTED, new_password: PASSWORD });
    await ask(author, 'POST', '/graphql', { query: '{ datasources(first: 10) { nodes { name } } executions(first: 10) { nodes { id } } }' });
    await ask(keeper, 'POST', '/graphql', { query: '{ viewer { user { email } } apiKeys(all: true) { nodes { id name } } sessions { id } users { nodes { email } } auditEvents(instance: true) { nodes { event details } } }' });
    const call = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const accept = { Accept: 'application/json, text/event-stream' };
    await ask(author, 'POST', '/mcp', call({ name: 'datasources_list', arguments: {} }), accept);
    await ask(author, 'POST', '/mcp', call({ name: 'datasources_get', arguments: { name: 'wrong', password: PLANTED } }), accept);
    await ask(keeper, 'GET', '/api/v1/audit?instance=true&limit=200');
    for (const path of ['/info', '/health', '/ready']) await ask(nobody, 'GET', path);
    told.push(await (await fetch(`${server.managementUrl}/metrics`)).text());
  } // prettier-ignore

  /** Everybody's way in: first passwords, links, providers; and each of them failing. */
  async function peopleAndProviders(): Promise<void> {
    const { admin, server } = deployment;
    const nobody = new ApiClient(server.baseUrl);
    const arrives = async (kind: string, to: string, form: RegExp, known = 0): Promise<string> => {
      const texts = () => mail.received.filter((each) => JSON.stringify(each.to).includes(to)).map(({ text = '' }) => text);
      await eventually(`a mail to ${to}`, () => texts().length > known);
      const secret = form.exec(texts().at(-1) ?? '')?.at(-1) as string;
      secrets.set(kind, secret);
      mailed.set(kind, { secret, to });
      return secret;
    };
    const ONE_TIME = /\b(?:[A-Z2-7]{4}-){2}[A-Z2-7]{4}\b/;
    for (const email of ['new@example.org', 'refused@example.org']) await ask(admin, 'POST', '/api/v1/auth/users', { email });
    const first = await arrives('a first password', 'new@example.org', ONE_TIME);
    const person = new ApiClient(server.baseUrl);
    await person.call('GET', '/login');
    await ask(person, 'POST', '/login', { email: 'new@example.org', password: first.toLowerCase() });
    await ask(person, 'POST', '/login', { email: 'new@example.org', password: first });
    await ask(person, 'POST', '/api/v1/auth/password', { current_password: first, new_password: first });
    const { user_id: id } = await person.data('GET', '/api/v1/auth/me');
    await ask(admin, 'POST', `/api/v1/auth/users/${id}/reset-password`);
    await arrives('a password given anew', 'new@example.org', ONE_TIME, 1);
    await ask(nobody, 'POST', '/api/v1/auth/password-reset/request', { email: emailOf('holder') });
    const token = await arrives('the token of a reset link', emailOf('holder'), /#token=(\S+)/);
    for (const next of ['short', PLANTED, PLANTED]) await ask(nobody, 'POST', '/api/v1/auth/password-reset/confirm', { token, new_password: next });
    await ask(nobody, 'POST', '/graphql', { query: '{ viewer { user { email } } }', variables: { token } });

    idp.behave({ sub: 'ada-1', email: 'ada@example.com', email_verified: true, name: 'Ada' });
    for (const misdeeds of [{}, { sign: 'none' as const }]) {
      idp.misdeeds = misdeeds;
      const browser = new ApiClient(server.baseUrl);
      const { headers } = await browser.call('GET', '/oauth2/authorization/acme');
      const { query } = idp.signIn(headers.get('Location') as string);
      const back = await browser.call('GET', `/login/oauth2/code/acme?${query}`);
      told.push(`${back.status} ${back.headers.get('Location')} ${back.text}`);
    }
    await ask(nobody, 'GET', '/oauth2/authorization/gone');
    await ask(nobody, 'GET', '/api/v1/auth/providers');
    const keeper = admin.in('default');
    for (const path of ['/api/v1/mail-sends?limit=200', '/api/v1/auth/users?limit=200', '/api/v1/audit?instance=true&limit=200', '/api/v1/auth/sessions']) await ask(keeper, 'GET', path);
    await ask(keeper, 'POST', '/graphql', { query: '{ mailSends { nodes { kind recipient error } } auditEvents(instance: true, first: 200) { nodes { event details } } }' });
    told.push(await (await fetch(`${server.managementUrl}/metrics`)).text());
  } // prettier-ignore

  /** Its client complains with the address it cannot reach. */
  async function withoutRedis(): Promise<void> {
    await deployment.redis.kill();
    for (const path of ['/ready', '/api/v1/pipelines']) await ask(deployment.author, 'GET', path);
    await deployment.redis.restart();
    await eventually('the store', async () => (await deployment.author.call('GET', '/ready')).status === 200);
  }

  /** Names of the secrets that stand in a text, as they are or as they are often written. */
  const found = (text: string): string[] =>
    [...secrets].flatMap(([name, secret]) => {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret).slice(1, -1)];
      return forms.some((form) => text.includes(form)) ? [name] : [];
    }); // prettier-ignore

  it('is a judge that would notice', () => {
    for (const [name, secret] of secrets) {
      expect(secret.length).toBeGreaterThan(3);
      expect(found(`x ${secret} y`)).toContain(name);
      expect(found(encodeURIComponent(secret))).toContain(name);
    }
    expect(told.length).toBeGreaterThan(40);
  });

  it('no answer, event, export or metric holds one', () => {
    expect(told.flatMap((text) => found(text).map((name) => [name, text.slice(0, 200)]))).toEqual([]);
  });

  it('no line of the log holds one, not even at the level of debugging', () => {
    const lines = deployment.server.output.split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.flatMap((line) => found(line).map((name) => [name, line.slice(0, 300)]))).toEqual([]);
  });

  it('no row of any table holds one in readable form', async () => {
    const tables = await deployment.metadata<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const hits: string[][] = [];
    for (const { name } of tables) {
      for (const { row } of await deployment.metadata<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)) {
        hits.push(...found(row).map((secret) => [secret, name]));
      }
    }
    expect(tables.length).toBeGreaterThan(20);
    expect(hits).toEqual([]);
  });

  it('no mail holds one but the mail that brings it, to the one person it is for', () => {
    expect([...mailed.keys()]).toHaveLength(3);
    const texts = mail.received.map(({ to, text = '', html, subject }) => ({
      to: JSON.stringify(to),
      text: [subject, text, String(html)].join('\n'),
    }));
    expect(texts.length).toBeGreaterThan(5);
    for (const [kind, { to }] of mailed) {
      const holding = texts.filter((each) => found(each.text).includes(kind));
      expect([kind, holding.map((each) => each.to.includes(to))]).toEqual([kind, [true]]);
    }
    expect(texts.flatMap(({ text }) => found(text).filter((name) => !mailed.has(name)))).toEqual([]);
  });

  it('was asked of a server to which each of them was given: people came in, by mail and by a provider', async () => {
    const events = await deployment.metadata<{ event: string }>('SELECT DISTINCT event FROM audit_log');
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining([
        'auth.password.reset',
        'auth.password.reset_completed',
        'auth.login.oidc_error',
        'mail.failed',
        'mail.sent',
      ]),
    );
    const through = await deployment.metadata(`SELECT 1 FROM users WHERE provider = 'acme'`);
    expect(through).toHaveLength(1);
    expect(deployment.server.output).toMatch(/"level":"(warn|error)"[^\n]*(redis|transient)/i);
  });
});

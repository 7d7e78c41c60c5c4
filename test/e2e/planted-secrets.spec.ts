import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { datasourceBody } from '../fixtures/matrix-scene.js';
import { addPerson, emailOf, PASSWORD } from '../fixtures/people.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

const PLANTED = 'Zq7Planted/Secret+9f3A=';

describeWithProgram('redis-server', 'secrets, looked for in everything that leaves the server', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  /** What is secret, by what it is. */
  const secrets = new Map<string, string>([['a planted password', PLANTED]]);
  /** Every body and header that any caller was given, but for the one answer that shows a key. */
  const told: string[] = [];

  beforeAll(async () => {
    source = await createEmptyDatabase();
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_OBSERVABILITY_LOGGING_LEVEL: 'debug' } });
    secrets.set('the password of a source', new URL(source.url).password);
    secrets.set('the password of the metadata database', new URL(deployment.database.url).password);
    secrets.set('the secret half of a key', deployment.authorKey.split('.')[1] as string);
    secrets.set('the hash of a key', createHash('sha256').update(deployment.authorKey).digest('hex'));
    secrets.set('the password of a person', PASSWORD);
    await busyScene();
  }, 120_000);

  afterAll(async () => {
    await deployment?.stop();
    await source?.drop();
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
});

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { root } from '../fixtures/keeper-state.js';
import { datasourceBody } from '../fixtures/matrix-documents.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { startRedis, type TestRedis } from '../fixtures/redis.js';
import { ADMIN, deploymentSecrets, ServerProcess } from '../fixtures/server-process.js';

const HSTS = 'max-age=31536000; includeSubDomains';
const KINDS_OF_ANSWER = ['/health', '/login', '/', '/api/v1/auth/me', '/api/v1/auth/providers', '/nothing', '/graphql', '/mcp', '/docs/errors', '/a;b']; // prettier-ignore

describeWithProgram('redis-server', 'what a server tells its operator at each start', (program) => {
  const secrets = deploymentSecrets();
  let database: EmptyDatabase;
  let source: EmptyDatabase;
  let redis: TestRedis;
  let server: ServerProcess | undefined;

  beforeAll(async () => {
    [database, source] = [await createEmptyDatabase(), await createEmptyDatabase()];
    redis = await startRedis(program);
  });
  afterEach(async () => {
    await server?.end('SIGKILL');
  });
  afterAll(async () => {
    await Promise.all([redis?.stop(), database?.drop(), source?.drop()]);
  });

  async function boot(env: Record<string, string>): Promise<ServerProcess> {
    server = await ServerProcess.start({ databaseUrl: database.url, redisUrl: redis.url, secrets, env });
    return server;
  }

  /** Events of the warnings about the first administrator. */
  const warnings = ({ output }: ServerProcess): string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: string; event?: string })
      .filter(({ level, event }) => level === 'warn' && event?.startsWith('auth.local.'))
      .map(({ event = '' }) => event);

  /** What the program that hashes first passwords says of one. */
  const hashed = ({ input = '', env = {} }: { input?: string; env?: Record<string, string> }) =>
    spawnSync(process.execPath, [join(root, 'dist/apps/server/hash-password.js')], {
      cwd: root,
      input,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      encoding: 'utf8',
    });

  const signedIn = async ({ baseUrl }: ServerProcess): Promise<ApiClient> => {
    const admin = new ApiClient(baseUrl);
    await admin.login(ADMIN.email, 'velvet-gravel-onion-51');
    return admin;
  };

  const headerOf = async (baseUrl: string): Promise<[string, string | null][]> =>
    Promise.all(
      KINDS_OF_ANSWER.map(async (path) => {
        const answer = await fetch(`${baseUrl}${path}`, { redirect: 'manual' });
        await answer.body?.cancel();
        return [path, answer.headers.get('Strict-Transport-Security')] as [string, string | null];
      }),
    );

  it('hashes a first password from the input or the environment, and refuses one that would be no password', () => {
    const program = hashed({ env: { DATAPIPELINES_SEED_PASSWORD: 'velvet gravel onion 51' } });
    expect([program.status, program.stderr]).toEqual([0, '']);
    expect(program.stdout).toMatch(/^\$argon2id\$v=19\$[^$]+\$[^$]+\$[^$]+\n$/);
    for (const input of ['', 'short\n', 'qwerty123456\n']) {
      const refused = hashed({ input });
      expect([input, refused.status, refused.stdout]).toEqual([input, 1, '']);
      expect(refused.stderr).toMatch(/\bpassword\b/i);
    }
  });

  // The cases follow each other as the starts of one deployment do.
  it('says that the seeded password was never changed, and over https asks browsers to stay there', async () => {
    const first = await boot({
      DATAPIPELINES_AUTH_BASE_URL: 'https://data.example.com',
      DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: '',
      DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD_HASH: hashed({ input: `${ADMIN.password}\n` }).stdout.trim(),
    });
    expect(warnings(first)).toEqual(['auth.local.one_time_credential_pending']);
    expect(await headerOf(first.baseUrl)).toEqual(KINDS_OF_ANSWER.map((path) => [path, HSTS]));
    expect(first.output).not.toContain(ADMIN.password);
  });

  it('says that a changed address gives nobody rights; over plain http no browser is told to ask for https', async () => {
    const changed = await boot({
      DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: 'somebody.else@example.com',
      DATAPIPELINES_AUTH_BASE_URL: 'http://data.example.com',
    });
    expect(warnings(changed)).toEqual(['auth.local.bootstrap_mismatch']);
    expect(await headerOf(changed.baseUrl)).toEqual(KINDS_OF_ANSWER.map((path) => [path, null]));
    // Who was made administrator stays one.
    const admin = new ApiClient(changed.baseUrl);
    await admin.login(ADMIN.email, ADMIN.password, 'velvet-gravel-onion-51');
    expect(await admin.data('GET', '/api/v1/auth/me')).toMatchObject({ email: ADMIN.email, super_admin: true });
  });

  it('goes quiet once the password is changed and the address is the old one', async () => {
    const quiet = await boot({});
    expect(warnings(quiet)).toEqual([]);
    const admin = await signedIn(quiet);
    expect((await admin.call('POST', '/api/v1/datasources', datasourceBody(source, 'orders'))).status).toBe(201);
    expect((await admin.data('POST', '/api/v1/datasources/orders/test')).connected).toBe(true);
  });

  it('names each datasource whose key was lost, and is healed over HTTP by the credential itself', async () => {
    const replaced = await boot({ DATAPIPELINES_DB_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
    const lost = replaced.output.split('\n').filter((line) => line.includes('No key opens the credential'));
    expect(lost.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'warn', datasource: 'orders', key_version: 1 },
    ]);
    const admin = await signedIn(replaced);
    const works = async () => (await admin.data('POST', '/api/v1/datasources/orders/test')).connected;
    expect(await works()).toBe(false);
    expect((await admin.call('PUT', '/api/v1/datasources/orders', datasourceBody(source, 'orders'))).status).toBe(200);
    expect(await works()).toBe(true);
    expect(replaced.output).not.toContain(new URL(source.url).password);
  });
});

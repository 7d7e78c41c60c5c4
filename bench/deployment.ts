import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#libs/persistence';
import { ApiClient } from '../test/fixtures/api-client.js';
import { findProgram } from '../test/fixtures/installed-program.js';
import { startRedis, type TestRedis } from '../test/fixtures/redis.js';
import { ADMIN, deploymentSecrets, ServerProcess, type DeploymentSecrets } from '../test/fixtures/server-process.js';

export const USERS = 4;
export const SOURCE = 'bench-pg';
const COLLEAGUES = Array.from({ length: USERS - 1 }, (_, index) => `colleague.${index + 1}@example.com`);

/** Somebody who can sign in. */
export interface Credentials {
  email: string;
  password: string;
}

/** Limits that stand for many people are lifted, because four stand here for all; nothing else differs from the defaults. */
const LIFTED = {
  DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
  DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_MINUTE: '60000000',
  DATAPIPELINES_AUTH_RATE_LIMIT_LOGIN_PER_MINUTE: '1000',
  DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '1000',
  DATAPIPELINES_SSE_MAX_STREAMS_PER_USER: '1000',
};

/**
 * The product as it runs in production (one server process, PostgreSQL with fsync on, Redis where it is installed), and
 * beside it, on the same PostgreSQL, a database for sources and for the bare handlers that measure the limits.
 */
export class BenchDeployment {
  private constructor(
    readonly directory: string,
    readonly postgres: EmbeddedPostgres,
    readonly redis: TestRedis | undefined,
    readonly server: ServerProcess,
    /** Sources and limits. */
    readonly sourceUrl: string,
    readonly postgresVersion: string,
    /** `author` keys, one a user. */
    readonly keys: readonly string[],
    readonly admin: ApiClient,
    /** Whose keys they are, each once. */
    readonly people: readonly Credentials[],
    private readonly secrets: DeploymentSecrets,
  ) {}

  static async start(options: { profile?: string; env?: Record<string, string> }): Promise<BenchDeployment> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-bench-'));
    // The account that runs PostgreSQL must be able to enter.
    chmodSync(directory, 0o755);
    const postgres = await startEmbeddedPostgres({ directory, log: () => undefined });
    const { url: sourceUrl, version } = await createDatabase(postgres);
    const program = findProgram('redis-server');
    const redis = program === undefined ? undefined : await startRedis(program);
    const secrets = deploymentSecrets();
    const files = join(directory, 'files');
    mkdirSync(files);
    const folders = {
      DATAPIPELINES_STAGING_SPILL_DIRECTORY: join(directory, 'spill'),
      DATAPIPELINES_DATASOURCES_FILE_ROOTS: files,
    };
    const env = { ...LIFTED, ...folders, ...profiling(options.profile), ...options.env };
    const server = redis
      ? await ServerProcess.start({ databaseUrl: postgres.url, redisUrl: redis.url, secrets, env })
      : await ServerProcess.launch({ DATAPIPELINES_EMBEDDED_DIRECTORY: join(directory, 'embedded'), ...env });
    const { email, password } = redis ? ADMIN : oneTimePassword(join(directory, 'embedded'));
    const admin = new ApiClient(server.baseUrl);
    await admin.login(email, password);
    const inDefault = admin.in('default');
    await inDefault.data('POST', '/api/v1/workspaces/default/members', {
      email,
      author: true,
      promoter: true,
      admin: true,
    });
    const people = redis
      ? await otherUsers(postgres.url, server, email, `${password}-changed`)
      : Array.from({ length: USERS }, () => inDefault);
    const keys = await Promise.all(
      people.map(async (person, index) => {
        const created = await person.data('POST', '/api/v1/auth/api-keys', {
          name: `bench ${index}`,
          scopes: ['author'],
        });
        return created.key as string;
      }),
    );
    const emails = redis ? [email, ...COLLEAGUES] : [email];
    const signIns = emails.map((each) => ({ email: each, password: `${password}-changed` }));
    const deployment = new BenchDeployment(
      directory,
      postgres,
      redis,
      server,
      sourceUrl,
      version,
      keys,
      inDefault,
      signIns,
      secrets,
    );
    await deployment.#registerSource();
    return deployment;
  }

  /** What the server itself keeps; without Redis it brings its own database, which nobody else opens. */
  get metadataUrl(): string {
    if (!this.redis) throw new TypeError('This path needs redis-server.');
    return this.postgres.url;
  }

  /** One more server on the same stores. The caller ends it. */
  async anotherServer(env: Record<string, string> = {}): Promise<ServerProcess> {
    if (!this.redis) throw new TypeError('Several servers need redis-server.');
    return ServerProcess.start({
      databaseUrl: this.postgres.url,
      redisUrl: this.redis.url,
      secrets: this.secrets,
      env: { ...LIFTED, DATAPIPELINES_STAGING_SPILL_DIRECTORY: this.spillDirectory, ...env },
    });
  }

  /** Where the engines of its servers may write. */
  get spillDirectory(): string {
    return join(this.directory, 'spill');
  }

  /** Where files may lie that the server reads. */
  get fileRoot(): string {
    return join(this.directory, 'files');
  }

  get author(): ApiClient {
    return ApiClient.withKey(this.server.baseUrl, this.keys[0]!);
  }

  get stores(): { postgres: string; transient: string } {
    return {
      postgres: `PostgreSQL ${this.postgresVersion} on the same machine`,
      transient: this.redis ? 'Redis on the same machine' : 'transient store in memory (no redis-server found)',
    };
  }

  async stop(): Promise<void> {
    await this.server.end('SIGTERM');
    await this.redis?.stop();
    await this.postgres.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #registerSource(): Promise<void> {
    const { host, pathname, username, password } = new URL(this.sourceUrl);
    await this.admin.data('POST', '/api/v1/datasources', {
      name: SOURCE,
      display_name: 'Bench',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}${pathname}`,
      credential: { kind: 'password', username, secret: password },
    });
  }
}

async function createDatabase(postgres: EmbeddedPostgres): Promise<{ url: string; version: string }> {
  const client = new pg.Client({ connectionString: postgres.superuserUrl });
  await client.connect();
  try {
    await client.query('CREATE DATABASE bench OWNER penstock');
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    const url = new URL(postgres.url);
    url.pathname = '/bench';
    return { url: url.href, version: rows[0]!.server_version };
  } finally {
    await client.end();
  }
}

/** The administrator and three colleagues with the same password, each signed in. */
async function otherUsers(url: string, server: ServerProcess, email: string, password: string): Promise<ApiClient[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `WITH made AS (
         INSERT INTO users (email, display_name, provider, provider_subject, password_hash, password_changed_at)
         SELECT e, e, 'local', e, u.password_hash, NOW() FROM users u, unnest($1::text[]) e WHERE u.email = $2
         RETURNING id
       )
       INSERT INTO workspace_members (workspace_id, user_id, author, promoter)
       SELECT w.id, made.id, TRUE, TRUE FROM workspaces w, made WHERE w.name = 'default'`,
      [COLLEAGUES, email],
    );
  } finally {
    await client.end();
  }
  return Promise.all(
    [email, ...COLLEAGUES].map(async (each) => {
      const person = new ApiClient(server.baseUrl);
      const answer = await person.login(each, password);
      if (answer.status !== 200) throw new TypeError(`${each} could not sign in: ${answer.text}`);
      return person.in('default');
    }),
  );
}

function oneTimePassword(directory: string): { email: string; password: string } {
  return JSON.parse(readFileSync(join(directory, 'admin-password'), 'utf8')) as { email: string; password: string };
}

function profiling(folder: string | undefined): Record<string, string> {
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}

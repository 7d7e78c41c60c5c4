import { describe, it, expect } from '@jest/globals';
import type { Environment } from './environment.js';
import { loadConfiguration } from './load.js';
import { ConfigurationError } from './violation.js';

const KEY_32 = Buffer.alloc(32, 7).toString('base64');

/** A hardened deployment that is accepted. */
const HARDENED: Environment = {
  NODE_ENV: 'production',
  DATAPIPELINES_ENV: 'prod',
  DATAPIPELINES_POSTURE: 'hardened',
  DATABASE_URL: 'postgres://db.example.com/penstock',
  REDIS_URL: 'rediss://redis.example.com',
  DATAPIPELINES_MASTER_KEY: KEY_32,
  DATAPIPELINES_JWT_SECRET: KEY_32,
  DATAPIPELINES_AUTH_BASE_URL: 'https://data.example.com',
  DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
  DATAPIPELINES_AUTH_ALLOW_LOCAL_ONLY: 'true',
};

const URL = { DATAPIPELINES_AUTH_BASE_URL: 'https://data.example.com' };
const MAIL = {
  DATAPIPELINES_MAIL_HOST: 'mail.example.com',
  DATAPIPELINES_MAIL_FROM: 'Penstock <penstock@example.com>',
};

function violatedKeys(environment: Environment): string[] {
  try {
    loadConfiguration(environment);
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.violations.map(({ key }) => key.replace('datapipelines.', ''));
    throw error;
  }
  return [];
}

describe('rules over several keys', () => {
  it.each<[string, Environment, string[]]>([
    ['result lifetimes in order', { DATAPIPELINES_RESULT_TTL_DEFAULT_SECONDS: '4000' }, ['result.ttl-default-seconds']],
    ['result pages in order', { DATAPIPELINES_RESULT_PAGE_MAX_ROWS: '10' }, ['result.page-size-rows']],
    [
      'endpoint timeouts in order',
      { DATAPIPELINES_ENDPOINTS_TIMEOUT_MIN_SECONDS: '60' },
      ['endpoints.timeout-min-seconds'],
    ],
    ['list pages in order', { DATAPIPELINES_WEB_PAGE_MAX_LIMIT: '10' }, ['web.page-default-limit']],
    [
      'a stale timeout equal to the execution timeout',
      { DATAPIPELINES_EXECUTIONS_STALE_TIMEOUT_MINUTES: '10' },
      ['executions.stale-timeout-minutes'],
    ],
    ['a stale timeout just above it', { DATAPIPELINES_EXECUTIONS_STALE_TIMEOUT_MINUTES: '11' }, []],
    [
      'the three executor timeouts in any order',
      { DATAPIPELINES_EXECUTOR_NODE_TIMEOUT_SECONDS: '1', DATAPIPELINES_EXECUTOR_NODE_TIMEOUT_MAX_SECONDS: '1' },
      [],
    ],
    ['staging calls that leave 8 threads', { DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '16' }, []],
    [
      'staging calls that leave 7',
      { DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '17' },
      ['staging.max-concurrent-calls'],
    ],
    [
      'trusted documents without a file of them',
      { DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS: 'require' },
      ['graphql.trusted-documents-file'],
    ],
    [
      'trusted documents with their file',
      { DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS: 'log', DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS_FILE: '/etc/d.json' },
      [],
    ],
    ['a mail server without a sender', { ...URL, DATAPIPELINES_MAIL_HOST: 'mail.example.com' }, ['mail.from']],
    ['a sender without a mail server', { ...URL, DATAPIPELINES_MAIL_FROM: 'penstock@example.com' }, ['mail.host']],
    ['mail without an address of our own', MAIL, ['auth.base-url']],
    ['mail as it should be', { ...URL, ...MAIL, DATAPIPELINES_MAIL_USERNAME: 'u' }, []],
    ['mail with a port that is none', { ...URL, ...MAIL, DATAPIPELINES_MAIL_PORT: '65536' }, ['mail.port']],
    [
      'a sender with a line break, which would forge headers',
      { ...URL, ...MAIL, DATAPIPELINES_MAIL_FROM: 'Eve\r\nBcc: x <e@example.com>' },
      ['mail.from'],
    ],
    [
      'details of a mail server that is not named',
      {
        DATAPIPELINES_MAIL_USERNAME: 'u',
        DATAPIPELINES_MAIL_PASSWORD: 'p',
        DATAPIPELINES_MAIL_OPS_TO: 'o@example.com',
      },
      ['mail.username', 'mail.password', 'mail.ops-to'],
    ],
    ['a mail password for nobody', { ...URL, ...MAIL, DATAPIPELINES_MAIL_PASSWORD: 'p' }, ['mail.password']],
    [
      'a mail server and a folder in its place',
      { ...URL, ...MAIL, DATAPIPELINES_MAIL_DEV_SINK_DIR: '/tmp/mail' },
      ['mail.dev-sink-dir'],
    ],
    [
      'operators who hear of new accounts through the folder',
      { ...URL, DATAPIPELINES_MAIL_DEV_SINK_DIR: '/tmp/mail', DATAPIPELINES_MAIL_OPS_TO: 'ops@example.com' },
      [],
    ],
    [
      'a promotion target without its key',
      { DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://prod.internal' },
      ['deployment.promotion.target.server-key'],
    ],
    [
      'a promotion key for no target',
      { DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_SERVER_KEY: 'x'.repeat(40) },
      ['deployment.promotion.target.base-url'],
    ],
    [
      'a promotion target with its key',
      {
        DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://prod.internal:8080',
        DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_SERVER_KEY: 'x'.repeat(40),
      },
      [],
    ],
    ['staging calls under a small thread pool', { UV_THREADPOOL_SIZE: '19' }, ['staging.max-concurrent-calls']],
    ['one port for both listeners', { DATAPIPELINES_MANAGEMENT_PORT: '8080' }, ['management.port']],
    ['any free port for both', { DATAPIPELINES_MANAGEMENT_PORT: '0', DATAPIPELINES_SERVER_PORT: '0' }, []],
    ['Redis given twice', { REDIS_URL: 'redis://r', DATAPIPELINES_REDIS_HOST: 'r' }, ['redis.host']],
    ['a named deployment without posture', { DATAPIPELINES_ENV: 'staging' }, ['posture']],
    ['a named deployment under its other name', { DATAPIPELINES_DEPLOYMENT_NAME: 'staging' }, ['posture']],
    [
      'a seed without an address',
      { DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: 'x' },
      ['auth.local.bootstrap-password'],
    ],
    [
      'a seed while local accounts are off',
      {
        DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: 'x',
        DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: 'a@b',
        DATAPIPELINES_AUTH_LOCAL_ENABLED: 'false',
      },
      ['auth.local.bootstrap-password'],
    ],
    [
      'two forms of a seed',
      {
        DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: 'x',
        DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD_HASH: '$argon2id$v',
        DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: 'a@b',
      },
      ['auth.local.bootstrap-password-hash'],
    ],
    [
      'a good seed',
      { DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: 'x', DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: 'a@b' },
      [],
    ],
    [
      'a rule whose key is not valid is not judged too',
      { DATAPIPELINES_RESULT_TTL_MIN_SECONDS: 'x' },
      ['result.ttl-min-seconds'],
    ],
  ])('%s', (_what, environment, expected) => {
    expect(violatedKeys(environment)).toEqual(expected);
  });
});

describe('the hardened posture', () => {
  it('is accepted when complete, and switches authoring, introspection and the GraphQL console off', () => {
    const config = loadConfiguration(HARDENED);
    expect(config.get('datapipelines.deployment.authoring-enabled')).toBe(false);
    expect(config.get('datapipelines.graphql.introspection')).toBe('off');
    expect(config.get('datapipelines.graphql.graphiql')).toBe(false);
    expect(config.get('datapipelines.auth.cookie-secure')).toBe(true);
  });

  it.each<[string, Environment, string]>([
    ['embedded mode', { NODE_ENV: '', DATABASE_URL: '' }, 'posture'],
    ['a database on this machine', { DATABASE_URL: 'postgres://localhost/x' }, 'metadata-db.url'],
    ['a database on loopback', { DATABASE_URL: 'postgres://127.8.0.1/x' }, 'metadata-db.url'],
    ['a database on IPv6 loopback', { DATABASE_URL: 'postgres://[::1]/x' }, 'metadata-db.url'],
    ['Redis on this machine', { REDIS_URL: 'redis://localhost' }, 'redis.url'],
    ['one Sentinel on this machine', { REDIS_URL: 'rediss-sentinel://s1.example.com,localhost#m' }, 'redis.url'],
    ['a Redis host on this machine', { REDIS_URL: '', DATAPIPELINES_REDIS_HOST: '127.0.0.1' }, 'redis.url'],
    ['demo content', { DATAPIPELINES_DEMO: 'true' }, 'demo'],
    ['plain http', { DATAPIPELINES_AUTH_BASE_URL: 'http://data.example.com' }, 'auth.base-url'],
    ['no base URL', { DATAPIPELINES_AUTH_BASE_URL: '' }, 'auth.base-url'],
    ['cookies over http', { DATAPIPELINES_AUTH_COOKIE_SECURE: 'false' }, 'auth.cookie-secure'],
    ['passwords only, unacknowledged', { DATAPIPELINES_AUTH_ALLOW_LOCAL_ONLY: 'false' }, 'auth.allow-local-only'],
    [
      'a seeded password',
      { DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD: 'x', DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: 'a@b' },
      'auth.local.bootstrap-password',
    ],
    ['mail without encryption', { ...MAIL, DATAPIPELINES_MAIL_STARTTLS: 'false' }, 'mail.starttls'],
    ['a mail user without a password', { ...MAIL, DATAPIPELINES_MAIL_USERNAME: 'u' }, 'mail.username'],
    ['mail that stays in a folder', { DATAPIPELINES_MAIL_DEV_SINK_DIR: '/tmp/mail' }, 'mail.dev-sink-dir'],
  ])('refuses %s', (_what, change, key) => {
    expect(violatedKeys({ ...HARDENED, ...change })).toContain(key);
  });

  it.each<[string, Environment, string[]]>([
    ['neither asks for TLS', { REDIS_URL: 'redis://:s3cret@redis.example.com' }, ['metadata-db.url', 'redis.url']],
    ['TLS is switched off', { DATABASE_URL: 'postgres://db.example.com/p?sslmode=disable' }, ['metadata-db.url']],
    ['Redis is a host, which has no TLS', { REDIS_URL: '', DATAPIPELINES_REDIS_HOST: 'r.example.com' }, ['metadata-db.url', 'redis.url']],
    ['the certificate is checked', { DATABASE_URL: 'postgres://db.example.com/p?sslmode=verify-full' }, []],
    ['an authority is given', { DATABASE_URL: 'postgres://db.example.com/p?sslrootcert=/etc/ssl/ca.pem' }, []],
    ['TLS is on by its older name', { DATABASE_URL: 'postgres://db.example.com/p?ssl=true' }, []],
    ['TLS comes first', { DATABASE_URL: 'postgres://db.example.com/p?sslnegotiation=direct' }, []],
    ['it is not hardened', { DATAPIPELINES_POSTURE: 'development', REDIS_URL: 'redis://redis.example.com' }, []],
  ])('warns, by name and never by address, of a store that is spoken to in the clear: %s', (_what, change, keys) => {
    const { warnings } = loadConfiguration({ ...HARDENED, ...change });
    expect(warnings.map((warning) => warning.split(' ')[0]?.replace('datapipelines.', ''))).toEqual(keys);
    expect(warnings.join()).not.toMatch(/example\.com|s3cret/);
  }); // prettier-ignore
});

import { describe, it, expect } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Environment } from './environment.js';
import { loadConfiguration, type LoadOptions } from './load.js';
import { ALL_KEYS, environmentName, keyDefinition } from './table.js';
import { ConfigurationError } from './violation.js';

const KEY_32 = Buffer.alloc(32, 7).toString('base64');

/** The least a server with its own database needs. */
const EXTERNAL: Environment = {
  DATABASE_URL: 'postgres://penstock:pw@db.example.com:5432/penstock',
  REDIS_URL: 'redis://redis.example.com:6379',
  DATAPIPELINES_MASTER_KEY: KEY_32,
  DATAPIPELINES_JWT_SECRET: KEY_32,
  DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
};

function violations(environment: Environment, options?: LoadOptions): string[] {
  try {
    loadConfiguration(environment, options);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message.split('\n  - ').slice(1);
    throw error;
  }
  return [];
}

/** Loads with a YAML file of this text. */
function withFile(text: string, environment: Environment = {}) {
  const options = { readFile: () => text };
  return [{ ...environment, DATAPIPELINES_CONFIG_FILE: '/etc/penstock.yaml' }, options] as const;
}

describe('loadConfiguration', () => {
  it('runs embedded when nothing is set, every key having its type', () => {
    const config = loadConfiguration({}, { cores: 2, temporaryDirectory: '/tmp' });
    // Compiles only while the table’s types reach the reader.
    const port: number = config.get('datapipelines.server.port');
    const jobs: boolean = config.get('datapipelines.jobs.enabled');
    const posture: 'development' | 'hardened' | undefined = config.get('datapipelines.posture');
    const roots: readonly string[] = config.get('datapipelines.datasources.file-roots');
    const secret: string | undefined = config.get('datapipelines.jwt.secret');
    const keys: ReadonlyMap<number, string> = config.get('datapipelines.db.encryption-keys');
    expect([port, jobs, posture, roots, secret, keys.size]).toEqual([8080, true, 'development', [], undefined, 0]);
    expect(config.mode).toBe('embedded');
    expect(config.warnings).toEqual([]);
  });

  it('runs external with a database, Redis, keys and a way to sign in', () => {
    const config = loadConfiguration(EXTERNAL);
    expect(config.mode).toBe('external');
    expect(config.get('datapipelines.metadata-db.url')).toBe(EXTERNAL['DATABASE_URL']);
    expect(config.get('datapipelines.db.encryption-key')).toBe(KEY_32);
  });

  it('takes the environment before the file, and the file before the default', () => {
    const [environment, options] = withFile('datapipelines: {server: {port: 7001}, management: {port: 7002}}', {
      DATAPIPELINES_SERVER_PORT: '7003',
    });
    const config = loadConfiguration(environment, options);
    expect(config.get('datapipelines.server.port')).toBe(7003);
    expect(config.get('datapipelines.management.port')).toBe(7002);
    expect(config.get('datapipelines.sse.max-streams-per-user')).toBe(50);
  });

  it('reports every violation at once, naming where each came from', () => {
    // An operator who fixes one line per restart needs an hour for what is one list.
    const [environment, options] = withFile('datapipelines.sse.max-buffer-bytes: 1MB\nnonsense: 1\n', {
      NODE_ENV: 'production',
      DATAPIPELINES_POSTURE: 'hard',
      SERVER_PORT: '99999',
      DATAPIPELINES_RESULT_TTL_MIN_SECONDS: '400',
    });
    expect(violations(environment, options)).toEqual([
      'nonsense (/etc/penstock.yaml) is not a key of this version',
      'datapipelines.posture (DATAPIPELINES_POSTURE) must be development or hardened',
      'datapipelines.server.port (SERVER_PORT) must be a whole number, 0–65535',
      'datapipelines.sse.max-buffer-bytes (datapipelines.sse.max-buffer-bytes in /etc/penstock.yaml) must be a whole number, 16384–67108864',
      'datapipelines.metadata-db.url is required (DATABASE_URL)',
      'datapipelines.redis.url is required (REDIS_URL)',
      'datapipelines.db.encryption-key is required (DATAPIPELINES_MASTER_KEY)',
      'datapipelines.jwt.secret is required (DATAPIPELINES_JWT_SECRET)',
      'datapipelines.auth.local.enabled is required as true, or a provider in datapipelines.auth.oidc.providers: there is no other way to sign in',
      'datapipelines.result.ttl-min-seconds (400) must not be above datapipelines.result.ttl-default-seconds (300)',
    ]);
  });

  it('refuses to run embedded in production', () => {
    // Data in a folder of a container is data lost at the next deployment.
    expect(violations({ NODE_ENV: 'production' })).toContain(
      'datapipelines.metadata-db.url is required (DATABASE_URL)',
    );
    expect(violations({ ...EXTERNAL, NODE_ENV: 'production' })).toEqual([]);
  });

  it('asks a migration for the database and for nothing else', () => {
    expect(violations({ DATABASE_URL: EXTERNAL['DATABASE_URL'] }, { purpose: 'migration' })).toEqual([]);
    expect(violations({}, { purpose: 'migration' })).toEqual([
      'datapipelines.metadata-db.url is required (DATABASE_URL)',
    ]);
  });

  it('drops jdbc: from a database URL', () => {
    const config = loadConfiguration({
      ...EXTERNAL,
      DATABASE_URL: '',
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/penstock',
    });
    expect(config.get('datapipelines.metadata-db.url')).toBe('postgresql://db/penstock');
  });

  it('counts an empty variable as absent', () => {
    // Compose files pass variables through that nobody has set.
    expect(loadConfiguration({ DATABASE_URL: '', SERVER_PORT: '' }).get('datapipelines.server.port')).toBe(8080);
  });

  it.each([
    ['-1', 'datapipelines.executor.max-parallel-nodes'],
    ['65', 'datapipelines.executor.max-parallel-nodes'],
    ['4.0', 'datapipelines.executor.max-parallel-nodes'],
    ['0x4', 'datapipelines.executor.max-parallel-nodes'],
    ['1e1', 'datapipelines.executor.max-parallel-nodes'],
    [' 4', 'datapipelines.executor.max-parallel-nodes'],
    ['99999999999999999999', 'datapipelines.result.max-size-bytes'],
    ['yes', 'datapipelines.jobs.enabled'],
    ['sunday,monday', 'datapipelines.org.week-start'],
    ['Mars/Olympus', 'datapipelines.org.timezone'],
    ['02-30', 'datapipelines.org.fiscal-start-date'],
    ['13-01', 'datapipelines.org.fiscal-start-date'],
    ['00-10', 'datapipelines.org.fiscal-start-date'],
    ['1-1', 'datapipelines.org.fiscal-start-date'],
    ['mysql://db/x', 'datapipelines.metadata-db.url'],
    ['postgres:///nohost', 'datapipelines.metadata-db.url'],
    ['http://redis', 'datapipelines.redis.url'],
    ['*', 'datapipelines.cors.allowed-origins'],
    ['https://*.example.com', 'datapipelines.cors.allowed-origins'],
    ['https://a.example,https://b.example/path', 'datapipelines.cors.allowed-origins'],
    ['null', 'datapipelines.cors.allowed-origins'],
    ['*', 'datapipelines.auth.base-url'],
    ['https://u:p@data.example', 'datapipelines.auth.base-url'],
    ['ftp://data.example', 'datapipelines.auth.base-url'],
    ['10.0.0.0/33', 'datapipelines.auth.trusted-proxies'],
    ['10.1', 'datapipelines.auth.trusted-proxies'],
    ['proxy.example', 'datapipelines.auth.trusted-proxies'],
    ['10.0.0.0/8,::/129', 'datapipelines.datasources.egress.deny'],
    ['relative/path', 'datapipelines.datasources.file-roots'],
    ['admin', 'datapipelines.auth.api-keys.default-scopes'],
    ['nobody', 'datapipelines.auth.bootstrap-admin-email'],
    ['Prod!', 'datapipelines.env'],
  ] as const)('refuses %j for %s', (text, key) => {
    const variable = environmentName(key);
    const found = violations({ [variable]: text });
    expect(found.filter((line) => line.startsWith(`${key} (${variable}) `))).toHaveLength(1);
  });

  it('takes 29 February as the start of a fiscal year, as calculators do', () => {
    const config = loadConfiguration({ DATAPIPELINES_ORG_FISCAL_START_DATE: '02-29' });
    expect(config.get('datapipelines.org.fiscal-start-date')).toBe('02-29');
  });

  it('reads lists by commas and normalises their entries', () => {
    const config = loadConfiguration({
      DATAPIPELINES_CORS_ALLOWED_ORIGINS: 'https://a.example:443/, http://localhost:5173',
      DATAPIPELINES_AUTH_TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8,192.0.2.1',
      DATAPIPELINES_AUTH_BOOTSTRAP_ADMIN_EMAIL: ' Ada@Example.COM ',
    });
    expect(config.get('datapipelines.cors.allowed-origins')).toEqual(['https://a.example', 'http://localhost:5173']);
    expect(config.get('datapipelines.auth.trusted-proxies')).toEqual(['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32']);
    expect(config.get('datapipelines.auth.bootstrap-admin-email')).toBe('ada@example.com');
  });

  it('has one environment name per key', () => {
    // Two keys behind one variable would set each other.
    const names = ALL_KEYS.flatMap((key) => {
      const { aliases, secret } = keyDefinition(key);
      const own = [environmentName(key), ...(aliases.env ?? []), ...(aliases.keys ?? []).map(environmentName)];
      return secret ? own.flatMap((name) => [name, `${name}_FILE`]) : own;
    });
    const withFiles = names.concat('DATAPIPELINES_CONFIG_FILE');
    expect(new Set(withFiles).size).toBe(withFiles.length);
  });

  it('has defaults that pass their own bounds', () => {
    const config = loadConfiguration({}, { cores: 64, temporaryDirectory: '/tmp' });
    for (const key of ALL_KEYS) {
      const value: unknown = config.get(key);
      if (value === undefined || value instanceof Map || (Array.isArray(value) && value.length === 0)) continue;
      expect([key, keyDefinition(key).parse(String(value))]).toEqual([key, { value }]);
    }
  });
});

describe('defaults that depend', () => {
  it.each([
    [{}, 'datapipelines.auth.cookie-secure', false],
    [{ DATAPIPELINES_AUTH_BASE_URL: 'https://p.example' }, 'datapipelines.auth.cookie-secure', true],
    [{ ...EXTERNAL, DATAPIPELINES_AUTH_BASE_URL: 'http://p.example' }, 'datapipelines.auth.cookie-secure', false],
    [EXTERNAL, 'datapipelines.auth.cookie-secure', true],
    [EXTERNAL, 'datapipelines.auth.session.host-prefix', true],
    [{ ...EXTERNAL, DATAPIPELINES_AUTH_COOKIE_SECURE: 'false' }, 'datapipelines.auth.session.host-prefix', false],
    [{}, 'datapipelines.auth.local.enabled', true],
    [{}, 'datapipelines.staging.threads', 4],
    [{ DATAPIPELINES_STAGING_THREADS: 'auto' }, 'datapipelines.staging.threads', 4],
    [{}, 'datapipelines.staging.spill-directory', '/scratch'],
    [{}, 'datapipelines.datasources.retire-ceiling-seconds', 330],
    [{ DATAPIPELINES_EXECUTOR_NODE_TIMEOUT_SECONDS: '100' }, 'datapipelines.datasources.retire-ceiling-seconds', 130],
    [{ DATAPIPELINES_DB_ENCRYPTION_KEYS_4: KEY_32 }, 'datapipelines.db.encryption-key-current', 4],
    [{}, 'datapipelines.graphql.introspection', 'authenticated'],
    [{}, 'datapipelines.graphql.graphiql', true],
    [{}, 'datapipelines.deployment.authoring-enabled', true],
  ] as const)('%j gives %s = %j', (environment: Environment, key, value) => {
    const config = loadConfiguration(environment, { cores: 16, temporaryDirectory: '/scratch' });
    expect(config.get(key)).toBe(value);
  });
});

describe('secrets', () => {
  it('are read from files, a line end at the end not counting', () => {
    const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
    const path = join(folder, 'key');
    writeFileSync(path, `${KEY_32}\n`);
    try {
      const config = loadConfiguration({ DATAPIPELINES_JWT_SECRET_FILE: path, DATAPIPELINES_MASTER_KEY_FILE: path });
      expect(config.get('datapipelines.jwt.secret')).toBe(KEY_32);
      expect(config.get('datapipelines.db.encryption-key')).toBe(KEY_32);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are sealed by a key provider that there is: an unknown one stops the boot by its name', () => {
    expect(violations({ DATAPIPELINES_DB_KEY_PROVIDER: 'vault' })).toEqual([
      'datapipelines.db.key-provider (DATAPIPELINES_DB_KEY_PROVIDER) must be env',
    ]);
    expect(loadConfiguration({}).get('datapipelines.db.key-provider')).toBe('env');
  });

  it('refuses unreadable and empty files, both forms together, and files for what is no secret', () => {
    expect(violations({ REDIS_URL_FILE: '/nowhere/at/all' })).toEqual([
      'REDIS_URL_FILE names a file that cannot be read (ENOENT)',
    ]);
    expect(violations({ REDIS_URL_FILE: '/x' }, { readFile: () => '\n' })).toEqual([
      'REDIS_URL_FILE names a file that is empty',
    ]);
    expect(violations({ REDIS_URL_FILE: '/x', REDIS_URL: 'redis://r' })).toEqual([
      'REDIS_URL and REDIS_URL_FILE are both set; keep one',
    ]);
    expect(loadConfiguration({ DATAPIPELINES_SERVER_PORT_FILE: '/x' }).warnings).toHaveLength(1);
  });

  it('never appear in what is printed: not in violations, not in the configuration itself', () => {
    const planted = 'PLANTED-hunter2';
    const environment = Object.fromEntries(
      ALL_KEYS.filter((key) => keyDefinition(key).secret).map((key) => [
        `${environmentName(key)}${keyDefinition(key).numbered ? '_2' : ''}`,
        `${planted}:bad url/key`,
      ]),
    );
    const found = violations({ ...environment, DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD_HASH: planted });
    expect(found.length).toBeGreaterThanOrEqual(6);
    expect(found.join('\n')).not.toContain('hunter2');
    expect(violations(...withFile(`datapipelines.jwt.secret: "${planted}\nx: [`)).join()).not.toContain('hunter2');
    expect(violations(...withFile(`datapipelines.jwt.secret: ${planted}`)).join()).not.toContain('hunter2');
    const config = loadConfiguration({ DATAPIPELINES_JWT_SECRET: KEY_32 });
    expect(`${inspect(config, { depth: 9, showHidden: true })}${JSON.stringify(config)}`).not.toContain(KEY_32);
  });

  it('of two deployments must be long enough that nobody finds them by trying', () => {
    const shared = (value: string) => ({ DATAPIPELINES_DEPLOYMENT_PROMOTION_SERVER_KEY: value });
    for (const value of ['x'.repeat(31), 'x'.repeat(257), `${'x'.repeat(20)} ${'x'.repeat(20)}`, 'ü'.repeat(40)]) {
      const [found, ...others] = violations(shared(value));
      expect([others, found]).toEqual([[], expect.stringContaining('32 to 256 printable ASCII characters')]);
      expect(found).not.toContain(value);
    }
    const long = 'x'.repeat(32);
    expect(loadConfiguration(shared(long)).get('datapipelines.deployment.promotion.server-key')).toBe(long);
    expect(loadConfiguration({}).get('datapipelines.deployment.promotion.server-key')).toBeUndefined();
  });

  it('come in versions for the encryption key', () => {
    const other = Buffer.alloc(32, 9).toString('base64url');
    const config = loadConfiguration({
      ...EXTERNAL,
      DATAPIPELINES_DB_ENCRYPTION_KEYS_2: other,
      DATAPIPELINES_DB_ENCRYPTION_KEYS_200: KEY_32,
      DATAPIPELINES_DB_ENCRYPTION_KEY_CURRENT: '2',
    });
    expect([...config.get('datapipelines.db.encryption-keys')]).toEqual([
      [2, other],
      [200, KEY_32],
    ]);
    expect(config.get('datapipelines.db.encryption-key-current')).toBe(2);
    expect(violations({ DATAPIPELINES_DB_ENCRYPTION_KEYS_2: 'c2hvcnQ=' })).toEqual([
      'datapipelines.db.encryption-keys (DATAPIPELINES_DB_ENCRYPTION_KEYS_2) number 2 must be base64 of exactly 32 bytes',
    ]);
    expect(violations({ DATAPIPELINES_DB_ENCRYPTION_KEY_CURRENT: '3' })).toEqual([
      'datapipelines.db.encryption-key-current names version 3, for which there is no key',
    ]);
  });
});

describe('names', () => {
  it('warns about an older name and obeys it', () => {
    const config = loadConfiguration({ DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_GLOBAL: '7' });
    expect(config.get('datapipelines.executor.max-concurrent-executions-per-instance')).toBe(7);
    expect(config.warnings).toEqual([
      'DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_GLOBAL is the old name of datapipelines.executor.max-concurrent-executions-per-instance',
    ]);
  });

  it('refuses an older name that says something else than the new one, wherever the two stand', () => {
    const old = 'datapipelines.executor.max-concurrent-executions-global: 7';
    const [environment, options] = withFile(old, {
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '8',
    });
    expect(violations(environment, options)).toHaveLength(1);
    expect(
      violations(
        { DATABASE_URL: EXTERNAL['DATABASE_URL'], DATAPIPELINES_METADATA_DB_URL: 'postgres://other/x' },
        { purpose: 'migration' },
      ),
    ).toEqual([
      'datapipelines.metadata-db.url is set to different values by DATAPIPELINES_METADATA_DB_URL and DATABASE_URL',
    ]);
    expect(violations({ SERVER_PORT: '7', DATAPIPELINES_SERVER_PORT: '7' })).toEqual([]);
  });

  it('warns about a variable with our prefix that nothing reads, guessing what was meant', () => {
    const { warnings } = loadConfiguration({
      DATAPIPELINES_SSE_MAX_BUFER_BYTES: '1',
      DATAPIPELINES_DATAPLANE_PORT: '1',
    });
    expect(warnings).toEqual([
      'DATAPIPELINES_SSE_MAX_BUFER_BYTES is not a setting of this version and is ignored; did you mean DATAPIPELINES_SSE_MAX_BUFFER_BYTES?',
    ]);
  });

  it('refuses removed keys by name', () => {
    expect(violations({ DATAPIPELINES_WORKSPACES_OPEN_JOIN: 'true' })).toEqual([
      'DATAPIPELINES_WORKSPACES_OPEN_JOIN was removed: members are added by workspace administrators',
    ]);
    expect(violations(...withFile('datapipelines: {workspaces: {provisioning-mode: open}}'))).toEqual([
      'datapipelines.workspaces.provisioning-mode (/etc/penstock.yaml) was removed: workspaces are created by super administrators',
    ]);
  });

  it('says that a promotion key is of no use where people write', () => {
    const key = { DATAPIPELINES_DEPLOYMENT_PROMOTION_SERVER_KEY: 'x'.repeat(40) };
    expect(loadConfiguration(key).warnings).toEqual([expect.stringContaining('promotions are refused')]);
    const receiving = { ...key, DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' };
    expect(loadConfiguration(receiving).warnings).toEqual([]);
  });

  it('says that Redis is not used when the server runs embedded', () => {
    expect(loadConfiguration({ REDIS_URL: 'redis://r' }).warnings).toEqual([
      expect.stringContaining('Redis is not used'),
    ]);
  });
});

describe('withGenerated', () => {
  it('fills what nobody set and leaves the rest', () => {
    const config = loadConfiguration({ DATAPIPELINES_JWT_SECRET: KEY_32 });
    const complete = config.withGenerated({
      'datapipelines.jwt.secret': 'generated',
      'datapipelines.db.encryption-key': 'generated',
    });
    expect(complete.get('datapipelines.jwt.secret')).toBe(KEY_32);
    expect(complete.get('datapipelines.db.encryption-key')).toBe('generated');
    expect(config.get('datapipelines.db.encryption-key')).toBeUndefined();
  });
});

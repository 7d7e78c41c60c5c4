import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { Dialect } from '#libs/typesystem';

import { NativeCallGate } from './duckdb/native-call-gate.js';
import { duckdbDriver } from './duckdb/duckdb.driver.js';
import { DuckdbInstances } from './duckdb/instances.js';
import { h2Driver } from './h2/h2.driver.js';
import { loadMssql } from './mssql/library.js';
import { mssqlDriver } from './mssql/mssql.driver.js';
import { mysqlDriver } from './mysql/mysql.driver.js';
import { loadOracle } from './oracle/library.js';
import { oracleDriver } from './oracle/oracle.driver.js';
import { postgresDriver } from './postgres/postgres.driver.js';
import { parseStartupOptions } from './postgres/properties.js';
import { sqliteDriver } from './sqlite/sqlite.driver.js';

const duckdb = duckdbDriver(
  new DuckdbInstances({ memoryMb: 64, threads: 1, temporaryDirectory: '/tmp' }, new NativeCallGate(4)),
  new NativeCallGate(1),
);
const PREFIXES: Partial<Record<Dialect, string>> = {
  POSTGRES: 'jdbc:postgresql:',
  MYSQL: 'jdbc:mysql:',
  H2: 'jdbc:h2:pg:',
  MSSQL: 'jdbc:sqlserver:',
  ORACLE: 'jdbc:oracle:thin:@',
  SQLITE: 'jdbc:sqlite:',
  DUCKDB: 'jdbc:duckdb:',
};
const drivers = [
  postgresDriver,
  mysqlDriver,
  h2Driver,
  sqliteDriver,
  duckdb,
  mssqlDriver(loadMssql),
  oracleDriver(await loadOracle()),
];

/** `code reason` of each failure. */
function defects(driver: (typeof drivers)[number], url: string, jdbc: Record<string, unknown> = {}): string[] {
  const result = driver.configure(url, new Map(Object.entries(jdbc)));
  return result.ok
    ? []
    : result.failures.map(({ code, details }) => `${code.split('.').at(-1)} ${String(details?.['reason'])}`);
}

describe('PostgreSQL URLs', () => {
  it.each([
    ['jdbc:postgresql://db.example.org/sales', [{ host: 'db.example.org', port: 5432, database: 'sales' }]],
    ['jdbc:postgresql://db:6543/', [{ host: 'db', port: 6543 }]],
    ['jdbc:postgresql://[2001:db8::1]:6543/x', [{ host: '2001:db8::1', port: 6543, database: 'x' }]],
    [
      'jdbc:postgresql://a,b:1,[::1]/x',
      [
        { host: 'a', port: 5432, database: 'x' },
        { host: 'b', port: 1, database: 'x' },
        { host: '::1', port: 5432, database: 'x' },
      ],
    ],
    [
      'jdbc:postgresql://a/with%20blank%2Fslash?ApplicationName=x%26y',
      [{ host: 'a', port: 5432, database: 'with blank/slash' }],
    ],
    ['jdbc:postgresql:sales', [{ host: 'localhost', port: 5432, database: 'sales' }]],
    ['jdbc:postgresql:', [{ host: 'localhost', port: 5432 }]],
  ])('%s', (url, hosts) => {
    const result = postgresDriver.configure(url, new Map());
    expect(result.ok && result.configured.hosts).toEqual(hosts);
  });

  it.each([
    ['JDBC:postgresql://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['postgresql://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:mysql://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:postgresql://bob:pw@h/d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql://bob@h/d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql:bob@d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql://h/d?user=bob', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql://h/d?PassWord=x', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql://h/d?sslpassword=x', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:postgresql://h', 'jdbc_url_malformed path'],
    ['jdbc:postgresql://h/a/b', 'jdbc_url_malformed path'],
    ['jdbc:postgresql://h:0/d', 'jdbc_url_malformed port'],
    ['jdbc:postgresql://h:65536/d', 'jdbc_url_malformed port'],
    ['jdbc:postgresql://h:12x/d', 'jdbc_url_malformed port'],
    ['jdbc:postgresql://h:/d', 'jdbc_url_malformed port'],
    ['jdbc:postgresql://::1/d', 'jdbc_url_malformed host'],
    ['jdbc:postgresql://[nonsense]/d', 'jdbc_url_malformed host'],
    ['jdbc:postgresql://a,,b/d', 'jdbc_url_malformed host'],
    ['jdbc:postgresql:///tmp/.s.PGSQL', 'jdbc_url_malformed path'],
    ['jdbc:postgresql:/var/run', 'jdbc_url_malformed host'],
    ['jdbc:postgresql://h/d%zz', 'jdbc_url_malformed percent_encoding'],
    ['jdbc:postgresql://h/d%ff', 'jdbc_url_malformed percent_encoding'],
    ['jdbc:postgresql://h/d%00x', 'jdbc_url_malformed control_character'],
    ['jdbc:postgresql://h/d?=x', 'jdbc_url_malformed parameter_empty'],
    ['jdbc:postgresql://h/d?ssl=true&ssl=true', 'jdbc_url_malformed parameter_repeated'],
    ['jdbc:postgresql://h/d?socketFactory=evil.Class', 'jdbc_url_malformed property_refused'],
    ['jdbc:postgresql://h/d?SSLFactoryArg=x', 'jdbc_url_malformed property_refused'],
    ['jdbc:postgresql://h/d?loggerFile=/tmp/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:postgresql://h/d?authenticationPluginClassName=x', 'jdbc_url_malformed property_refused'],
    ['jdbc:postgresql://h/d?sslkey=/etc/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:postgresql://h/d?sslMode=require', 'jdbc_url_malformed property_unknown'],
    ['jdbc:postgresql://h/d?sslmode=sometimes', 'jdbc_url_malformed property_value'],
    [`jdbc:postgresql://h/${'x'.repeat(2048)}`, 'jdbc_url_malformed too_long'],
  ])('%s is refused: %s', (url, defect) => {
    expect(defects(postgresDriver, url)).toEqual([defect]);
  });

  it('every defect of URL and properties is told at once, and the nearest name', () => {
    const result = postgresDriver.configure(
      'jdbc:postgresql://h/d?sslmod=require&socketTimeout=soon',
      new Map<string, unknown>([
        ['user', 'bob'],
        ['connectTimeout', 5],
        ['applicationName', 'x'],
        ['sslcert', '/x'],
      ]),
    );
    expect(result.ok).toBe(false);
    const failures = result.ok ? [] : result.failures;
    expect(failures.map(({ path, details }) => `${path} ${String(details?.['reason'])}`)).toEqual([
      'jdbc_url property_unknown',
      'jdbc_url property_value',
      'properties.jdbc.user property_refused',
      'properties.jdbc.connectTimeout property_value',
      'properties.jdbc.applicationName property_unknown',
      'properties.jdbc.sslcert property_refused',
    ]);
    expect(failures[0]?.details).toMatchObject({ suggestion: 'sslmode' });
    expect(failures[4]?.details).toMatchObject({ suggestion: 'ApplicationName' });
  });

  it('a key in the URL and in the properties is refused; a meaningless one is kept and told', () => {
    expect(defects(postgresDriver, 'jdbc:postgresql://h/d?ssl=true', { ssl: 'true' })).toEqual([
      'properties_invalid given_twice',
    ]);
    const result = postgresDriver.configure(
      'jdbc:postgresql://h/d?prepareThreshold=5',
      new Map([['stringtype', 'unspecified']]),
    );
    expect(result.ok && result.configured.ignored).toEqual(['prepareThreshold', 'stringtype']);
  });

  it('options take only -c settings, and none that undoes read-only, loads code or changes the role', () => {
    const options = (text: string): string[] => defects(postgresDriver, 'jdbc:postgresql://h/d', { options: text });
    expect(options('-c statement_timeout=5000 -c search_path=a\\ b')).toEqual([]);
    for (const bad of [
      '-c default_transaction_read_only=off',
      '-c TRANSACTION_READ_ONLY=off',
      '-c session_preload_libraries=x',
      '-c role=postgres',
      '-c session_authorization=x',
      '--statement_timeout=5',
      '-d 5',
      '-c',
      '-c noequals',
      'x',
    ]) {
      expect(options(bad)).toEqual(['properties_invalid property_value']);
    }
    expect(parseStartupOptions('-c a=b\\ c -c d=\\\\e')).toEqual(
      new Map([
        ['a', 'b c'],
        ['d', '\\e'],
      ]),
    );
  });
});

describe('file URLs', () => {
  it.each([
    ['jdbc:sqlite::memory:', sqliteDriver, []],
    ['jdbc:sqlite:/data/a%20b.db', sqliteDriver, ['/data/a b.db']],
    ['jdbc:duckdb:', duckdb, []],
    ['jdbc:duckdb:/data/x.duckdb', duckdb, ['/data/x.duckdb']],
  ])('%s', (url, driver, files) => {
    const result = driver.configure(url, new Map());
    expect(result.ok && result.configured.files.map(({ path }) => path)).toEqual(files);
  });

  it.each([
    ['jdbc:sqlite:', sqliteDriver, 'path'],
    ['jdbc:sqlite:relative.db', sqliteDriver, 'path'],
    ['jdbc:sqlite:/data/../etc/passwd', sqliteDriver, 'path'],
    ['jdbc:sqlite:/data/x.db?mode=rw', sqliteDriver, 'parameters'],
    ['jdbc:sqlite:/data/x%00.db', sqliteDriver, 'control_character'],
    ['jdbc:duckdb:md:cloud', duckdb, 'path'],
    ['jdbc:duckdb:/x;a=b', duckdb, 'parameters'],
    ['jdbc:duckdb:s3://bucket/x', duckdb, 'path'],
  ])('%s is refused', (url, driver, reason) => {
    expect(defects(driver, url)).toEqual([`jdbc_url_malformed ${reason}`]);
  });
});

describe('what no datasource may set', () => {
  /** Contract 06 §4, "refused at minimum", and what is refused everywhere. */
  const LOCKS = [
    ...['allow_unsigned_extensions', 'allow_community_extensions', 'autoinstall_known_extensions'],
    ...['autoload_known_extensions', 'allow_persistent_secrets', 'enable_external_access', 'lock_configuration'],
    ...['session_init_sql_file', 'custom_user_agent', 'temp_directory', 'extension_directory', 'home_directory'],
    ...['allowed_paths', 'allowed_directories', 'memory_limit', 'max_memory', 'threads'],
  ];
  const POSTGRES = [
    ...['socketFactory', 'socketFactoryArg', 'sslfactory', 'sslfactoryarg', 'sslhostnameverifier'],
    ...['authenticationPluginClassName', 'sslkey', 'sslcert', 'sslpassword', 'sslpasswordcallback', 'loggerLevel'],
    ...['loggerFile', 'jaasApplicationName', 'jaasLogin'],
  ];
  const MINIMUM: Partial<Record<Dialect, string[]>> = {
    POSTGRES,
    H2: [...POSTGRES, 'INIT'],
    MYSQL: [
      ...['allowLoadLocalInfile', 'allowLoadLocalInfileInPath', 'allowUrlInLocalInfile', 'autoDeserialize'],
      ...['allowPublicKeyRetrieval', 'allowMultiQueries', 'sessionVariables', 'serverRSAPublicKeyFile'],
      ...['queryInterceptors', 'exceptionInterceptors', 'loggerClass', 'socketFactoryClassName'],
      ...['trustCertificateKeyStoreUrl', 'clientCertificateKeyStoreType', 'verifyServerCertificate'],
    ],
    MSSQL: [
      ...['trustServerCertificate', 'trustStore', 'trustStoreType', 'keyStoreLocation', 'keyVaultProviderClientId'],
      ...['clientCertificate', 'clientKey', 'socketFactoryClass', 'socketFactoryConstructorArg', 'accessToken'],
      ...['accessTokenCallbackClass', 'integratedSecurity', 'authentication'],
    ],
    ORACLE: [
      ...['oracle.net.tns_admin', 'oracle.net.wallet_location', 'javax.net.ssl.trustStore', 'javax.net.ssl.keyStore'],
      ...['javax.net.debug', 'my.trustStoreType', 'my.keyStoreType'],
    ],
    DUCKDB: LOCKS,
    SQLITE: ['enable_load_extension', 'limit_attached', 'temp_store_directory'],
  };
  const EVERYWHERE = [
    ...['jdbcUrl', 'username', 'password', 'driverClassName', 'dataSourceClassName', 'dataSourceJNDI', 'poolName'],
    ...['metricRegistry', 'metricsTrackerFactory', 'healthCheckRegistry', 'exceptionOverrideClassName'],
    ...['connectionInitSql', 'readOnly', 'threadFactory', 'scheduledExecutor'],
    ...['trustPassword', 'passwd', 'pwd', 'secret', 'clientSecret', 'clientkey', 'sslClientKey', 'user'],
    ...['OAuthPvtKey', 'OAuthAccessToken', 'OAuthRefreshToken', 'Auth_AccessToken', 'apiKey', 'privateKey'],
  ];
  /** With the place of one parameter; file URLs take none. */
  const WITH_PARAMETER: Partial<Record<Dialect, string>> = {
    POSTGRES: 'jdbc:postgresql://h/d?KEY=x',
    H2: 'jdbc:h2:pg://h/d?KEY=x',
    MYSQL: 'jdbc:mysql://h/d?KEY=x',
    MSSQL: 'jdbc:sqlserver://h;KEY=x',
    ORACLE: 'jdbc:oracle:thin:@//h/s?KEY=x',
  };
  const PLAIN: Partial<Record<Dialect, string>> = { DUCKDB: 'jdbc:duckdb:', SQLITE: 'jdbc:sqlite::memory:' };

  it.each(drivers.map((driver) => [driver.dialect, driver] as const))(
    '%s: what opens a door, carries a secret or is the server’s own, in any case, beside the URL and in it',
    (dialect, driver) => {
      const inUrl = WITH_PARAMETER[dialect];
      const plain = PLAIN[dialect] ?? inUrl?.replace(/[?;]KEY=x$/, '') ?? '';
      expect(defects(driver, plain)).toEqual([]);
      for (const name of [...(MINIMUM[dialect] ?? []), ...EVERYWHERE]) {
        for (const key of [name, name.toUpperCase(), name.toLowerCase()]) {
          // As refused, not as unknown: no other spelling is offered.
          expect([key, defects(driver, plain, { [key]: 'x' })]).toEqual([key, ['properties_invalid property_refused']]);
          if (inUrl === undefined) continue;
          const [defect, ...more] = defects(driver, inUrl.replace('KEY', key));
          expect([key, defect, more]).toEqual([
            key,
            expect.stringMatching(/^jdbc_url_malformed (?:property_refused|credential_in_url)$/),
            [],
          ]);
        }
      }
    },
  );
});

describe('hostile URLs', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'jdbc:',
      'postgresql:',
      'sqlite:',
      'duckdb:',
      '//',
      '/',
      '?',
      '&',
      '=',
      '@',
      ':',
      ',',
      '[',
      ']',
      '%',
      '%00',
      '%2F',
      '%c3%28',
      '#',
      ';',
      '..',
      'user',
      'password',
      'ssl',
      'socketFactory',
      'localhost',
      '::1',
      '65536',
      '\u0000',
      '\\',
      "'",
      '🐘',
      '\ud800',
      'constructor',
      '__proto__',
      'toString',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const tail = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));

  it('never crash a parser, and every refusal names its defect without quoting the URL’s secrets', () => {
    fc.assert(
      fc.property(fc.constantFrom(...drivers), tail, (driver, text) => {
        const prefix = PREFIXES[driver.dialect];
        for (const url of [text, `${prefix}${text}`, `${prefix}//planted:Secr3t@${text}`]) {
          const result = driver.configure(url, new Map());
          if (result.ok) {
            for (const { host, port } of result.configured.hosts) {
              expect(host).toMatch(/^[A-Za-z0-9.:_-]+$/);
              expect(port).toBeGreaterThan(0);
            }
            for (const { path } of result.configured.files)
              expect(path.startsWith('/') && !path.includes('\0')).toBe(true);
          } else {
            expect(result.failures.length).toBeGreaterThan(0);
            expect(JSON.stringify(result.failures)).not.toContain('Secr3t');
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('property names of Object itself are unknown, not mapped', () => {
    for (const key of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(
        defects(postgresDriver, 'jdbc:postgresql://h/d', JSON.parse(`{"${key}": "x"}`) as Record<string, unknown>),
      ).toEqual(['properties_invalid property_unknown']);
    }
  });
});

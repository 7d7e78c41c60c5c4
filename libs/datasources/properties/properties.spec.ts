import { describe, expect, it } from '@jest/globals';

import { H2_JDBC } from '../drivers/h2/properties.js';
import { MSSQL_JDBC } from '../drivers/mssql/properties.js';
import { MYSQL_JDBC } from '../drivers/mysql/properties.js';
import { ORACLE_JDBC } from '../drivers/oracle/properties.js';
import { POSTGRES_JDBC } from '../drivers/postgres/properties.js';
import { checkHikari, poolView } from './hikari.js';
import { checkJdbcProperties, judgeProperty } from './jdbc-rules.js';
import { editDistance, nearest } from './nearest.js';

const hikari = (settings: Record<string, unknown>): string[] =>
  checkHikari(new Map(Object.entries(settings))).map(({ path }) => path.replace('properties.hikari.', ''));

describe('pool settings', () => {
  it('numbers and numeric texts in range pass, and their defaults hold otherwise', () => {
    expect(
      hikari({
        maximumPoolSize: 500,
        minimumIdle: '0',
        connectionTimeout: 0,
        idleTimeout: '10000',
        maxLifetime: 30_000,
      }),
    ).toEqual([]);
    expect(poolView(new Map([['maximumPoolSize', '3']]))).toMatchObject({
      maximumPoolSize: { value: 3, unit: 'count', source: 'configured' },
      minimumIdle: { value: 2, unit: 'count', source: 'application_default' },
      connectionTimeout: { value: 30_000, unit: 'ms', source: 'hikari_default' },
      leakDetectionThreshold: { value: 0, unit: 'ms', source: 'hikari_default' },
    });
  });

  it.each([
    ['maximumPoolSize', 0],
    ['maximumPoolSize', 501],
    ['maximumPoolSize', '1.5'],
    ['maximumPoolSize', 'ten'],
    ['maximumPoolSize', null],
    ['minimumIdle', -1],
    ['connectionTimeout', 249],
    ['idleTimeout', 9_999],
    ['maxLifetime', 29_999],
    ['keepaliveTime', 29_999],
    ['validationTimeout', 249],
    ['leakDetectionThreshold', 1_999],
  ])('%s = %s is refused, never clamped', (key, value) => {
    expect(hikari({ [key]: value })).toEqual([key]);
  });

  it('settings are judged against each other', () => {
    expect(hikari({ maximumPoolSize: 2, minimumIdle: 3 })).toEqual(['minimumIdle']);
    expect(hikari({ maxLifetime: 30_000, idleTimeout: 29_001 })).toEqual(['idleTimeout']);
    expect(hikari({ maxLifetime: 60_000, keepaliveTime: 60_000, leakDetectionThreshold: 60_001 })).toEqual([
      'keepaliveTime',
      'leakDetectionThreshold',
    ]);
    expect(hikari({ maxLifetime: 0, idleTimeout: 999_999_999 })).toEqual([]);
  });

  it('a default gives way where a configured value leaves it no room', () => {
    const view = poolView(
      new Map<string, unknown>([
        ['maximumPoolSize', 1],
        ['maxLifetime', 40_000],
      ]),
    );
    expect([view.minimumIdle.value, view.idleTimeout.value, view.keepaliveTime.value]).toEqual([1, 39_000, 0]);
  });

  it.each([
    'jdbcUrl',
    'PASSWORD',
    'username',
    'driverClassName',
    'dataSourceClassName',
    'dataSource.user',
    'poolName',
    'metricRegistry',
    'healthCheckProperties',
    'connectionInitSql',
    'readOnly',
    'threadFactory',
    'scheduledExecutor',
    'exceptionOverrideClassName',
  ])('the server manages %s: refused whatever its value and case', (key) => {
    const [failure] = checkHikari(new Map([[key, 'x']]));
    expect(failure).toMatchObject({
      code: 'datasource.validation.properties_invalid',
      details: { key, reason: 'server_managed' },
    });
  });

  it('genuine names without meaning pass, unknown ones are told the nearest', () => {
    expect(hikari({ autoCommit: true, registerMbeans: 'false' })).toEqual([]);
    expect(checkHikari(new Map([['maxPoolSize', 5]]))[0]?.details).toMatchObject({ key: 'maxPoolSize' });
    expect(checkHikari(new Map([['minimumidle', 5]]))[0]?.details).toMatchObject({ suggestion: 'minimumIdle' });
  });
});

describe('properties that would carry a secret', () => {
  const dialects = Object.entries({ POSTGRES_JDBC, H2_JDBC, MYSQL_JDBC, MSSQL_JDBC, ORACLE_JDBC });
  const names = [
    'OAuthPvtKey',
    'OAuthAccessToken',
    'OAuthRefreshToken',
    'Auth_AccessToken',
    'apiKey',
    'privateKey',
    'secret',
    'clientSecret',
    'clientkey',
    'sslClientKey',
    'poolName',
    'jdbcUrl',
  ];

  it.each(names)('%s is refused on every dialect, in any case, in the URL as well', (name) => {
    for (const [dialect, rules] of dialects) {
      for (const key of [name, name.toUpperCase(), name.toLowerCase()]) {
        const failures = checkJdbcProperties(rules, new Map([[key, 'x']]), new Map());
        // As refused, not as unknown: no other spelling is offered.
        expect([dialect, failures.map(({ code, details }) => [code, details])]).toEqual([
          dialect,
          [['datasource.validation.properties_invalid', { key, reason: 'property_refused' }]],
        ]);
        expect([dialect, judgeProperty(rules, key, 'x')?.reason]).toEqual([dialect, 'property_refused']);
      }
    }
  });

  it.each(['password', 'trustPassword', 'passwd', 'pwd', 'user'])('%s belongs into the credential', (key) => {
    for (const [dialect, rules] of dialects) {
      expect([dialect, judgeProperty(rules, key, 'x')?.reason]).toEqual([dialect, 'credential_in_url']);
    }
  });
});

describe('nearest names', () => {
  it('case first, then at most the given edits', () => {
    expect(nearest('SSLMODE', ['ssl', 'sslmode'])).toBe('sslmode');
    expect(nearest('ordrs', ['orders', 'order_lines'])).toBe('orders');
    expect(nearest('entirely_else', ['orders'])).toBeUndefined();
    expect(editDistance('kitten', 'sitting', 5)).toBe(3);
    expect(editDistance('', 'abcdef', 2)).toBe(3);
  });
});

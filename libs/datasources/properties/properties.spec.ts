import { describe, expect, it } from '@jest/globals';

import { checkHikari, poolView } from './hikari.js';
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

describe('nearest names', () => {
  it('case first, then at most the given edits', () => {
    expect(nearest('SSLMODE', ['ssl', 'sslmode'])).toBe('sslmode');
    expect(nearest('ordrs', ['orders', 'order_lines'])).toBe('orders');
    expect(nearest('entirely_else', ['orders'])).toBeUndefined();
    expect(editDistance('kitten', 'sitting', 5)).toBe(3);
    expect(editDistance('', 'abcdef', 2)).toBe(3);
  });
});

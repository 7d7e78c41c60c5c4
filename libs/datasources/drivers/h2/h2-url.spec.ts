import { describe, expect, it } from '@jest/globals';

import { h2Driver } from './h2.driver.js';

function defects(url: string, jdbc: Record<string, string> = {}): string[] {
  const result = h2Driver.configure(url, new Map(Object.entries(jdbc)));
  return result.ok
    ? []
    : result.failures.map(({ code, details }) => `${code.split('.').at(-1)} ${String(details?.['reason'])}`);
}

describe('H2 URLs', () => {
  it.each([
    ['jdbc:h2:pg://db.example.org/shop', { host: 'db.example.org', port: 5435, database: 'shop' }],
    ['jdbc:h2:pg://db:6000/folder/shop', { host: 'db', port: 6000, database: 'folder/shop' }],
    ['jdbc:h2:pg://[::1]/mem:shop?currentSchema=app', { host: '::1', port: 5435, database: 'mem:shop' }],
    ['jdbc:h2:pg://db/with%20blank', { host: 'db', port: 5435, database: 'with blank' }],
  ])('%s', (url, host) => {
    const result = h2Driver.configure(url, new Map());
    expect(result.ok && result.configured.hosts).toEqual([host]);
  });

  it.each(['mem:x', 'file:/data/x', 'tcp://h/x', 'ssl://h/x', 'zip:/a.zip!/x', '~/x', '/data/x', './x', ''])(
    'jdbc:h2:%s needs an engine in this process, which it has not',
    (rest) => {
      const result = h2Driver.configure(`jdbc:h2:${rest}`, new Map());
      expect(result.ok ? [] : result.failures).toMatchObject([
        {
          code: 'datasource.driver_not_loaded',
          details: { reason: 'h2_pg_server_required' },
          message: expect.stringMatching(/-pg/),
        },
      ]);
    },
  );

  it.each([
    ['jdbc:H2:pg://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:h2:pg://u:p@h/d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:h2:pg://h/d?user=x', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:h2:pg://h', 'jdbc_url_malformed path'],
    ['jdbc:h2:pg://h/', 'jdbc_url_malformed path'],
    ['jdbc:h2:pg://h/mem:', 'jdbc_url_malformed path'],
    ['jdbc:h2:pg://h/../../etc/x', 'jdbc_url_malformed path'],
    ['jdbc:h2:pg://h/tcp://inside/x', 'jdbc_url_malformed path'],
    ['jdbc:h2:pg://h/d;INIT=SELECT 1', 'jdbc_url_malformed settings_in_url'],
    ['jdbc:h2:pg://h/d%3BINIT=SELECT 1', 'jdbc_url_malformed settings_in_url'],
    ['jdbc:h2:pg://h/d?INIT=x', 'jdbc_url_malformed property_refused'],
    ['jdbc:h2:pg://h/d?sslkey=/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:h2:pg://h/d?sslmode=sometimes', 'jdbc_url_malformed property_value'],
    ['jdbc:h2:pg://h:0/d', 'jdbc_url_malformed port'],
    ['jdbc:h2:pg://h/d#x', 'jdbc_url_malformed fragment'],
  ])('%s is refused: %s', (url, defect) => {
    expect(defects(url)).toEqual([defect]);
  });

  it('keeps and tells what only PostgreSQL has a use for', () => {
    const result = h2Driver.configure('jdbc:h2:pg://h/d?targetServerType=primary', new Map([['ApplicationName', 'x']]));
    expect(result.ok && result.configured.ignored).toEqual(['targetServerType', 'ApplicationName']);
  });
});

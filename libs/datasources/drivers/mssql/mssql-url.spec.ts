import { beforeAll, describe, expect, it } from '@jest/globals';

import type { DialectDriver } from '../dialect-driver.js';
import { library } from './mssql.fixture.js';
import { mssqlDriver } from './mssql.driver.js';
import { mssqlOptions } from './options.js';
import { parseMssqlUrl } from './url.js';

let driver: DialectDriver;

beforeAll(() => {
  driver = mssqlDriver(library);
});

function defects(url: string, jdbc: Record<string, string> = {}): string[] {
  const result = driver.configure(url, new Map(Object.entries(jdbc)));
  return result.ok
    ? []
    : result.failures.map(({ code, details }) => `${code.split('.').at(-1)} ${String(details?.['reason'])}`);
}

describe('SQL Server URLs', () => {
  it.each([
    ['//db.example.org', { host: 'db.example.org', port: 1433, instance: null }, {}],
    ['//db:1500;databaseName=shop', { host: 'db', port: 1500, instance: null }, { databaseName: 'shop' }],
    ['//db\\SQLEXPRESS;DATABASE=shop', { host: 'db', port: null, instance: 'SQLEXPRESS' }, { databaseName: 'shop' }],
    ['//db\\SQLEXPRESS:1600', { host: 'db', port: 1600, instance: 'SQLEXPRESS' }, {}],
    ['//[2001:db8::1]:1500', { host: '2001:db8::1', port: 1500, instance: null }, {}],
    ['//;serverName=db;portNumber=1500', { host: 'db', port: 1500, instance: null }, {}],
    ['//;server=2001:db8::1;instance=x', { host: '2001:db8::1', port: null, instance: 'x' }, {}],
    ['//', { host: 'localhost', port: 1433, instance: null }, {}],
    [
      '//db;databaseName={a;b}}c};encrypt=strict;',
      { host: 'db', port: 1433, instance: null },
      { databaseName: 'a;b}c', encrypt: 'strict' },
    ],
    [
      '//db;ApplicationName= x ;LoginTimeout=5',
      { host: 'db', port: 1433, instance: null },
      { applicationName: 'x', loginTimeout: '5' },
    ],
  ])('jdbc:sqlserver:%s', (rest, place, parameters) => {
    const url = parseMssqlUrl(rest);
    expect(url).toMatchObject(place);
    expect(Object.fromEntries(url.parameters)).toEqual(parameters);
    expect(driver.configure(`jdbc:sqlserver:${rest}`, new Map()).ok).toBe(true);
  });

  it.each([
    ['jdbc:SQLSERVER://h', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:sqlserver:h', 'jdbc_url_malformed host'],
    ['jdbc:sqlserver://u:p@h', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:sqlserver://h;user=sa', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:sqlserver://h;userName=sa', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:sqlserver://h;PASSWORD={x}', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:sqlserver://h/db', 'jdbc_url_malformed path'],
    ['jdbc:sqlserver://h:0', 'jdbc_url_malformed port'],
    ['jdbc:sqlserver://h:x', 'jdbc_url_malformed port'],
    ['jdbc:sqlserver://h\\a b', 'jdbc_url_malformed instance'],
    ['jdbc:sqlserver://h\\;databaseName=x', 'jdbc_url_malformed instance'],
    ['jdbc:sqlserver://h;server=other', 'jdbc_url_malformed parameter_repeated'],
    ['jdbc:sqlserver://h;database=a;databaseName=b', 'jdbc_url_malformed parameter_repeated'],
    ['jdbc:sqlserver://h;databaseName={a', 'jdbc_url_malformed quoting'],
    ['jdbc:sqlserver://h;databaseName={a}b', 'jdbc_url_malformed quoting'],
    ['jdbc:sqlserver://h;=x', 'jdbc_url_malformed parameter_empty'],
    ['jdbc:sqlserver://h;trustServerCertificate=true', 'jdbc_url_malformed property_refused'],
    ['jdbc:sqlserver://h;TrustStore=/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:sqlserver://h;accessToken=x', 'jdbc_url_malformed property_refused'],
    ['jdbc:sqlserver://h;integratedSecurity=true', 'jdbc_url_malformed property_refused'],
    ['jdbc:sqlserver://h;encrypt=maybe', 'jdbc_url_malformed property_value'],
    ['jdbc:sqlserver://h;packetSize=100', 'jdbc_url_malformed property_value'],
    ['jdbc:sqlserver://h;encypt=true', 'jdbc_url_malformed property_unknown'],
  ])('%s is refused: %s', (url, defect) => {
    expect(defects(url)).toEqual([defect]);
  });

  it('encrypts and verifies unless told not to encrypt, and honours what it maps', () => {
    expect(mssqlOptions(parseMssqlUrl('//h'), new Map())).toEqual({
      host: 'h',
      port: 1433,
      instance: null,
      database: null,
      encrypt: true,
      certificateName: null,
      certificate: null,
      applicationName: 'penstock',
      readOnlyIntent: false,
      loginTimeoutMs: 0,
      socketTimeoutMs: 0,
      packetSize: 8000,
    });
    expect(
      mssqlOptions(
        parseMssqlUrl('//h;encrypt=false;applicationIntent=ReadOnly;loginTimeout=3'),
        new Map([
          ['hostNameInCertificate', 'db.example.org'],
          ['serverCertificate', '/etc/ssl/x.pem'],
          ['socketTimeout', '1500'],
          ['packetSize', '4096'],
        ]),
      ),
    ).toMatchObject({
      encrypt: false,
      readOnlyIntent: true,
      loginTimeoutMs: 3000,
      certificateName: 'db.example.org',
      certificate: '/etc/ssl/x.pem',
      socketTimeoutMs: 1500,
      packetSize: 4096,
    });
  });

  it('tells which stored names mean nothing here', () => {
    const result = driver.configure(
      'jdbc:sqlserver://h;multiSubnetFailover=true',
      new Map([['selectMethod', 'cursor']]),
    );
    expect(result.ok && result.configured.ignored).toEqual(['multiSubnetFailover', 'selectMethod']);
  });
});

import { describe, expect, it } from '@jest/globals';

import { mysqlDriver } from './mysql.driver.js';
import { mysqlOptions } from './options.js';
import { parseMysqlUrl } from './url.js';

/** `code reason` of each failure. */
function defects(url: string, jdbc: Record<string, unknown> = {}): string[] {
  const result = mysqlDriver.configure(url, new Map(Object.entries(jdbc)));
  return result.ok
    ? []
    : result.failures.map(({ code, details }) => `${code.split('.').at(-1)} ${String(details?.['reason'])}`);
}

describe('MySQL URLs', () => {
  it.each([
    ['jdbc:mysql://db.example.org/sales', 'db.example.org', 3306, 'sales'],
    ['jdbc:mysql://db:3307/', 'db', 3307, null],
    ['jdbc:mysql:///sales', 'localhost', 3306, 'sales'],
    ['jdbc:mariadb://db/a%20b%2Fc?useSSL=true', 'db', 3306, 'a b/c'],
    ['jdbc:mysql://[2001:db8::1]:33060/x', '2001:db8::1', 33060, 'x'],
    [`jdbc:mysql://h/${'😀'.repeat(64)}`, 'h', 3306, '😀'.repeat(64)],
  ])('%s', (url, host, port, database) => {
    const result = mysqlDriver.configure(url, new Map());
    expect(result.ok && result.configured.hosts).toEqual([{ host, port }]);
    const prefix = /^jdbc:\w+:/.exec(url)?.[0] ?? '';
    expect(parseMysqlUrl(url.slice(prefix.length), prefix).database).toBe(database);
  });

  it.each([
    ['JDBC:mysql://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:mysqlx://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['mysql://h/d', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:mysql:loadbalance://a,b/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql:replication://a,b/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mariadb:sequential://a,b/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql+srv://h/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql://a,b/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql://(host=a,port=1)/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql://address=(host=a)(port=1)/d', 'jdbc_url_malformed cluster_form'],
    ['jdbc:mysql://u:p@h/d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:mysql://u@h/d', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:mysql://h/d?user=u', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:mysql://h/d?password1=u', 'jdbc_url_malformed property_unknown'],
    ['jdbc:mysql://h', 'jdbc_url_malformed path'],
    ['jdbc:mysql://h/a/b', 'jdbc_url_malformed path'],
    [`jdbc:mysql://h/${'d'.repeat(65)}`, 'jdbc_url_malformed path'],
    ['jdbc:mysql:h/d', 'jdbc_url_malformed host'],
    ['jdbc:mysql:', 'jdbc_url_malformed host'],
    ['jdbc:mysql://h:70000/d', 'jdbc_url_malformed port'],
    ['jdbc:mysql://h/d#x', 'jdbc_url_malformed fragment'],
    ['jdbc:mysql://h/d%', 'jdbc_url_malformed percent_encoding'],
    ['jdbc:mysql://h/d?sslMode=sometimes', 'jdbc_url_malformed property_value'],
    ['jdbc:mysql://h/d?connectionTimeZone=Europe/Berlin', 'jdbc_url_malformed property_value'],
    ['jdbc:mysql://h/d?characterEncoding=latin1', 'jdbc_url_malformed property_value'],
  ])('%s is refused: %s', (url, defect) => expect(defects(url)).toEqual([defect]));

  it.each([
    'allowLoadLocalInfile',
    'allowLoadLocalInfileInPath',
    'ALLOWURLINLOCALINFILE',
    'autoDeserialize',
    'allowPublicKeyRetrieval',
    'allowMultiQueries',
    'sessionVariables',
    'serverRSAPublicKeyFile',
    'queryInterceptors',
    'connectionLifecycleInterceptors',
    'loggerClass',
    'socketFactoryClassName',
    'clientCertificateKeyStoreUrl',
    'trustCertificateKeyStorePassword',
    'verifyServerCertificate',
  ])('%s opens a door and is refused, in the URL and beside it', (key) => {
    expect(defects(`jdbc:mysql://h/d?${key}=x`)[0]).toMatch(
      /^jdbc_url_malformed (?:property_refused|credential_in_url)$/,
    );
    expect(defects('jdbc:mysql://h/d', { [key]: 'x' })).toEqual(['properties_invalid property_refused']);
  });

  it('names without meaning here are kept and told, unknown ones told the nearest', () => {
    const result = mysqlDriver.configure('jdbc:mysql://h/d?rewriteBatchedStatements=true', new Map());
    expect(result.ok && result.configured.ignored).toEqual(['rewriteBatchedStatements']);
    const misspelt = mysqlDriver.configure('jdbc:mysql://h/d?sslmode=REQUIRED', new Map());
    expect(misspelt.ok === false && misspelt.failures[0]?.details).toMatchObject({ suggestion: 'sslMode' });
  });

  it.each([
    ['', 'preferred'],
    ['useSSL=true', 'required'],
    ['useSSL=false', 'disabled'],
    ['sslMode=VERIFY_CA&useSSL=false', 'verify_ca'],
    ['sslMode=verify-full', 'verify_identity'],
  ])('TLS of "%s" is %s', (query, mode) => {
    expect(mysqlOptions(parseMysqlUrl(`//h/d?${query}`, 'jdbc:mysql:'), new Map()).sslMode).toBe(mode);
  });
});

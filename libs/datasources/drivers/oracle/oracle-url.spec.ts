import { beforeAll, describe, expect, it } from '@jest/globals';

import type { DialectDriver } from '../dialect-driver.js';
import { loadOracle } from './library.js';
import { descriptorFor, oracleOptions } from './options.js';
import { oracleDriver } from './oracle.driver.js';
import { parseOracleUrl } from './url.js';

let driver: DialectDriver;

beforeAll(async () => {
  driver = oracleDriver(await loadOracle());
});

function defects(url: string, jdbc: Record<string, string> = {}): string[] {
  const result = driver.configure(url, new Map(Object.entries(jdbc)));
  return result.ok
    ? []
    : result.failures.map(({ code, details }) => `${code.split('.').at(-1)} ${String(details?.['reason'])}`);
}

const dialled = (rest: string): string[] => {
  const options = oracleOptions(parseOracleUrl(rest), new Map());
  return options.hosts.map((host) => descriptorFor(options, host));
};

const one = (host: string, port: number, target: string, protocol = 'TCP', rest = ''): string =>
  `(DESCRIPTION=(ADDRESS=(PROTOCOL=${protocol})(HOST=${host})(PORT=${port}))(CONNECT_DATA=${target})${rest})`;
const MATCHED = '(SECURITY=(SSL_SERVER_DN_MATCH=ON))';

describe('Oracle URLs', () => {
  it.each<[string, string[]]>([
    ['thin:@//db.example.org/shop', [one('db.example.org', 1521, '(SERVICE_NAME=shop)')]],
    ['thin:@//db:1600/shop.example.org', [one('db', 1600, '(SERVICE_NAME=shop.example.org)')]],
    ['thin:@db:1600/shop', [one('db', 1600, '(SERVICE_NAME=shop)')]],
    ['thin:@db/shop', [one('db', 1521, '(SERVICE_NAME=shop)')]],
    ['thin:@db:1521:ORCL', [one('db', 1521, '(SID=ORCL)')]],
    ['thin:@tcp://db:1521/shop', [one('db', 1521, '(SERVICE_NAME=shop)')]],
    ['thin:@tcps://db:2484/shop', [one('db', 2484, '(SERVICE_NAME=shop)', 'TCPS', MATCHED)]],
    ['thin:@//[2001:db8::1]:1600/shop', [one('2001:db8::1', 1600, '(SERVICE_NAME=shop)')]],
    ['thin:@//db/shop?oracle.net.CONNECT_TIMEOUT=500', [one('db', 1521, '(SERVICE_NAME=shop)')]],
    [
      'thin:@(DESCRIPTION=(LOAD_BALANCE=ON)(ADDRESS_LIST=(ADDRESS=(PROTOCOL=TCP)(HOST=a)(PORT=1))(ADDRESS=(PROTOCOL=tcps)(HOST=b)(PORT=2)))(CONNECT_DATA=(SERVICE_NAME=s)(SERVER=dedicated)))',
      [
        one('a', 1, '(SERVICE_NAME=s)(SERVER=DEDICATED)'),
        one('b', 2, '(SERVICE_NAME=s)(SERVER=DEDICATED)', 'TCPS', MATCHED),
      ],
    ],
    [
      'thin:@ ( description = (address=(protocol=tcps)(host=a)(port=1)) (connect_data=(sid=X)) (security=(ssl_server_cert_dn="CN=db,O=x")) ) ',
      [one('a', 1, '(SID=X)', 'TCPS', '(SECURITY=(SSL_SERVER_DN_MATCH=ON)(SSL_SERVER_CERT_DN="CN=db,O=x"))')],
    ],
  ])('jdbc:oracle:%s', (rest, descriptors) => {
    expect(dialled(rest)).toEqual(descriptors);
    expect(driver.configure(`jdbc:oracle:${rest}`, new Map()).ok).toBe(true);
  });

  it.each([
    ['jdbc:Oracle:thin:@//h/s', 'jdbc_url_scheme_invalid undefined'],
    ['jdbc:oracle:oci:@//h/s', 'jdbc_url_malformed driver_type'],
    ['jdbc:oracle:kprb:', 'jdbc_url_malformed driver_type'],
    ['jdbc:oracle:thin://h/s', 'jdbc_url_malformed host'],
    ['jdbc:oracle:thin:scott/tiger@//h/s', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:oracle:thin:@//scott:tiger@h/s', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:oracle:thin:@//h/s?password=x', 'jdbc_url_malformed credential_in_url'],
    ['jdbc:oracle:thin:@PROD', 'jdbc_url_malformed alias'],
    ['jdbc:oracle:thin:@//h', 'jdbc_url_malformed alias'],
    ['jdbc:oracle:thin:@//h/', 'jdbc_url_malformed path'],
    ['jdbc:oracle:thin:@//h/a)(HOST=evil', 'jdbc_url_malformed path'],
    ['jdbc:oracle:thin:@//h:0/s', 'jdbc_url_malformed port'],
    ['jdbc:oracle:thin:@//a,b/s', 'jdbc_url_malformed cluster_form'],
    ['jdbc:oracle:thin:@//h/s?TNS_ADMIN=/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:oracle:thin:@//h/s?oracle.net.wallet_location=/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:oracle:thin:@//h/s?javax.net.ssl.trustStore=/x', 'jdbc_url_malformed property_refused'],
    ['jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=a)(PORT=1))', 'jdbc_url_malformed descriptor'],
    ['jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=a)(PORT=1)))', 'jdbc_url_malformed path'],
    ['jdbc:oracle:thin:@(DESCRIPTION=(CONNECT_DATA=(SID=X)))', 'jdbc_url_malformed host'],
    [
      'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=ipc)(KEY=x))(CONNECT_DATA=(SID=X)))',
      'jdbc_url_malformed property_refused',
    ],
    [
      'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=a)(HTTPS_PROXY=p)(PORT=1))(CONNECT_DATA=(SID=X)))',
      'jdbc_url_malformed property_refused',
    ],
    [
      'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=a)(PORT=1))(CONNECT_DATA=(SID=X))(SECURITY=(MY_WALLET_DIRECTORY=/x)))',
      'jdbc_url_malformed property_refused',
    ],
    [`jdbc:oracle:thin:@${'(DESCRIPTION='.repeat(30)}`, 'jdbc_url_malformed descriptor'],
  ])('%s is refused: %s', (url, defect) => {
    expect(defects(url)).toEqual([defect]);
  });

  it('honours what it maps and tells what means nothing', () => {
    const options = oracleOptions(
      parseOracleUrl('thin:@tcps://h/s'),
      new Map([
        ['oracle.net.CONNECT_TIMEOUT', '1500'],
        ['oracle.jdbc.ReadTimeout', '2500'],
        ['oracle.net.ssl_server_dn_match', 'false'],
      ]),
    );
    expect(options).toMatchObject({ connectTimeoutMs: 1500, readTimeoutMs: 2500, matchesCertificate: false });
    expect(descriptorFor(options, options.hosts[0])).toContain('SSL_SERVER_DN_MATCH=OFF');
    const result = driver.configure('jdbc:oracle:thin:@//h/s', new Map([['defaultRowPrefetch', '20']]));
    expect(result.ok && result.configured.ignored).toEqual(['defaultRowPrefetch']);
  });
});

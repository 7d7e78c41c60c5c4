import { defineDriver, type DialectDriver } from '../dialect-driver.js';
import type { OracleLibrary } from './client.js';
import { oracleIntrospection } from './introspection.js';
import { openOracle } from './open.js';
import { oracleOptions } from './options.js';
import { ORACLE_JDBC } from './properties.js';
import { oracleStatistics } from './statistics.js';
import { parseOracleUrl } from './url.js';

export function oracleDriver(library: OracleLibrary): DialectDriver {
  return defineDriver({
    dialect: 'ORACLE',
    inProcess: false,
    namespace: { labels: ['schema'], levels: 1 },
    credentialKinds: ['password', 'token'],
    poolDefaults: {},
    introspection: oracleIntrospection,
    statistics: oracleStatistics,
    versionQuery: `SELECT 'Oracle ' || MAX(version) FROM product_component_version`,
    urlPrefixes: ['jdbc:oracle:'],
    urlForm: 'jdbc:oracle:thin:@//host[:1521]/service, @host:port:SID, @tcps://host:port/service or @(DESCRIPTION=…)',
    jdbc: ORACLE_JDBC,
    parseUrl: parseOracleUrl,
    options: oracleOptions,
    hosts: ({ hosts }) => hosts.map(({ host, port }) => ({ host, port })),
    files: () => [],
    source(options, { username, secret }, context) {
      const as = { username: username ?? '', secret: secret ?? '' };
      return {
        connect: (_access, signal) =>
          openOracle(library, options, as, (host, port) => context.checkAddress({ host, port }), signal),
        close: () => Promise.resolve(),
      };
    },
  });
}

import { defineDriver, type DialectDriver } from '../dialect-driver.js';
import { mssqlIntrospection } from './introspection.js';
import type { MssqlLibrary } from './library.js';
import { openMssql } from './open.js';
import { mssqlOptions } from './options.js';
import { MSSQL_JDBC } from './properties.js';
import { mssqlStatistics } from './statistics.js';
import { parseMssqlUrl } from './url.js';

const DEFAULT_PORT = 1433;

/** @param load gives the library, proven, when the first connection opens */
export function mssqlDriver(load: () => Promise<MssqlLibrary>): DialectDriver {
  return defineDriver({
    dialect: 'MSSQL',
    inProcess: false,
    namespace: { labels: ['database', 'schema'], levels: 1 },
    credentialKinds: ['password', 'token'],
    poolDefaults: {},
    introspection: mssqlIntrospection,
    statistics: mssqlStatistics,
    versionQuery: `SELECT CONCAT('SQL Server ', CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)))`,
    urlPrefixes: ['jdbc:sqlserver:'],
    urlForm: 'jdbc:sqlserver://host[\\instance][:1433][;databaseName=…][;key=value…]',
    jdbc: MSSQL_JDBC,
    parseUrl: parseMssqlUrl,
    options: mssqlOptions,
    hosts: ({ host, port, database }) => [
      { host, port: port ?? DEFAULT_PORT, ...(database === null ? {} : { database }) },
    ],
    files: ({ certificate }) => (certificate === null ? [] : [{ path: certificate, alsoUnder: '/etc/ssl' }]),
    source(options, { username, secret, credentialKind, isReadonly }, context) {
      const as = {
        username: username ?? '',
        secret: secret ?? '',
        isToken: credentialKind === 'token',
        isReadonly,
      };
      const resolved = async (): Promise<typeof options> => {
        const { certificate: path } = options;
        if (path === null) return options;
        return { ...options, certificate: await context.openableFile({ path, alsoUnder: '/etc/ssl' }) };
      };
      return {
        connect: async (_access, signal) =>
          await openMssql(
            await load(),
            await resolved(),
            as,
            (host, port) =>
              context.checkAddress({
                host,
                port,
                ...(options.database === null ? {} : { database: options.database }),
              }),
            signal,
          ),
        close: () => Promise.resolve(),
      };
    },
  });
}

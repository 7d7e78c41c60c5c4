import { defineDriver } from '../dialect-driver.js';
import { postgresIntrospection } from './introspection.js';
import { postgresPlan } from './plan.js';
import { postgresStatistics } from './statistics.js';
import { openPostgres } from './open.js';
import { postgresOptions } from './options.js';
import { POSTGRES_JDBC } from './properties.js';
import { TypeNames } from './type-names.js';
import { parsePostgresUrl } from './url.js';

export const postgresDriver = defineDriver({
  dialect: 'POSTGRES',
  inProcess: false,
  namespace: { labels: ['database', 'schema'], levels: 1 },
  credentialKinds: ['password', 'token'],
  poolDefaults: {},
  introspection: postgresIntrospection,
  statistics: postgresStatistics,
  plan: postgresPlan,
  versionQuery: `SELECT 'PostgreSQL ' || pg_catalog.current_setting('server_version')`,
  urlPrefixes: ['jdbc:postgresql:'],
  urlForm: 'jdbc:postgresql://host[:5432][,host2…]/[database][?key=value…] or jdbc:postgresql:database',
  jdbc: POSTGRES_JDBC,
  parseUrl: parsePostgresUrl,
  options: postgresOptions,
  hosts: ({ hosts, database }) => hosts.map((host) => ({ ...host, ...(database === null ? {} : { database }) })),
  files: ({ sslRootCertificate }) =>
    sslRootCertificate === null ? [] : [{ path: sslRootCertificate, alsoUnder: '/etc/ssl' }],
  source(options, { username, secret }, context) {
    const types = new TypeNames();
    const as = { username: username ?? '', secret: secret ?? '' };
    const resolved = async (): Promise<typeof options> => {
      const { sslRootCertificate: path } = options;
      if (path === null) return options;
      return { ...options, sslRootCertificate: await context.openableFile({ path, alsoUnder: '/etc/ssl' }) };
    };
    return {
      connect: async (_access, signal) =>
        await openPostgres(
          await resolved(),
          as,
          types,
          (host, port) => context.checkAddress({ host, port, database: options.database ?? as.username }),
          signal,
        ),
      close: () => Promise.resolve(),
    };
  },
});

import { defineDriver } from '../dialect-driver.js';
import { h2Introspection } from './introspection.js';
import { openH2 } from './open.js';
import { h2Options } from './options.js';
import { H2_JDBC } from './properties.js';
import { h2Plan } from './plan.js';
import { h2Statistics } from './statistics.js';
import { parseH2Url } from './url.js';

export const h2Driver = defineDriver({
  dialect: 'H2',
  inProcess: false,
  namespace: { labels: ['database', 'schema'], levels: 1 },
  credentialKinds: ['password', 'none'],
  poolDefaults: {},
  introspection: h2Introspection,
  statistics: h2Statistics,
  plan: h2Plan,
  versionQuery: `SELECT CONCAT('H2 ', H2VERSION())`,
  urlPrefixes: ['jdbc:h2:'],
  urlForm: 'jdbc:h2:pg://host[:5435]/database[?key=value…]',
  jdbc: H2_JDBC,
  parseUrl: parseH2Url,
  options: h2Options,
  hosts: ({ host, database }) => [{ ...host, database }],
  files: ({ sslRootCertificate }) =>
    sslRootCertificate === null ? [] : [{ path: sslRootCertificate, alsoUnder: '/etc/ssl' }],
  source(options, { username, secret, isReadonly }, context) {
    const as = { username: username ?? 'sa', secret: secret ?? '', isReadonly };
    const resolved = async (): Promise<typeof options> => {
      const { sslRootCertificate: path } = options;
      if (path === null) return options;
      return { ...options, sslRootCertificate: await context.openableFile({ path, alsoUnder: '/etc/ssl' }) };
    };
    return {
      connect: async (_access, signal) =>
        await openH2(
          await resolved(),
          as,
          (host, port) => context.checkAddress({ host, port, database: options.database }),
          signal,
        ),
      close: () => Promise.resolve(),
    };
  },
});

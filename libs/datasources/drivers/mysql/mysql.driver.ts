import { defineDriver } from '../dialect-driver.js';
import { mysqlIntrospection } from './introspection.js';
import { openMysql } from './open.js';
import { mysqlOptions } from './options.js';
import { MYSQL_JDBC } from './properties.js';
import { mysqlPlan } from './plan.js';
import { mysqlStatistics } from './statistics.js';
import { parseMysqlUrl } from './url.js';

export const mysqlDriver = defineDriver({
  dialect: 'MYSQL',
  inProcess: false,
  namespace: { labels: ['schema'], levels: 1 },
  credentialKinds: ['password', 'token'],
  poolDefaults: {},
  introspection: mysqlIntrospection,
  statistics: mysqlStatistics,
  plan: mysqlPlan,
  versionQuery: 'SELECT VERSION()',
  urlPrefixes: ['jdbc:mysql:', 'jdbc:mariadb:', 'jdbc:mysql+srv:'],
  urlForm: 'jdbc:mysql://host[:3306]/[database][?key=value…]',
  jdbc: MYSQL_JDBC,
  parseUrl: parseMysqlUrl,
  options: mysqlOptions,
  hosts: ({ host }) => [host],
  files: () => [],
  source(options, { username, secret }, context) {
    const as = { username: username ?? '', secret: secret ?? '' };
    return {
      connect: (_access, signal) =>
        openMysql(options, as, (host, port) => context.checkAddress({ host, port }), signal),
      close: () => Promise.resolve(),
    };
  },
});

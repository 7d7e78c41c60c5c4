import { check } from '../../properties/jdbc-rules.js';
import { defineDriver } from '../dialect-driver.js';
import { parseFileUrl } from '../file-url.js';
import { SqliteConnection } from './connection.js';
import { sqliteIntrospection } from './introspection.js';
import { sqlitePlan } from './plan.js';
import { sqliteStatistics } from './statistics.js';

const BUSY_TIMEOUT_MS = 5000;

export const sqliteDriver = defineDriver({
  dialect: 'SQLITE',
  inProcess: true,
  namespace: { labels: [], levels: 0 },
  credentialKinds: ['password', 'none'],
  // A connection is a process: none waits idle without need.
  poolDefaults: { minimumIdle: 0 },
  introspection: sqliteIntrospection,
  statistics: sqliteStatistics,
  plan: sqlitePlan,
  versionQuery: `SELECT 'SQLite ' || sqlite_version()`,
  urlPrefixes: ['jdbc:sqlite:'],
  urlForm: 'jdbc:sqlite::memory: or jdbc:sqlite:/absolute/path',
  jdbc: {
    mapped: { open_mode: check.oneOf('1', '2', '6'), busy_timeout: check.milliseconds },
    ignored: [
      'auto_vacuum',
      'cache_size',
      'case_sensitive_like',
      'count_changes',
      'date_class',
      'date_precision',
      'date_string_format',
      'encoding',
      'foreign_keys',
      'journal_mode',
      'journal_size_limit',
      'locking_mode',
      'read_uncommitted',
      'recursive_triggers',
      'shared_cache',
      'synchronous',
      'temp_store',
      'transaction_mode',
    ],
    refused: ['enable_load_extension', 'limit_attached', 'temp_store_directory'],
  },
  parseUrl: (rest) => parseFileUrl(rest, false),
  options: ({ path }, properties) => ({
    path,
    readOnly: properties.get('open_mode') === '1',
    busyTimeoutMs: Number(properties.get('busy_timeout') ?? BUSY_TIMEOUT_MS),
  }),
  hosts: () => [],
  files: ({ path }) => (path === null ? [] : [{ path }]),
  source({ path, readOnly, busyTimeoutMs }, { isReadonly }, context) {
    return {
      connect: async (access, signal) => {
        const file = path === null ? ':memory:' : await context.openableFile({ path });
        const writable = !readOnly && !isReadonly;
        return await SqliteConnection.open(
          { file, access: writable ? access : 'read', busyTimeoutMs, recover: writable },
          signal,
        );
      },
      close: () => Promise.resolve(),
    };
  },
});

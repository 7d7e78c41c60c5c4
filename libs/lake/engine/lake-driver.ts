import {
  defineDriver,
  duckdbPlan,
  parseFileUrl,
  UrlDefect,
  type DialectDriver,
  type DriverContext,
  type SourceLogin,
} from '#libs/datasources';

import { checkLakeSection, lakeOptions, namedFiles, type LakeOptions } from '../options/lake-options.js';
import { lakeIntrospection, type RegisteredTables } from './lake-introspection.js';
import { LakeStatistics } from './lake-statistics.js';
import type { LakeSource } from './lake-source.js';

/** Object storage and files, read in place by an engine of this process. */
export function lakeDriver(
  makeSource: (options: LakeOptions, login: SourceLogin, context: DriverContext) => LakeSource,
  registered: RegisteredTables,
): DialectDriver {
  return defineDriver({
    dialect: 'LAKE',
    inProcess: true,
    namespace: { labels: ['catalog', 'schema'], levels: 2 },
    credentialKinds: ['password', 'none'],
    // A session costs nothing and is used once, so none waits.
    poolDefaults: { minimumIdle: 0 },
    introspection: lakeIntrospection(registered),
    plan: duckdbPlan,
    statistics: new LakeStatistics().read,
    versionQuery: `SELECT 'DuckDB ' || version()`,
    urlPrefixes: ['jdbc:duckdb:'],
    urlForm: 'jdbc:duckdb:[:memory:]',
    jdbc: {
      mapped: {},
      ignored: ['access_mode', 'jdbc_stream_results', 'jdbc_pin_db', 'duckdb.read_only'],
      refused: [
        'allow_unsigned_extensions',
        'allow_community_extensions',
        'autoinstall_known_extensions',
        'autoload_known_extensions',
        'allow_persistent_secrets',
        'enable_external_access',
        'lock_configuration',
        'session_init_sql_file',
        'custom_*',
        '*_directory',
        'allowed_*',
      ],
    },
    checkSection: checkLakeSection,
    parseUrl(rest) {
      const url = parseFileUrl(rest, true);
      if (url.path !== null)
        throw new UrlDefect(
          'path',
          'A lake keeps nothing in a file of its own: the URL is jdbc:duckdb: or jdbc:duckdb::memory:.',
        );
      return url;
    },
    options: (_url, _properties, section) => lakeOptions(section),
    hosts: ({ endpoint }) => (endpoint ? [endpoint] : []),
    files: namedFiles,
    source: makeSource,
  });
}

import { check } from '../../properties/jdbc-rules.js';
import { abortable } from '../driver-failure.js';
import { defineDriver, type DialectDriver } from '../dialect-driver.js';
import { parseFileUrl } from '../file-url.js';
import type { Access } from '../driver.js';
import { DuckdbConnection } from './connection.js';
import type { DuckdbInstances, DuckdbShare } from './instances.js';
import { duckdbIntrospection } from './introspection.js';
import { duckdbPlan } from './plan.js';
import { duckdbStatistics } from './statistics.js';
import type { NativeCalls } from './native-calls.js';

/** The engines are the process's own, so the driver is made with them. */
export function duckdbDriver(instances: DuckdbInstances, calls: NativeCalls): DialectDriver {
  return defineDriver({
    dialect: 'DUCKDB',
    inProcess: true,
    namespace: { labels: ['catalog', 'schema'], levels: 1 },
    credentialKinds: ['password', 'none'],
    // A session costs nothing and is used once, so none waits.
    poolDefaults: { minimumIdle: 0 },
    introspection: duckdbIntrospection,
    statistics: duckdbStatistics,
    plan: duckdbPlan,
    versionQuery: `SELECT 'DuckDB ' || version()`,
    urlPrefixes: ['jdbc:duckdb:'],
    urlForm: 'jdbc:duckdb:[:memory:] or jdbc:duckdb:/absolute/path',
    jdbc: {
      mapped: {
        access_mode: check.oneOf('READ_ONLY', 'READ_WRITE', 'AUTOMATIC', 'read_only', 'read_write', 'automatic'),
      },
      ignored: ['jdbc_stream_results', 'jdbc_pin_db', 'jdbc_ignore_unsupported_options', 'duckdb.read_only'],
      refused: [
        'allow_unsigned_extensions',
        'allow_community_extensions',
        'autoinstall_known_extensions',
        'autoload_known_extensions',
        'allow_persistent_secrets',
        'enable_external_access',
        'lock_configuration',
        'memory_limit',
        'max_memory',
        'threads',
        'session_init_sql_file',
        'custom_*',
        '*_directory',
        'allowed_*',
      ],
    },
    parseUrl: (rest) => parseFileUrl(rest, true),
    options: ({ path }, properties) => ({
      path,
      readOnly: properties.get('access_mode')?.toUpperCase() === 'READ_ONLY',
    }),
    hosts: () => [],
    files: ({ path }) => (path === null ? [] : [{ path }]),
    source({ path, readOnly }, { datasource, isReadonly }, context) {
      // An in-memory database lives as long as its pool, not as long as one connection.
      let kept: Promise<DuckdbShare> | undefined;
      const onlyRead = readOnly || isReadonly;
      const keep = async (access: Access): Promise<void> => {
        kept ??= instances.share(datasource, null, onlyRead, access);
        try {
          await kept;
        } catch (error) {
          kept = undefined;
          throw error;
        }
      };
      const open = async (access: Access): Promise<DuckdbConnection> => {
        const file = path === null ? null : await context.openableFile({ path });
        if (file === null) await keep(access);
        const share = await instances.share(datasource, file, onlyRead, access);
        try {
          return new DuckdbConnection(await share.instance.connect(), calls, () => share.release());
        } catch (error) {
          share.release();
          throw error;
        }
      };
      return {
        connect: async (access, signal) => {
          // Others may wait for the same engine, so its opening goes on; a connection that comes too late is closed.
          const opening = open(access);
          try {
            return await abortable(opening, signal);
          } catch (error) {
            if (signal.aborted)
              opening.then(
                (late) => late.close(),
                () => undefined,
              );
            throw error;
          }
        },
        close: async () => (await kept)?.release(),
      };
    },
  });
}

import type { MessagePort } from 'node:worker_threads';
import { PenstockError, type Configuration, type Logger } from '#libs/kernel';
import { Database, logRights, runMigrations, type LogRights } from '#libs/persistence';
import { MemoryTransientStore, RedisTransientStore, transientStoreOver, type TransientStore } from '#libs/transient';
import { databaseUrl } from './database-url.js';

/** A thread reads the registry while it writes rows. */
const LEAST_CONNECTIONS = 3;

/** The stores every family stands on. */
export interface Stores {
  database: Database;
  transient: TransientStore;
}

/** Migrates and opens the metadata database, then the transient store: Redis, or memory for one embedded process. */
export async function openStores(configuration: Configuration, log: Logger): Promise<Stores> {
  const url = databaseUrl(configuration);
  const applied = await runMigrations(url, { log: (message) => log.info(message) });
  if (applied.length > 0) log.info(`Applied ${applied.length} migrations.`);
  const database = await Database.open({
    url,
    poolMax: configuration.get('datapipelines.metadata-db.pool-max'),
    onProblem: (what, error) => log.warn(what, { error }),
  });
  try {
    await requireAppendOnlyLogs(database, configuration, log);
    return { database, transient: await openTransientStore(configuration, log) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The stores of a thread that runs executions: connections of its own, and the server's store where that is in memory. */
export async function openThreadStores(
  configuration: Configuration,
  log: Logger,
  { threads, store }: { threads: number; store: MessagePort | undefined },
): Promise<Stores> {
  const poolMax = Math.max(
    LEAST_CONNECTIONS,
    Math.ceil(configuration.get('datapipelines.metadata-db.pool-max') / threads),
  );
  const database = await Database.open({
    url: databaseUrl(configuration),
    poolMax,
    onProblem: (what, error) => log.warn(what, { error }),
  });
  return { database, transient: store ? transientStoreOver(store) : await openTransientStore(configuration, log) };
}

/** Whoever may change or empty the logs can rewrite the trail: warned about, refused when hardened (04 §10). */
async function requireAppendOnlyLogs(database: Database, configuration: Configuration, log: Logger): Promise<void> {
  const message = faultOf(await logRights(database));
  if (message === undefined) return;
  if (configuration.get('datapipelines.posture') === 'hardened') throw new PenstockError('internal', { message });
  log.warn(message);
}

function faultOf({ role, superuser, excess }: LogRights): string | undefined {
  if (superuser) {
    return 'The metadata database is used as a superuser, who can change the audit trail. Give Penstock a plain role that owns its database.';
  }
  if (excess.length === 0) return undefined;
  return (
    `The role "${role}" of the metadata database can change the audit trail: it holds ${excess.join(', ')}. Run as their ` +
    `owner: REVOKE UPDATE, TRUNCATE ON audit_log, execution_events FROM "${role}", PUBLIC; and take the role out of ` +
    'every group that grants them, such as pg_write_all_data.'
  );
}

async function openTransientStore(configuration: Configuration, log: Logger): Promise<TransientStore> {
  if (configuration.mode === 'embedded') {
    return new MemoryTransientStore({ maxBytes: configuration.get('datapipelines.transient.memory.max-bytes') });
  }
  return RedisTransientStore.open({
    url: redisUrl(configuration),
    onProblem: (what: string, error: unknown) => log.warn(what, { error }),
  });
}

function redisUrl(configuration: Configuration): string {
  const url = configuration.get('datapipelines.redis.url');
  if (url !== undefined) return url;
  const built = new URL(`redis://${configuration.get('datapipelines.redis.host')}`);
  built.port = String(configuration.get('datapipelines.redis.port'));
  const password = configuration.get('datapipelines.redis.password');
  if (password !== undefined) built.password = encodeURIComponent(password);
  return built.href;
}

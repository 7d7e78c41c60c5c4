import { PenstockError, type Configuration, type Logger } from '#libs/kernel';
import { Database, runMigrations } from '#libs/persistence';
import { MemoryTransientStore, RedisTransientStore, type TransientStore } from '#libs/transient';
import { databaseUrl } from './database-url.js';

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
    await requirePlainRole(database, configuration, log);
    return { database, transient: await openTransientStore(configuration, log) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A superuser is bound by no REVOKE, so the append-only tables would not be (04 §10). */
async function requirePlainRole(database: Database, configuration: Configuration, log: Logger): Promise<void> {
  if (!(await database.runsAsSuperuser())) return;
  const message =
    'The metadata database is used as a superuser, who can change the audit trail. Give Penstock a plain role that owns its database.';
  if (configuration.get('datapipelines.posture') === 'hardened') throw new PenstockError('internal', { message });
  log.warn(message);
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

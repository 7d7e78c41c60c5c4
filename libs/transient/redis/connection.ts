import { Redis, type RedisOptions } from 'ioredis';
import { PenstockError } from '#libs/kernel';
import { replyCode } from './script.js';

/** A command that takes longer has failed; nobody waits for a store that hangs (02 §8). */
const COMMAND_MS = 2000;
const CONNECT_MS = 5000;
const MAX_BACKOFF_MS = 2000;
/** A connection that is being given up may hold the process no longer. */
const DISCONNECT_MS = 200;

/** Commands fail at once while there is no connection: queueing them would answer requests with minutes of delay. */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_MS,
  connectTimeout: CONNECT_MS,
  disconnectTimeout: DISCONNECT_MS,
  keepAlive: 10_000,
  retryStrategy: (attempt) => Math.min(25 * 2 ** Math.min(attempt, 8), MAX_BACKOFF_MS),
  // After a failover the connection may lead to what is a replica now.
  reconnectOnError: (error) => replyCode(error) === 'READONLY',
};

export type ConnectionRole = 'commands' | 'subscriber';

/**
 * Connects, or refuses with the reason. From then on it reconnects by itself for ever; of each outage `onProblem` hears
 * once.
 */
export async function connectRedis(
  url: string,
  role: ConnectionRole,
  onProblem: (what: string, error: unknown) => void,
): Promise<Redis> {
  const redis = new Redis(url, { ...OPTIONS, connectionName: `penstock-${role}` });
  let firstError: unknown;
  const remember = (error: unknown): void => {
    firstError ??= error;
  };
  redis.on('error', remember);
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw unreachable(redis, firstError ?? error);
  }
  let reported = false;
  redis.on('ready', () => {
    reported = false;
  });
  redis.on('error', (error: unknown) => {
    if (reported) return;
    reported = true;
    onProblem(`The connection to Redis (${role}) broke.`, error);
  });
  redis.removeListener('error', remember);
  return redis;
}

/** Names host and port, never the URL: it may hold the password. */
function unreachable(redis: Redis, cause: unknown): PenstockError {
  const { host, port } = redis.options;
  return new PenstockError('internal', {
    message: `Redis at ${host}:${port} does not accept the connection. Check REDIS_URL, its password, and that the server runs.`,
    details: { reason: 'redis_unreachable', host, port },
    cause,
  });
}

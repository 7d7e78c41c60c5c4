import { Redis, type RedisOptions } from 'ioredis';
import { PenstockError, sentinelAddress, type SentinelAddress } from '#libs/kernel';
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
  retryStrategy: backoff,
  // After a failover the connection may lead to what is a replica now.
  reconnectOnError: (error) => replyCode(error) === 'READONLY',
};

export type ConnectionRole = 'commands' | 'subscriber';

/** The Redis that the Sentinels name, and another one once they do; `isTried` until the first connection stands. */
function behindSentinels(address: SentinelAddress, isTried: () => boolean): RedisOptions {
  const { sentinels, master, database, tls, username, password, sentinelPassword } = address;
  return {
    sentinels: [...sentinels],
    name: master,
    db: database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: COMMAND_MS,
    // A Redis that hangs keeps its connections: what the Sentinels say of it ends them.
    failoverDetector: true,
    // A boot is refused after every Sentinel was asked once; a server that serves asks for ever.
    sentinelRetryStrategy: (attempt) => (isTried() ? null : backoff(attempt)),
  };
}

/**
 * Connects, or refuses with the reason. From then on it reconnects by itself for ever; of each outage `onProblem` hears
 * once.
 */
export async function connectRedis(
  url: string,
  role: ConnectionRole,
  onProblem: (what: string, error: unknown) => void,
): Promise<Redis> {
  const options = { ...OPTIONS, connectionName: `penstock-${role}` };
  const address = sentinelAddress(url);
  let isTried = true;
  const redis = address
    ? new Redis({ ...options, ...behindSentinels(address, () => isTried) })
    : new Redis(url, options);
  let firstError: unknown;
  const remember = (error: unknown): void => {
    firstError ??= error;
  };
  redis.on('error', remember);
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw unreachable(redis, address, firstError ?? error);
  }
  isTried = false;
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

/** Names hosts and ports, never the URL: it may hold the password. */
function unreachable(redis: Redis, address: SentinelAddress | undefined, cause: unknown): PenstockError {
  if (address) {
    const sentinels = address.sentinels.map(({ host, port }) => `${host}:${port}`);
    return new PenstockError('internal', {
      message: `No Sentinel of ${sentinels.join(', ')} leads to a Redis "${address.master}" that accepts the connection. Check REDIS_URL, the passwords, and the name of the master.`,
      details: { reason: 'redis_unreachable', sentinels, master: address.master },
      cause,
    });
  }
  const { host, port } = redis.options;
  return new PenstockError('internal', {
    message: `Redis at ${host}:${port} does not accept the connection. Check REDIS_URL, its password, and that the server runs.`,
    details: { reason: 'redis_unreachable', host, port },
    cause,
  });
}

function backoff(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 8), MAX_BACKOFF_MS);
}

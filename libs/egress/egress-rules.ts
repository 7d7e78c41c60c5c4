import { Configuration, PenstockError, sentinelAddress } from '#libs/kernel';
import { parseBlocks } from './address-rules.js';
import type { EgressRules } from './egress-policy.js';
import type { OwnService } from './own-services.js';

const POSTGRES_PORT = 5432;
const REDIS_PORT = 6379;

/**
 * What the configuration forbids.
 *
 * @param metadataUrl of the database this process really uses; embedded mode makes its own
 */
export function egressRules(
  config: Configuration,
  metadataUrl = config.get('datapipelines.metadata-db.url'),
): EgressRules {
  if (metadataUrl === undefined) {
    throw new PenstockError('internal', { message: 'The egress policy needs to know the metadata database.' });
  }
  return {
    refuseLoopback: config.get('datapipelines.posture') === 'hardened',
    allow: parseBlocks(config.get('datapipelines.datasources.egress.allow')),
    deny: parseBlocks(config.get('datapipelines.datasources.egress.deny')),
    services: [metadataService(metadataUrl), ...redisService(config), managementService(config)],
  };
}

function metadataService(text: string): OwnService {
  const url = new URL(text);
  // libpq's rule: without a name the database is called as the user.
  const database = decodeURIComponent(url.pathname.slice(1)) || decodeURIComponent(url.username);
  return { rule: 'metadata_database', host: hostOf(url), port: Number(url.port) || POSTGRES_PORT, database };
}

function redisService(config: Configuration): OwnService[] {
  const text = config.get('datapipelines.redis.url');
  if (text !== undefined) {
    const behind = sentinelAddress(text);
    if (behind) return behind.sentinels.map(({ host, port }) => ({ rule: 'redis', host, port }));
    const url = new URL(text);
    return [{ rule: 'redis', host: hostOf(url), port: Number(url.port) || REDIS_PORT }];
  }
  const host = config.get('datapipelines.redis.host');
  return host === undefined ? [] : [{ rule: 'redis', host, port: config.get('datapipelines.redis.port') }];
}

function managementService(config: Configuration): OwnService {
  return {
    rule: 'management',
    host: config.get('datapipelines.management.address'),
    port: config.get('datapipelines.management.port'),
  };
}

/** Without the brackets of an IPv6 literal. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

import type { ConfigurationKey, ConfigurationValue } from './table.js';

type Get = <K extends ConfigurationKey>(key: K) => ConfigurationValue<K>;

/**
 * Stores that a hardened server speaks to in the clear. It is warned about and not refused: the network between them may
 * be closed, which only its operator knows. No address is repeated, because it may hold a password.
 */
export function plainStoreWarnings(get: Get): string[] {
  if (get('datapipelines.posture') !== 'hardened') return [];
  const [database, redis] = [get('datapipelines.metadata-db.url'), get('datapipelines.redis.url')];
  const warnings: string[] = [];
  if (database !== undefined && !asksForTls(database)) {
    warnings.push(
      'datapipelines.metadata-db.url asks for no TLS: whoever is on the network can read along. Add sslmode=verify-full to it, unless that network is closed',
    );
  }
  if (redis === undefined || !/^rediss(?:-sentinel)?:/.test(redis)) {
    warnings.push(
      'datapipelines.redis.url asks for no TLS: whoever is on the network can read along. Begin it with rediss:// (rediss-sentinel://), unless that network is closed',
    );
  }
  return warnings;
}

/** As the driver reads it: any mode but `disable`, a certificate, or the older `ssl=true`. */
function asksForTls(url: string): boolean {
  const { searchParams: given } = new URL(url);
  const mode = given.get('sslmode');
  if (mode !== null && mode !== '') return mode !== 'disable';
  const implied = ['sslcert', 'sslkey', 'sslrootcert'].some((name) => given.has(name));
  return implied || given.get('sslnegotiation') === 'direct' || ['true', '1'].includes(given.get('ssl') ?? '');
}

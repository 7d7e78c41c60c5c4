import type { Redis } from 'ioredis';
import { PenstockError } from '#libs/kernel';

const POLICY = 'noeviction';

/** What Redis says about itself; a field is absent where it does not let us ask. */
export interface MemoryFacts {
  policy?: string;
  evictedKeys?: number;
  version?: string;
}

/** Managed Redis often forbids CONFIG, and old ones leave the policy out of INFO: asks both ways. */
export async function memoryFacts(redis: Redis): Promise<MemoryFacts> {
  const info = await ask(() => redis.info());
  const policy =
    field(info, 'maxmemory_policy') ??
    ((await ask(() => redis.config('GET', 'maxmemory-policy'))) as string[] | undefined)?.[1];
  const evicted = field(info, 'evicted_keys');
  const version = field(info, 'redis_version');
  return {
    ...(typeof policy === 'string' ? { policy } : {}),
    ...(evicted === undefined ? {} : { evictedKeys: Number(evicted) }),
    ...(version === undefined ? {} : { version }),
  };
}

/**
 * Under any other policy Redis drops idempotency claims and results without a word when memory is short: a retry would
 * run twice, and a result would be gone within its time (seed §9).
 *
 * @returns a sentence when the policy cannot be read.
 */
export function requireNoEviction(facts: MemoryFacts): string | undefined {
  if (facts.policy === undefined) {
    return `Redis does not tell its maxmemory-policy. Make sure that it is ${POLICY}: under another one results and idempotency keys vanish silently.`;
  }
  if (facts.policy === POLICY) return undefined;
  throw new PenstockError('internal', {
    message:
      `Redis runs with maxmemory-policy ${facts.policy}, under which results and idempotency keys vanish silently. ` +
      `Set it to ${POLICY} (CONFIG SET maxmemory-policy ${POLICY}, and the same in redis.conf).`,
    details: { reason: 'redis_eviction_policy', policy: facts.policy },
  });
}

const OLDEST_MAJOR = 7;

export function requireVersion(facts: MemoryFacts): void {
  const major = Number.parseInt(facts.version ?? '', 10);
  if (Number.isNaN(major) || major >= OLDEST_MAJOR) return;
  throw new PenstockError('internal', {
    message: `Redis ${facts.version} is too old; Penstock needs ${OLDEST_MAJOR} or newer.`,
    details: { reason: 'redis_version', version: facts.version },
  });
}

function field(info: string | undefined, name: string): string | undefined {
  return info === undefined ? undefined : new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
}

/** Undefined where the account may not ask. */
async function ask<T>(command: () => Promise<T>): Promise<T | undefined> {
  try {
    return await command();
  } catch (error) {
    if (error instanceof Error && /^(?:NOPERM|ERR) /.test(error.message)) return undefined;
    throw error;
  }
}

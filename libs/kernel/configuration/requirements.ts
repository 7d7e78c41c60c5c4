import { usableProviders } from './oidc-providers.js';
import type { ConfigurationKey } from './table.js';
import type { ConfigurationViolation } from './violation.js';

/** What a process is started for: a migration needs the database and nothing else. */
export type Purpose = 'server' | 'migration';

/**
 * What must be there (contracts 00 §2, 03 §11). Without a database URL the server is embedded and makes its secrets
 * itself; production refuses that. With one, everything that N instances must share has to be given.
 */
export function missingSettings(
  facts: { embedded: boolean; purpose: Purpose },
  get: (key: ConfigurationKey) => unknown,
): ConfigurationViolation[] {
  const violations: ConfigurationViolation[] = [];
  const require = (present: unknown, key: string, hint: string) => {
    if (!present) violations.push({ key, problem: `is required ${hint}` });
  };
  if (facts.embedded && facts.purpose === 'server') return violations;
  require(get('datapipelines.metadata-db.url'), 'datapipelines.metadata-db.url', '(DATABASE_URL)');
  if (facts.purpose === 'migration') return violations;
  require(get('datapipelines.redis.url') ?? get('datapipelines.redis.host'), 'datapipelines.redis.url', '(REDIS_URL)');
  require(get('datapipelines.db.encryption-key'), 'datapipelines.db.encryption-key', '(DATAPIPELINES_MASTER_KEY)');
  require(get('datapipelines.jwt.secret'), 'datapipelines.jwt.secret', '(DATAPIPELINES_JWT_SECRET)');
  const providers = get('datapipelines.auth.oidc.providers');
  require(get('datapipelines.auth.local.enabled') ||
    usableProviders(Array.isArray(providers) ? providers : []).length >
      0, 'datapipelines.auth.local.enabled', 'as true, or a provider in datapipelines.auth.oidc.providers: there is no other way to sign in');
  return violations;
}

import { mailChecks, mailHardening } from './mail-checks.js';
import { promotionChecks } from './promotion-checks.js';
import { usableProviders } from './oidc-providers.js';
import { sentinelAddress } from './redis-address.js';
import type { ConfigurationKey, ConfigurationValue } from './table.js';

/** What a rule over several keys may look at. */
export interface CheckFacts {
  embedded: boolean;
  hardened: boolean;
  /** Threads of the native pool; 8 of them must stay free of staging calls (contract 02 §1). */
  threadPoolSize: number;
  get<K extends ConfigurationKey>(key: K): ConfigurationValue<K>;
}

/** A rule over several keys. Skipped when one of them has no valid value of its own. */
export interface CrossCheck {
  /** The first is blamed. */
  keys: readonly [ConfigurationKey, ...ConfigurationKey[]];
  /** What is wrong, or undefined. */
  problem(facts: CheckFacts): string | undefined;
}

type IntegerKey = { [K in ConfigurationKey]: ConfigurationValue<K> extends number ? K : never }[ConfigurationKey];

function notAbove(lower: IntegerKey, upper: IntegerKey): CrossCheck {
  return {
    keys: [lower, upper],
    problem: ({ get }) =>
      get(lower) > get(upper) ? `(${get(lower)}) must not be above ${upper} (${get(upper)})` : undefined,
  };
}

/** A host that is this machine. */
function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  return (
    host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '[::1]' || host === '::1'
  );
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).hostname;
}

/** Of Redis itself, or of every Sentinel that is asked for it. */
function redisHosts(get: CheckFacts['get']): (string | undefined)[] {
  const url = get('datapipelines.redis.url');
  const address = url === undefined ? undefined : sentinelAddress(url);
  return address?.sentinels.map(({ host }) => host) ?? [hostOf(url) ?? get('datapipelines.redis.host')];
}

const ordered: CrossCheck[] = [
  notAbove('datapipelines.result.ttl-min-seconds', 'datapipelines.result.ttl-default-seconds'),
  notAbove('datapipelines.result.ttl-default-seconds', 'datapipelines.result.ttl-max-seconds'),
  notAbove('datapipelines.result.page-size-rows', 'datapipelines.result.page-max-rows'),
  notAbove('datapipelines.endpoints.timeout-min-seconds', 'datapipelines.endpoints.timeout-default-seconds'),
  notAbove('datapipelines.endpoints.timeout-default-seconds', 'datapipelines.endpoints.timeout-max-seconds'),
  notAbove('datapipelines.web.page-default-limit', 'datapipelines.web.page-max-limit'),
];

const running: CrossCheck[] = [
  {
    keys: ['datapipelines.auth.session.host-prefix', 'datapipelines.auth.cookie-secure'],
    problem: ({ get }) =>
      get('datapipelines.auth.session.host-prefix') && !get('datapipelines.auth.cookie-secure')
        ? 'needs auth.cookie-secure: browsers drop a `__Host-` cookie that is not secure'
        : undefined,
  },
  {
    keys: ['datapipelines.executions.stale-timeout-minutes', 'datapipelines.executor.execution-timeout-seconds'],
    problem: ({ get }) =>
      get('datapipelines.executions.stale-timeout-minutes') * 60 >
      get('datapipelines.executor.execution-timeout-seconds')
        ? undefined
        : 'must be longer than executor.execution-timeout-seconds, or running executions would be given up',
  },
  {
    keys: ['datapipelines.staging.max-concurrent-calls'],
    problem: ({ get, threadPoolSize }) =>
      get('datapipelines.staging.max-concurrent-calls') > threadPoolSize - 8
        ? `must leave 8 of the ${threadPoolSize} threads of UV_THREADPOOL_SIZE free`
        : undefined,
  },
  {
    keys: ['datapipelines.management.port', 'datapipelines.server.port'],
    problem: ({ get }) => {
      const port = get('datapipelines.management.port');
      return port !== 0 && port === get('datapipelines.server.port') ? 'must differ from server.port' : undefined;
    },
  },
  {
    keys: ['datapipelines.redis.host', 'datapipelines.redis.url'],
    problem: ({ get }) =>
      get('datapipelines.redis.host') && get('datapipelines.redis.url')
        ? 'and redis.url are both set; keep one'
        : undefined,
  },
  {
    keys: ['datapipelines.db.encryption-key-current', 'datapipelines.db.encryption-keys'],
    problem: ({ get }) => {
      const current = get('datapipelines.db.encryption-key-current');
      return current === 1 || get('datapipelines.db.encryption-keys').has(current)
        ? undefined
        : `names version ${current}, for which there is no key`;
    },
  },
  {
    keys: ['datapipelines.posture', 'datapipelines.env'],
    problem: ({ get }) =>
      get('datapipelines.posture') === undefined
        ? `must be set to development or hardened, because env is ${get('datapipelines.env')}`
        : undefined,
  },
];

const trust: CrossCheck[] = [
  {
    keys: ['datapipelines.graphql.trusted-documents-file', 'datapipelines.graphql.trusted-documents'],
    problem: ({ get }) => {
      const mode = get('datapipelines.graphql.trusted-documents');
      const file = get('datapipelines.graphql.trusted-documents-file');
      if (mode === 'off' || file !== undefined) return undefined;
      return `is required while graphql.trusted-documents is ${mode}`;
    },
  },
];

const seeding: CrossCheck[] = [
  {
    keys: ['datapipelines.auth.local.bootstrap-password-hash', 'datapipelines.auth.local.bootstrap-password'],
    problem: ({ get }) =>
      get('datapipelines.auth.local.bootstrap-password-hash') && get('datapipelines.auth.local.bootstrap-password')
        ? 'and auth.local.bootstrap-password are both set; keep one'
        : undefined,
  },
  {
    keys: [
      'datapipelines.auth.local.bootstrap-password',
      'datapipelines.auth.local.bootstrap-password-hash',
      'datapipelines.auth.local.enabled',
      'datapipelines.auth.bootstrap-admin-email',
    ],
    problem: (facts) => {
      if (!isSeeded(facts)) return undefined;
      if (facts.hardened) return 'is a seeded password, which the hardened posture refuses';
      if (!facts.get('datapipelines.auth.local.enabled')) return 'needs auth.local.enabled';
      if (!facts.get('datapipelines.auth.bootstrap-admin-email')) return 'needs auth.bootstrap-admin-email';
      return undefined;
    },
  },
];

const providers: CrossCheck[] = [
  {
    keys: ['datapipelines.auth.base-url', 'datapipelines.auth.oidc.providers'],
    problem: ({ get }) =>
      get('datapipelines.auth.base-url') === undefined &&
      usableProviders(get('datapipelines.auth.oidc.providers')).length > 0
        ? 'is required with an identity provider, which sends people back to it'
        : undefined,
  },
  {
    keys: ['datapipelines.auth.oidc.providers', 'datapipelines.posture'],
    problem: ({ hardened, get }) =>
      hardened && get('datapipelines.auth.oidc.providers').some(({ issuerUri }) => !issuerUri.startsWith('https:'))
        ? 'needs an https issuer-uri for every provider when hardened'
        : undefined,
  },
];

function isSeeded({ get }: CheckFacts): boolean {
  return Boolean(
    get('datapipelines.auth.local.bootstrap-password') ?? get('datapipelines.auth.local.bootstrap-password-hash'),
  );
}

/** What the hardened posture refuses (contracts 04 §14, 05 §13). */
const hardening: CrossCheck[] = (
  [
    {
      keys: ['datapipelines.posture'],
      problem: ({ embedded }) => (embedded ? 'hardened needs an external database and Redis' : undefined),
    },
    {
      keys: ['datapipelines.metadata-db.url'],
      problem: ({ get }) =>
        isLoopback(hostOf(get('datapipelines.metadata-db.url')))
          ? 'must not be on this machine when hardened'
          : undefined,
    },
    {
      keys: ['datapipelines.redis.url', 'datapipelines.redis.host'],
      problem: ({ get }) =>
        redisHosts(get).some(isLoopback) ? 'must not be on this machine when hardened' : undefined,
    },
    {
      keys: ['datapipelines.demo'],
      problem: ({ get }) => (get('datapipelines.demo') ? 'must be false when hardened' : undefined),
    },
    {
      keys: ['datapipelines.auth.base-url'],
      problem: ({ get }) =>
        get('datapipelines.auth.base-url')?.startsWith('https:') ? undefined : 'must be an https origin when hardened',
    },
    {
      keys: ['datapipelines.auth.cookie-secure'],
      problem: ({ get }) => (get('datapipelines.auth.cookie-secure') ? undefined : 'must be true when hardened'),
    },
    {
      keys: ['datapipelines.auth.allow-local-only', 'datapipelines.auth.oidc.providers'],
      problem: ({ get }) =>
        get('datapipelines.auth.allow-local-only') ||
        usableProviders(get('datapipelines.auth.oidc.providers')).length > 0
          ? undefined
          : 'must be true when hardened without auth.oidc.providers, because local passwords are then the only way to sign in',
    },
    ...mailHardening,
  ] satisfies CrossCheck[]
).map((check) => ({ ...check, problem: (facts) => (facts.hardened ? check.problem(facts) : undefined) }));

export const CROSS_CHECKS: readonly CrossCheck[] = [
  ...ordered,
  ...running,
  ...trust,
  ...seeding,
  ...providers,
  ...promotionChecks,
  ...mailChecks,
  ...hardening,
];

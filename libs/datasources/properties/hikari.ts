import { isExactNumber, type Failure } from '#libs/kernel';

import { nearest } from './nearest.js';

export type PoolKey =
  | 'maximumPoolSize'
  | 'minimumIdle'
  | 'connectionTimeout'
  | 'idleTimeout'
  | 'maxLifetime'
  | 'keepaliveTime'
  | 'validationTimeout'
  | 'leakDetectionThreshold';

export type PoolSource = 'configured' | 'dialect_default' | 'application_default' | 'hikari_default';

/** One line of a datasource's `pool` view (06 §5). */
export interface PoolSetting {
  value: number;
  unit: 'count' | 'ms';
  source: PoolSource;
}

export type PoolView = Record<PoolKey, PoolSetting>;

/** A driver's own defaults, for engines where HikariCP's make no sense (a child process per idle connection). */
export type PoolDefaults = Partial<Record<PoolKey, number>>;

interface PoolRule {
  unit: 'count' | 'ms';
  value: number;
  source: PoolSource;
  /** In words, for the refusal. */
  range: string;
  accepts(value: number): boolean;
}

const zeroOrAtLeast = (least: number) => (value: number) => value === 0 || value >= least;

const RULES: Record<PoolKey, PoolRule> = {
  maximumPoolSize: {
    unit: 'count',
    value: 10,
    source: 'hikari_default',
    range: '1 to 500',
    accepts: (value) => value >= 1 && value <= 500,
  },
  minimumIdle: {
    unit: 'count',
    value: 2,
    source: 'application_default',
    range: '0 to maximumPoolSize',
    accepts: (value) => value >= 0,
  },
  connectionTimeout: {
    unit: 'ms',
    value: 30_000,
    source: 'hikari_default',
    range: '0 or at least 250',
    accepts: zeroOrAtLeast(250),
  },
  idleTimeout: {
    unit: 'ms',
    value: 600_000,
    source: 'hikari_default',
    range: '0 or at least 10000, and 1000 under maxLifetime',
    accepts: zeroOrAtLeast(10_000),
  },
  maxLifetime: {
    unit: 'ms',
    value: 1_800_000,
    source: 'hikari_default',
    range: '0 or at least 30000',
    accepts: zeroOrAtLeast(30_000),
  },
  keepaliveTime: {
    unit: 'ms',
    value: 120_000,
    source: 'hikari_default',
    range: '0 or at least 30000, and below maxLifetime',
    accepts: zeroOrAtLeast(30_000),
  },
  validationTimeout: {
    unit: 'ms',
    value: 5_000,
    source: 'hikari_default',
    range: 'at least 250',
    accepts: (value) => value >= 250,
  },
  leakDetectionThreshold: {
    unit: 'ms',
    value: 0,
    source: 'hikari_default',
    range: '0 or at least 2000, and at most maxLifetime',
    accepts: zeroOrAtLeast(2_000),
  },
};

export const POOL_KEYS = Object.keys(RULES) as PoolKey[];

/** Genuine HikariCP names that mean nothing here: stored, and told back in `ignored_properties`. */
export const IGNORED_POOL_KEYS: readonly string[] = [
  'allowPoolSuspension',
  'autoCommit',
  'catalog',
  'connectionTestQuery',
  'initializationFailTimeout',
  'isolateInternalQueries',
  'registerMbeans',
  'schema',
  'transactionIsolation',
];

/** What the server alone decides, in any case; a trailing `*` is a prefix (06 §4). */
export const SERVER_MANAGED: readonly string[] = [
  'jdbcUrl',
  'username',
  'password',
  'driverClassName',
  'dataSource*',
  'poolName',
  'metric*',
  'healthCheck*',
  'exceptionOverrideClassName',
  'connectionInitSql',
  'readOnly',
  'threadFactory',
  'scheduledExecutor',
];

export function matchesAny(key: string, patterns: readonly string[]): boolean {
  const folded = key.toLowerCase();
  return patterns.some((pattern) => {
    const word = pattern.toLowerCase();
    const core = word.replaceAll('*', '');
    if (word.startsWith('*') && word.endsWith('*')) return folded.includes(core);
    if (word.startsWith('*')) return folded.endsWith(core);
    return word.endsWith('*') ? folded.startsWith(core) : folded === word;
  });
}

/** A whole number, or text that is one; null otherwise. Values are at most nine digits: none is near a double's limit. */
export function wholeNumber(value: unknown): number | null {
  const numeric = typeof value === 'number' || typeof value === 'bigint' || isExactNumber(value);
  const text = typeof value === 'string' ? value.trim() : numeric ? String(value) : '';
  return /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}

/** All defects of `properties.hikari`: out of range is refused, never clamped. */
export function checkHikari(hikari: ReadonlyMap<string, unknown>): Failure[] {
  const failures: Failure[] = [];
  const fail = (key: string, message: string, details: Record<string, unknown> = {}): void =>
    void failures.push({
      code: 'datasource.validation.properties_invalid',
      path: `properties.hikari.${key}`,
      message,
      details: { key, ...details },
    });
  for (const [key, value] of hikari) {
    const rule = RULES[key as PoolKey];
    if (rule) {
      const number = wholeNumber(value);
      if (number === null || !rule.accepts(number))
        fail(key, `${key} must be a whole number: ${rule.range}.`, { allowed: rule.range });
    } else if (matchesAny(key, SERVER_MANAGED)) {
      fail(key, `${key} is managed by the server and cannot be set.`, { reason: 'server_managed' });
    } else if (!IGNORED_POOL_KEYS.includes(key)) {
      const suggestion = nearest(key, [...POOL_KEYS, ...IGNORED_POOL_KEYS], 3);
      fail(
        key,
        `${key} is no pool setting.${suggestion ? ` Did you mean ${suggestion}?` : ''}`,
        suggestion ? { suggestion } : {},
      );
    }
  }
  if (failures.length === 0) checkTogether(hikari, fail);
  return failures;
}

function checkTogether(
  hikari: ReadonlyMap<string, unknown>,
  fail: (key: string, message: string, details?: Record<string, unknown>) => void,
): void {
  const configured = (key: PoolKey): number | null => wholeNumber(hikari.get(key));
  const lifetime = configured('maxLifetime') ?? RULES.maxLifetime.value;
  const size = configured('maximumPoolSize') ?? RULES.maximumPoolSize.value;
  const idle = configured('idleTimeout');
  const keepalive = configured('keepaliveTime');
  const leak = configured('leakDetectionThreshold');
  if ((configured('minimumIdle') ?? 0) > size) fail('minimumIdle', `minimumIdle is above maximumPoolSize (${size}).`);
  if (lifetime === 0) return;
  if (idle && idle + 1000 > lifetime)
    fail('idleTimeout', `idleTimeout must stay 1000 ms under maxLifetime (${lifetime}).`);
  if (keepalive && keepalive >= lifetime)
    fail('keepaliveTime', `keepaliveTime must be below maxLifetime (${lifetime}).`);
  if (leak && leak > lifetime)
    fail('leakDetectionThreshold', `leakDetectionThreshold is above maxLifetime (${lifetime}).`);
}

/** The settings in force, each with where it comes from. A default gives way where a configured value leaves no room. */
export function poolView(hikari: ReadonlyMap<string, unknown>, defaults: PoolDefaults = {}): PoolView {
  const setting = (key: PoolKey): PoolSetting => {
    const rule = RULES[key];
    const configured = wholeNumber(hikari.get(key));
    if (configured !== null) return { value: configured, unit: rule.unit, source: 'configured' };
    const own = defaults[key];
    return own === undefined
      ? { value: rule.value, unit: rule.unit, source: rule.source }
      : { value: own, unit: rule.unit, source: 'dialect_default' };
  };
  const view = Object.fromEntries(POOL_KEYS.map((key) => [key, setting(key)])) as PoolView;
  const lifetime = view.maxLifetime.value;
  if (view.minimumIdle.source !== 'configured') {
    view.minimumIdle.value = Math.min(view.minimumIdle.value, view.maximumPoolSize.value);
  }
  if (lifetime !== 0 && view.idleTimeout.source !== 'configured') {
    view.idleTimeout.value = Math.min(view.idleTimeout.value, lifetime - 1000);
  }
  if (lifetime !== 0 && view.keepaliveTime.source !== 'configured' && view.keepaliveTime.value >= lifetime) {
    view.keepaliveTime.value = 0;
  }
  return view;
}

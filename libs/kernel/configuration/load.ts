import { readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { Configuration } from './configuration.js';
import { CROSS_CHECKS, type CheckFacts } from './cross-checks.js';
import { isDerived, type DefaultFacts } from './definition.js';
import {
  CONFIG_FILE_VARIABLE,
  EnvironmentReader,
  errorCode,
  unreadVariables,
  type Environment,
} from './environment.js';
import { readConfigurationFile } from './file.js';
import type { OidcProviderSetting } from './oidc-providers.js';
import { missingSettings, type Purpose } from './requirements.js';
import { SettingsReader } from './settings.js';
import { plainStoreWarnings } from './store-encryption.js';
import { ALL_KEYS, keyDefinition, type ConfigurationKey, type ConfigurationValue } from './table.js';
import { ConfigurationError, type ConfigurationViolation } from './violation.js';

export interface LoadOptions {
  /** Default `server`. */
  purpose?: Purpose;
  /** Reads a text file, or throws. */
  readFile?: (path: string) => string;
  cores?: number;
  temporaryDirectory?: string;
}

/** What `main` sets before anything is imported (contract 02 §1). */
const DEFAULT_THREAD_POOL_SIZE = 24;

/**
 * Reads the configuration: environment, then the YAML file at `DATAPIPELINES_CONFIG_FILE`, then defaults.
 *
 * @throws ConfigurationError with every violation at once; no value of a secret is in it.
 */
export function loadConfiguration(environment: Environment, options: LoadOptions = {}): Configuration {
  const readFile = options.readFile ?? ((path: string) => readFileSync(path, 'utf8'));
  const file = readFileSettings(environment[CONFIG_FILE_VARIABLE], readFile);
  const variables = new EnvironmentReader(environment, readFile);
  const settings = new SettingsReader(variables, file.settings, file.name);
  const unread = unreadVariables(environment);

  const given = new Map<ConfigurationKey, unknown>();
  const invalid = new Set<ConfigurationKey>();
  const violations: ConfigurationViolation[] = [...file.violations, ...unread.violations];
  for (const key of ALL_KEYS) {
    const setting = settings.read(key);
    const { default: fallback, parse } = keyDefinition(key);
    if (!setting || (setting.text === 'auto' && isDerived(fallback))) continue;
    const parsed = parse(setting.text);
    if ('value' in parsed) given.set(key, parsed.value);
    else {
      invalid.add(key);
      violations.push({ key, from: setting.from, problem: parsed.problem });
    }
  }
  violations.push(...variables.violations, ...settings.violations);

  const production = environment['NODE_ENV'] === 'production';
  const database = given.has('datapipelines.metadata-db.url') || invalid.has('datapipelines.metadata-db.url');
  const embedded = !database && !production;
  const values = resolve(given, {
    embedded,
    cores: options.cores ?? availableParallelism(),
    temporaryDirectory: options.temporaryDirectory ?? tmpdir(),
  });
  const missing = missingSettings({ embedded, purpose: options.purpose ?? 'server' }, (key) => values.get(key));
  violations.push(...missing.filter(({ key }) => !invalid.has(key as ConfigurationKey)));
  if (options.purpose !== 'migration') violations.push(...crossViolations(values, invalid, embedded, environment));
  if (violations.length > 0) throw new ConfigurationError(violations);

  const warnings = [...settings.warnings, ...unread.warnings];
  if (embedded && (given.has('datapipelines.redis.url') || given.has('datapipelines.redis.host'))) {
    warnings.push('Redis is not used, because no metadata database is given: the server runs embedded');
  }
  const authored = values.get('datapipelines.deployment.authoring-enabled');
  if (authored && given.has('datapipelines.deployment.promotion.server-key')) {
    warnings.push(
      'A promotion key is set, but authoring is enabled: promotions are refused where people write. Set deployment.authoring-enabled to false',
    );
  }
  warnings.push(...providerWarnings(values.get('datapipelines.auth.oidc.providers') as readonly OidcProviderSetting[]));
  warnings.push(...plainStoreWarnings((key) => values.get(key) as never));
  return new Configuration(embedded ? 'embedded' : 'external', values, warnings);
}

function providerWarnings(providers: readonly OidcProviderSetting[]): string[] {
  return providers.flatMap(({ name, clientId, issuerUri }) => {
    if (clientId === '') return [`The identity provider ${name} has no client-id and is not offered for signing in`];
    return issuerUri.startsWith('https:') ? [] : [`The identity provider ${name} is reached without encryption`];
  });
}

function readFileSettings(path: string | undefined, readFile: (path: string) => string) {
  const name = path ?? '';
  if (!path) return { name, settings: new Map<string, string>(), violations: [] };
  let text: string;
  try {
    text = readFile(path);
  } catch (cause) {
    const problem = `names a file that cannot be read (${errorCode(cause)})`;
    return { name, settings: new Map<string, string>(), violations: [{ key: CONFIG_FILE_VARIABLE, problem }] };
  }
  return { name, ...readConfigurationFile(path, text) };
}

/** Every key's final value; a default that asks for another key gets that one's final value. */
function resolve(given: ReadonlyMap<ConfigurationKey, unknown>, surroundings: Omit<DefaultFacts, 'value'>) {
  const values = new Map<ConfigurationKey, unknown>(given);
  const valueOf = (key: ConfigurationKey): unknown => {
    if (values.has(key)) return values.get(key);
    const { default: fallback } = keyDefinition(key);
    const facts: DefaultFacts = { ...surroundings, value: (other) => valueOf(other as ConfigurationKey) };
    const value = isDerived(fallback) ? fallback.from(facts) : fallback;
    values.set(key, value);
    return value;
  };
  ALL_KEYS.forEach(valueOf);
  return values;
}

function crossViolations(
  values: ReadonlyMap<ConfigurationKey, unknown>,
  invalid: ReadonlySet<ConfigurationKey>,
  embedded: boolean,
  environment: Environment,
): ConfigurationViolation[] {
  const facts: CheckFacts = {
    embedded,
    hardened: values.get('datapipelines.posture') === 'hardened',
    threadPoolSize: Number(environment['UV_THREADPOOL_SIZE'] || DEFAULT_THREAD_POOL_SIZE),
    get: <K extends ConfigurationKey>(key: K) => values.get(key) as ConfigurationValue<K>,
  };
  return CROSS_CHECKS.flatMap((check) => {
    if (check.keys.some((key) => invalid.has(key))) return [];
    const problem = check.problem(facts);
    return problem === undefined ? [] : [{ key: check.keys[0], problem }];
  });
}

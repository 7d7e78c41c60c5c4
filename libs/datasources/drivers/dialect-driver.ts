import type { Failure } from '#libs/kernel';
import type { Dialect } from '#libs/typesystem';

import type { CredentialKind } from '../credentials/credential-rules.js';
import type { ConnectionSource } from '../pool/connection-source.js';
import type { PoolDefaults } from '../properties/hikari.js';
import { checkJdbcProperties, judgeProperty, type JdbcRules } from '../properties/jdbc-rules.js';
import { UrlDefect, type HostPort } from '../properties/url-defect.js';
import type { Introspection } from '../introspection/introspection.js';
import type { PlanReading } from '../probe/query-plan.js';
import type { StatisticsReading } from '../statistics/statistics.js';
import type { NamespaceShape } from './driver.js';

/** A file a datasource names: under the file roots, or under the other folder given. */
export interface NamedFile {
  path: string;
  alsoUnder?: string;
  /** The property that names it; absent: the URL does. */
  property?: string;
}

/** A server a datasource names, with the database on it: another database of our own server may be used. */
export interface NamedHost extends HostPort {
  database?: string;
}

/** What a driver needs from the process around it. */
export interface DriverContext {
  /** Resolves and judges a host; the socket goes to the address it gives (04 §12). */
  checkAddress(host: NamedHost): Promise<{ address: string }>;
  /** Canonical path of a file under the roots. @throws DriverFailure of kind connection */
  openableFile(file: NamedFile): Promise<string>;
}

export interface SourceLogin {
  datasource: string;
  username: string | null;
  secret: string | null;
  credentialKind: CredentialKind;
  isReadonly: boolean;
}

/** A datasource's URL and properties, read and checked: the one way to a connection for save, test and pool (06 §2). */
export interface ConfiguredSource {
  readonly hosts: readonly NamedHost[];
  readonly files: readonly NamedFile[];
  /** Stored names that mean nothing here. */
  readonly ignored: readonly string[];
  source(login: SourceLogin, context: DriverContext): ConnectionSource;
}

export type Configured = { ok: true; configured: ConfiguredSource } | { ok: false; failures: Failure[] };

/** One dialect as the rest of the product sees it. */
export interface DialectDriver {
  readonly dialect: Dialect;
  /** Runs in our process, or on our files: only super admins may register one. */
  readonly inProcess: boolean;
  readonly namespace: NamespaceShape;
  readonly credentialKinds: readonly CredentialKind[];
  readonly poolDefaults: PoolDefaults;
  readonly introspection: Introspection;
  /** What the engine has gathered about its tables; absent where it gathers nothing. */
  readonly statistics?: StatisticsReading;
  /** How it explains a query; absent where it does not, or not without writing. */
  readonly plan?: PlanReading;
  /** `section` is `properties.dialect`, which is empty for most dialects. */
  configure(jdbcUrl: string, jdbc: ReadonlyMap<string, unknown>, section?: ReadonlyMap<string, unknown>): Configured;
  /** The engine's version as text, for a connection test. */
  readonly versionQuery: string;
}

/** What a driver file declares; its URL and options types stay its own. */
export interface DriverSpec<Url extends { parameters: ReadonlyMap<string, string> }, Options> extends Omit<
  DialectDriver,
  'configure'
> {
  /** The first is the one to write; the others are taken too. */
  readonly urlPrefixes: readonly [string, ...string[]];
  /** Shown to whoever got it wrong. */
  readonly urlForm: string;
  readonly jdbc: JdbcRules;
  /** @throws UrlDefect */
  parseUrl(rest: string, prefix: string): Url;
  /** Defects of `properties.dialect`; absent where the dialect has no such section. */
  checkSection?(section: ReadonlyMap<string, unknown>): Failure[];
  /** @param section `properties.dialect`, empty where the dialect has none */
  options(url: Url, properties: ReadonlyMap<string, string>, section: ReadonlyMap<string, string>): Options;
  hosts(options: Options): readonly NamedHost[];
  files(options: Options): readonly NamedFile[];
  source(options: Options, login: SourceLogin, context: DriverContext): ConnectionSource;
}

export function defineDriver<Url extends { parameters: ReadonlyMap<string, string> }, Options>(
  spec: DriverSpec<Url, Options>,
): DialectDriver {
  return { ...spec, configure: (jdbcUrl, jdbc, section) => configure(spec, jdbcUrl, jdbc, section) };
}

/** All defects of URL and properties at once. */
function configure<Url extends { parameters: ReadonlyMap<string, string> }, Options>(
  spec: DriverSpec<Url, Options>,
  jdbcUrl: string,
  jdbc: ReadonlyMap<string, unknown>,
  section: ReadonlyMap<string, unknown> = new Map(),
): Configured {
  const { url, failures } = readUrl(spec, jdbcUrl);
  const parameters = url?.parameters ?? new Map<string, string>();
  failures.push(...checkJdbcProperties(spec.jdbc, jdbc, parameters));
  failures.push(...(spec.checkSection ?? noSection)(section));
  if (!url || failures.length > 0) return { ok: false, failures };
  const options = spec.options(url, jdbc as ReadonlyMap<string, string>, section as ReadonlyMap<string, string>);
  const given = [...parameters.keys(), ...jdbc.keys()];
  return {
    ok: true,
    configured: {
      hosts: spec.hosts(options),
      files: spec.files(options),
      ignored: given.filter((key) => spec.jdbc.ignored.includes(key)),
      source: (login, context) => spec.source(options, login, context),
    },
  };
}

/** `properties.dialect` is the lake's alone. */
function noSection(section: ReadonlyMap<string, unknown>): Failure[] {
  return [...section.keys()].map((key) => ({
    code: 'datasource.validation.properties_invalid',
    path: `properties.dialect.${key}`,
    message: 'properties.dialect is for LAKE datasources only.',
    details: { key },
  }));
}

const MAX_URL = 2048;

function readUrl<Url extends { parameters: ReadonlyMap<string, string> }, Options>(
  spec: DriverSpec<Url, Options>,
  jdbcUrl: string,
): { url?: Url; failures: Failure[] } {
  const malformed = (message: string, details: Record<string, unknown>): Failure => ({
    code: 'datasource.validation.jdbc_url_malformed',
    path: 'jdbc_url',
    message,
    details: { ...details, form: spec.urlForm },
  });
  if (jdbcUrl.length > MAX_URL)
    return { failures: [malformed(`A JDBC URL has at most ${MAX_URL} characters.`, { reason: 'too_long' })] };
  const prefix = spec.urlPrefixes.find((candidate) => jdbcUrl.startsWith(candidate));
  if (prefix === undefined) {
    return {
      failures: [
        {
          code: 'datasource.validation.jdbc_url_scheme_invalid',
          path: 'jdbc_url',
          message: `A ${spec.dialect} URL begins with ${spec.urlPrefixes[0]}`,
          details: { form: spec.urlForm },
        },
      ],
    };
  }
  try {
    const url = spec.parseUrl(jdbcUrl.slice(prefix.length), prefix);
    const failures = [...url.parameters].flatMap(([key, value]) => {
      const defect = judgeProperty(spec.jdbc, key, value);
      if (!defect) return [];
      const { message, reason, suggestion } = defect;
      return [malformed(message, { reason, key, ...(suggestion ? { suggestion } : {}) })];
    });
    return { url, failures };
  } catch (error) {
    if (!(error instanceof UrlDefect)) throw error;
    const failure = malformed(error.message, { reason: error.reason, ...error.details });
    return { failures: [{ ...failure, code: error.code }] };
  }
}

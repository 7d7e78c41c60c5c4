import { isExactNumber, isJsonObject, type Failure, type JsonObject, type JsonValue } from '#libs/kernel';
import { DIALECTS, type Dialect } from '#libs/typesystem';

import { CREDENTIAL_KINDS, type CredentialKind, type RequestedCredential } from './credentials/credential-rules.js';
import { normalisedSchemas, propertiesOf, type DatasourceProperties } from './datasource.js';
import { nearest } from './properties/nearest.js';

/** A request body, read: what could be read stands in `fields`, what could not in `failures`. */
export interface DatasourceBody {
  fields: {
    displayName: string;
    description: string | null;
    dialect: Dialect | undefined;
    jdbcUrl: string;
    /** Undefined: none given. */
    credential: RequestedCredential | undefined;
    queryTimeoutSeconds: number | null;
    readonly: boolean | undefined;
    includeSchemas: string[];
    properties: DatasourceProperties;
    /** Undefined: absent; null: an instance datasource. */
    workspace: string | null | undefined;
    global: boolean;
  };
  failures: Failure[];
}

const WRITABLE = [
  'name',
  'display_name',
  'description',
  'dialect',
  'jdbc_url',
  'credential',
  'username',
  'password',
  'query_timeout_seconds',
  'readonly',
  'introspection_include_schemas',
  'properties',
  'workspace',
  'global',
];
/** What reads show and writes ignore, so that an unmodified GET can be PUT. */
const READ_ONLY = [
  'last_test',
  'pool',
  'granted',
  'facts',
  'definitions',
  'password_set',
  'ignored_properties',
  'created_by',
  'created_at',
  'updated_at',
];
const SECTIONS = ['hikari', 'jdbc', 'dialect'];
const SCHEMA_NAME = /^[a-z0-9_$#]+(?:\.[a-z0-9_$#]+)*$/;
const MAX_SCHEMAS = 200;
/** What its column holds; a run takes no more of it than a node may last. */
const MAX_TIMEOUT = 2_147_483_647;

const NAME = /^[a-z0-9_-]{1,63}$/;

/** The name's own rule; `tempdb` means staging in every pipeline. */
export function nameFailure(name: unknown, expected?: string): Failure | undefined {
  if (typeof name === 'string' && NAME.test(name) && name !== 'tempdb' && (expected === undefined || name === expected))
    return undefined;
  const message =
    expected !== undefined && typeof name === 'string' && NAME.test(name)
      ? 'The name in the body must be the one in the path; a datasource is never renamed.'
      : 'A name has 1 to 63 of a-z, 0-9, _ and -, and "tempdb" is taken.';
  return { code: 'datasource.validation.name_invalid', path: 'name', message, details: {} };
}

/** Reads every field and reports every defect (06 §1). */
export function readDatasourceBody(body: JsonObject): DatasourceBody {
  const reader = new BodyReader(body);
  const fields = {
    displayName: reader.displayName(),
    description: reader.text('description', 10_000) ?? null,
    dialect: reader.dialect(),
    jdbcUrl: reader.required('jdbc_url', 'datasource.validation.jdbc_url_malformed'),
    credential: reader.credential(),
    queryTimeoutSeconds: reader.queryTimeout(),
    readonly: reader.flag('readonly'),
    includeSchemas: reader.includeSchemas(),
    properties: reader.properties(),
    workspace: reader.workspace(),
    global: reader.flag('global') ?? false,
  };
  reader.unknownKeys();
  return { fields, failures: reader.failures };
}

class BodyReader {
  readonly failures: Failure[] = [];

  constructor(private readonly body: JsonObject) {}

  #fail(code: Failure['code'], path: string, message: string, details: Record<string, unknown> = {}): void {
    this.failures.push({ code, path, message, details });
  }

  #invalid(path: string, message: string, details: Record<string, unknown> = {}): void {
    this.#fail('datasource.validation.properties_invalid', path, message, details);
  }

  #get(key: string): JsonValue | undefined {
    return this.body[key] ?? undefined;
  }

  unknownKeys(): void {
    for (const key of Object.keys(this.body)) {
      if (WRITABLE.includes(key) || READ_ONLY.includes(key)) continue;
      const suggestion = nearest(key, WRITABLE, 3);
      this.#invalid(key, `A datasource has no field "${key}".${suggestion ? ` Did you mean ${suggestion}?` : ''}`, {
        key,
      });
    }
  }

  text(key: string, longest: number): string | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.length <= longest) return value;
    this.#invalid(key, `${key} must be text of at most ${longest} characters.`, { key });
    return undefined;
  }

  displayName(): string {
    const value = this.#get('display_name');
    if (typeof value === 'string' && value.trim() !== '' && value.length <= 200) return value;
    this.#invalid('display_name', 'display_name is required: 1 to 200 characters.', { key: 'display_name' });
    return '';
  }

  required(key: string, code: Failure['code']): string {
    const value = this.#get(key);
    if (typeof value === 'string' && value !== '') return value;
    this.#fail(code, key, `${key} is required.`, { reason: 'missing' });
    return '';
  }

  dialect(): Dialect | undefined {
    const value = this.#get('dialect');
    const dialect = DIALECTS.find((known) => known === value);
    if (!dialect) {
      this.#fail('datasource.validation.dialect_invalid', 'dialect', 'The dialect must be one of the words listed.', {
        dialects: DIALECTS,
      });
    }
    return dialect;
  }

  flag(key: string): boolean | undefined {
    const value = this.#get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    this.#invalid(key, `${key} must be true or false.`, { key });
    return undefined;
  }

  queryTimeout(): number | null {
    const value = this.#get('query_timeout_seconds');
    if (value === undefined) return null;
    const text = isExactNumber(value) ? value.toString() : '';
    const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (seconds >= 1 && seconds <= MAX_TIMEOUT) return seconds;
    this.#fail(
      'datasource.validation.query_timeout_invalid',
      'query_timeout_seconds',
      `Whole seconds from 1 to ${MAX_TIMEOUT}, or null.`,
    );
    return null;
  }

  includeSchemas(): string[] {
    const value = this.#get('introspection_include_schemas');
    if (value === undefined) return [];
    const key = 'introspection_include_schemas';
    if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) {
      this.#invalid(key, `${key} must be a list of schema names.`, { key });
      return [];
    }
    const names = normalisedSchemas(value);
    if (names.length > MAX_SCHEMAS) this.#invalid(key, `${key} takes at most ${MAX_SCHEMAS} names.`, { key });
    names.forEach((name, index) => {
      if (!SCHEMA_NAME.test(name))
        this.#invalid(`${key}[${index}]`, 'A schema name has letters, digits, _, $ and #.', { key });
    });
    return names;
  }

  properties(): DatasourceProperties {
    const value = this.#get('properties') ?? {};
    if (!isJsonObject(value)) {
      this.#invalid('properties', 'properties must be an object with hikari, jdbc and dialect.', { key: 'properties' });
      return propertiesOf({});
    }
    for (const [key, section] of Object.entries(value)) {
      if (!SECTIONS.includes(key)) this.#invalid(`properties.${key}`, `properties has no section "${key}".`, { key });
      else if (!isJsonObject(section))
        this.#invalid(`properties.${key}`, `properties.${key} must be an object.`, { key });
    }
    // Unlike a stored row, a body may not name what the server manages, so it is read as it came.
    const whole = propertiesOf(value);
    const hikari = isJsonObject(value['hikari']) ? value['hikari'] : {};
    return { ...whole, hikari: new Map(Object.entries(hikari)), stored: value };
  }

  workspace(): string | null | undefined {
    const value = this.body['workspace'];
    if (value === undefined || value === null || typeof value === 'string') return value;
    this.#fail('datasource.validation.workspace_forbidden', 'workspace', 'workspace must be a name.');
    return undefined;
  }

  /** `credential`, or the older pair `username` and `password`; reads show both forms, so an equal username may repeat. */
  credential(): RequestedCredential | undefined {
    const given = this.#get('credential');
    const username = this.text('username', 1000) ?? null;
    const password = this.text('password', 1_000_000);
    if (given === undefined) {
      return username === null && password === undefined ? undefined : { kind: 'password', username, secret: password };
    }
    if (!isJsonObject(given)) {
      this.#invalid('credential', 'credential must be an object with kind, username and secret.', {
        key: 'credential',
      });
      return undefined;
    }
    for (const key of Object.keys(given)) {
      if (!['kind', 'username', 'secret'].includes(key))
        this.#invalid(`credential.${key}`, `credential has no field "${key}".`, { key });
    }
    const kind = CREDENTIAL_KINDS.find((known) => known === given['kind']);
    if (!kind)
      this.#invalid('credential.kind', 'The kind must be one of the words listed.', { kinds: CREDENTIAL_KINDS });
    const inner = this.#inner(given, 'username') ?? null;
    if (password !== undefined || (username !== null && username !== inner)) {
      this.#invalid('credential', 'Give either credential, or username and password.', { key: 'credential' });
    }
    return kind && { kind: kind satisfies CredentialKind, username: inner, secret: this.#inner(given, 'secret') };
  }

  #inner(credential: JsonObject, key: 'username' | 'secret'): string | undefined {
    const value = credential[key] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    this.#invalid(`credential.${key}`, `credential.${key} must be text.`, { key });
    return undefined;
  }
}

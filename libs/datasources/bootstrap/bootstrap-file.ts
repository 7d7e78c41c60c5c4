import { parseDocument } from 'yaml';

import { ExactNumber, type JsonObject, type JsonValue } from '#libs/kernel';

import type { LakeDeclaration } from './declared-tables.js';

/** Why the bootstrap file stops the boot. Names the entry and the key, never a value. */
export class BootstrapRefused extends Error {
  override readonly name = 'BootstrapRefused';
}

export interface BootstrapEntry {
  name: string;
  /** The body of a create, as a client would send it. */
  body: JsonObject;
  /** Workspaces that see it; null = all active ones. */
  grants: readonly string[] | null;
  /** Environment variables its secret was read from, for the log. */
  secretVariables: readonly string[];
  /** Tables of a lake that come with it. */
  lake: LakeDeclaration | null;
}

const KEYS = [
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
  'global',
  'grants',
  'tables',
  'import_manifest',
  'namespace',
  'only_tables',
];
const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `datasources:` of a YAML text (06 §7). @throws BootstrapRefused at the first defect, in file order */
export function readBootstrapFile(text: string, environment: Environment): BootstrapEntry[] {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) throw new BootstrapRefused('The datasources file is no YAML.');
  const whole: unknown = document.toJS({ maxAliasCount: 0 });
  if (
    !isRecord(whole) ||
    Object.keys(whole).some((key) => key !== 'datasources') ||
    !Array.isArray(whole['datasources'])
  ) {
    throw new BootstrapRefused('The datasources file holds one key, datasources, with a list.');
  }
  return (whole['datasources'] as unknown[]).map((entry, index) => readEntry(entry, index, environment));
}

function readEntry(entry: unknown, index: number, environment: Environment): BootstrapEntry {
  const where = `datasources[${index}]`;
  if (!isRecord(entry)) throw new BootstrapRefused(`${where} is no mapping.`);
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new BootstrapRefused(`${where} has an unknown key: ${unknown}.`);
  const older = entry['username'] !== undefined || entry['password'] !== undefined;
  if (older === (entry['credential'] !== undefined)) {
    throw new BootstrapRefused(`${where} needs either credential, or username and password.`);
  }
  if (entry['global'] !== undefined && entry['global'] !== true)
    throw new BootstrapRefused(`${where}: global can only be true.`);
  const filled = fill(withoutBlanks(entry, environment), where, environment) as JsonObject;
  const { grants, tables, import_manifest: manifest, namespace, only_tables: only, ...body } = filled;
  if (grants !== undefined && !isListOfTexts(grants))
    throw new BootstrapRefused(`${where}: grants is a list of workspace names.`);
  // Of the entry as it is written: what a variable held is no longer seen in the filled one.
  const secret = isRecord(entry['credential']) ? entry['credential']['secret'] : entry['password'];
  return {
    name: typeof body['name'] === 'string' ? body['name'] : '',
    body: { ...body, global: true },
    grants: grants ?? null,
    lake: declaredTables({ tables, manifest, namespace, only }, body['dialect'], where),
    secretVariables: typeof secret === 'string' ? [...secret.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '') : [],
  };
}

interface TablesGiven {
  tables: JsonValue | undefined;
  manifest: JsonValue | undefined;
  namespace: JsonValue | undefined;
  only: JsonValue | undefined;
}

/** `tables`, or `import_manifest` with its qualifiers; of a lake only. @throws BootstrapRefused */
function declaredTables(
  { tables, manifest, namespace, only }: TablesGiven,
  dialect: JsonValue | undefined,
  where: string,
): LakeDeclaration | null {
  const refuse = (why: string): BootstrapRefused => new BootstrapRefused(`${where}: ${why}`);
  if ([tables, manifest, namespace, only].every((given) => given === undefined)) return null;
  if (dialect !== 'LAKE') throw refuse('tables and import_manifest belong to the dialect LAKE.');
  if (tables !== undefined) {
    if ([manifest, namespace, only].some((given) => given !== undefined))
      throw refuse('tables stands alone, without import_manifest, namespace and only_tables.');
    if (!Array.isArray(tables) || tables.length === 0) throw refuse('tables is a list of at least one table.');
    return { body: { tables }, only: null };
  }
  if (typeof manifest !== 'string' || manifest === '')
    throw refuse('namespace and only_tables qualify import_manifest, the address of a manifest.');
  const names = only ?? null;
  if (names !== null && !(isListOfTexts(names) && names.length > 0))
    throw refuse('only_tables is a list of at least one table name.');
  return { body: { manifest_url: manifest, ...(namespace === undefined ? {} : { namespace }) }, only: names };
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const ONE_PLACEHOLDER = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** An option of the dialect that is one placeholder for nothing is left out: the same file serves with and without it. */
function withoutBlanks(body: Record<string, unknown>, environment: Environment): Record<string, unknown> {
  const properties = body['properties'];
  const dialect = isRecord(properties) ? properties['dialect'] : undefined;
  if (!isRecord(dialect)) return body;
  const kept = Object.entries(dialect).filter(([, value]) => {
    const name = typeof value === 'string' ? ONE_PLACEHOLDER.exec(value)?.[1] : undefined;
    return name === undefined || environment[name] !== '';
  });
  return { ...body, properties: { ...(properties as object), dialect: Object.fromEntries(kept) } };
}

/** Replaces `${NAME}` in every text and gives numbers their exact form. */
function fill(value: unknown, path: string, environment: Environment): JsonValue {
  if (typeof value === 'string') {
    return value.replace(PLACEHOLDER, (_, name: string) => {
      const found = environment[name];
      if (found === undefined) throw new BootstrapRefused(`${path}: the environment has no ${name}.`);
      return found;
    });
  }
  if (typeof value === 'number') return new ExactNumber(String(value));
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item, index) => fill(item, `${path}[${index}]`, environment));
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fill(item, `${path}.${key}`, environment)]),
    );
  }
  throw new BootstrapRefused(`${path} holds a value that is no text, number, flag, list or mapping.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

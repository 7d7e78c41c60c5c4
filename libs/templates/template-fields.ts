import { isExactNumber, isJsonObject, type Failure, type JsonValue } from '#libs/kernel';
import { folderPathDefect, MAX_PATH_CHARS } from '#libs/lifecycle';
import { DIALECTS, quoteForMessage, type Dialect } from '#libs/typesystem';
import type { TemplateImport } from './pinned-template.js';
import { reflected } from './reflected.js';

const MAX_DISPLAY_NAME_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 10_000;
const MAX_IMPORTS = 50;
const MAX_VERSION = 2_147_483_647;
const ALIAS = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_ALIAS_CHARS = 64;

/** What an author sends: wire keys, values as `readJson` gives them or plain JavaScript ones. */
export type TemplateBody = Readonly<Record<string, unknown>>;

/** The fields of contract 05 §1 as far as they could be read. */
export interface TemplateFields {
  name?: string;
  dialect?: Dialect;
  displayName: string;
  description: string;
  imports: readonly TemplateImport[];
  isLibrary: boolean;
  /** Byte for byte as sent. */
  body: string;
}

const AUTHOR_KEYS = [
  'schema_version',
  'id',
  'engine',
  'type',
  'dialect',
  'display_name',
  'description',
  'imports',
  'is_library',
  'body',
];
/** Set by the server and ignored on input, so that what was read can be sent back. */
const SERVER_KEYS = [
  'version',
  'status',
  'entity_status',
  'body_hash',
  'current_version',
  'draft',
  'folder',
  'warnings',
  'version_stamps',
  'created_at',
  'created_by',
  'created_via',
  'updated_at',
  'updated_by',
  'updated_via',
  'released_at',
  'released_by',
  'discarded_at',
  'discarded_by',
];
const KNOWN_KEYS: ReadonlySet<string> = new Set([...AUTHOR_KEYS, ...SERVER_KEYS]);

/** Reads the fields and collects every breach of their rules; the body's own rules are `judgeSource`'s. */
export function readTemplateFields(
  body: TemplateBody,
  verb: 'create' | 'update',
): { fields: TemplateFields; failures: Failure[] } {
  const failures: Failure[] = [];
  const fail = (code: Failure['code'], path: string, message: string, details?: Record<string, unknown>): void => {
    failures.push({ code, path, message, ...(details ? { details } : {}) });
  };
  const field = (path: string, expected: string, reason = 'field'): void =>
    fail('pipeline.execution.invalid_parameter_type', path, `"${path}" must be ${expected}.`, { field: path, reason });
  const given = (key: string): unknown => (Object.hasOwn(body, key) ? (body[key] ?? undefined) : undefined);

  const schema = given('schema_version');
  if (schema !== undefined && wholeNumber(schema) !== 1) {
    fail('template.validation.schema_version_unsupported', 'schema_version', 'Set "schema_version" to 1.', {
      supported: [1],
    });
  }
  const name = readName(given('id'), verb, fail);
  if (given('engine') !== undefined && given('engine') !== 'freemarker') {
    fail('template.validation.engine_unsupported', 'engine', 'The only engine is "freemarker".', {
      allowed: ['freemarker'],
    });
  }
  if (given('type') !== undefined && given('type') !== 'sql') {
    const code = verb === 'create' ? 'type_invalid' : 'type_immutable';
    fail(`template.validation.${code}`, 'type', 'The only template type is "sql".', { allowed: ['sql'] });
  }
  const dialect = DIALECTS.find((candidate) => candidate === given('dialect'));
  if (dialect === undefined && (verb === 'create' || given('dialect') !== undefined)) {
    fail('template.validation.dialect_invalid', 'dialect', `Set "dialect" to one of ${DIALECTS.join(', ')}.`, {
      allowed: [...DIALECTS],
    });
  }
  const displayName = given('display_name');
  if (!isText(displayName, MAX_DISPLAY_NAME_CHARS) || displayName.trim() === '') {
    field('display_name', `1 to ${MAX_DISPLAY_NAME_CHARS} characters`);
  }
  const description = given('description');
  if (!isText(description, MAX_DESCRIPTION_CHARS)) {
    field('description', `0 to ${MAX_DESCRIPTION_CHARS} characters that say which parameters the body expects`);
  }
  const imports = readImportsField(given('imports'), fail, field);
  const isLibrary = given('is_library') ?? false;
  if (typeof isLibrary !== 'boolean') field('is_library', 'true or false');
  const source = given('body');
  if (typeof source !== 'string' || source === '') {
    fail('template.validation.syntax_error', 'body', 'A template needs a "body" of at least one character.');
  }
  for (const key of Object.keys(body)) {
    if (KNOWN_KEYS.has(key)) continue;
    const named = reflected(key);
    fail(
      'pipeline.execution.invalid_parameter_type',
      named,
      `There is no field “${named}” here: a template takes ${AUTHOR_KEYS.join(', ')}.`,
      { field: named, reason: 'unknown_field', allowed: AUTHOR_KEYS },
    );
  }
  return {
    failures,
    fields: {
      ...(name === undefined ? {} : { name }),
      ...(dialect === undefined ? {} : { dialect }),
      displayName: typeof displayName === 'string' ? displayName : '',
      description: typeof description === 'string' ? description : '',
      imports,
      isLibrary: isLibrary === true,
      body: typeof source === 'string' ? source : '',
    },
  };
}

type Fail = (code: Failure['code'], path: string, message: string, details?: Record<string, unknown>) => void;

function readName(id: unknown, verb: 'create' | 'update', fail: Fail): string | undefined {
  if (id === undefined && verb === 'create') return undefined;
  const defect = typeof id === 'string' ? folderPathDefect(id) : 'grammar';
  if (typeof id === 'string' && defect === undefined) return id;
  fail(
    'template.validation.id_invalid',
    'id',
    defect === 'folder_required'
      ? `Put the template into a folder, such as ${quoteForMessage(`team/${String(id)}`)}.`
      : `Name the template with 2 to 10 segments joined by "/", each [a-z0-9][a-z0-9_.-]{0,63}, ${MAX_PATH_CHARS} characters at most.`,
    { reason: defect, ...(typeof id === 'string' ? { id: reflected(id) } : {}) },
  );
  return undefined;
}

/** The engine binds aliases to names, so nothing of an import is ever text; a malformed one is refused unseen. */
function readImportsField(
  value: unknown,
  fail: Fail,
  field: (path: string, expected: string, reason?: string) => void,
): TemplateImport[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    field('imports', 'an array of {id, version, alias}');
    return [];
  }
  if (value.length > MAX_IMPORTS) {
    field('imports', `at most ${MAX_IMPORTS} entries`, 'too_many');
    return [];
  }
  const imports: TemplateImport[] = [];
  const aliases = new Set<string>();
  for (const [index, entry] of (value as unknown[]).entries()) {
    const path = `imports[${index}]`;
    const read = readImport(entry);
    if (!read) {
      fail(
        'template.validation.dangerous_construct',
        path,
        'An import is {"id": a template name, "version": 1 or more, "alias": [A-Za-z_][A-Za-z0-9_]*}.',
        { construct: 'import' },
      );
    } else if (aliases.has(read.alias)) {
      fail('template.validation.duplicate_alias', `${path}.alias`, `The alias "${read.alias}" is used twice.`, {
        alias: read.alias,
      });
    } else {
      aliases.add(read.alias);
      imports.push(read);
    }
  }
  return imports;
}

/** One import by the grammar of contract 05 §7; undefined for anything else. */
export function readImport(entry: unknown): TemplateImport | undefined {
  if (typeof entry !== 'object' || entry === null || !isJsonObject(entry as JsonValue)) return undefined;
  const { id, version, alias } = entry as Record<string, unknown>;
  const number = wholeNumber(version);
  if (typeof id !== 'string' || folderPathDefect(id) !== undefined) return undefined;
  if (typeof alias !== 'string' || alias.length > MAX_ALIAS_CHARS || !ALIAS.test(alias)) return undefined;
  return number === undefined || number < 1 ? undefined : { id, version: number, alias };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && !/\0|\p{Surrogate}/u.test(value);
}

/** A whole number in the range of a version, written without point or exponent. */
export function wholeNumber(value: unknown): number | undefined {
  const text = isExactNumber(value) ? value.value : typeof value === 'number' ? String(value) : '';
  if (!/^-?(?:0|[1-9]\d{0,9})$/.test(text)) return undefined;
  const number = Number(text);
  return Math.abs(number) <= MAX_VERSION ? number : undefined;
}

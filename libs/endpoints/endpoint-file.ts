import {
  fieldFailure,
  isExactNumber,
  isJsonObject,
  PenstockError,
  validationError,
  type Failure,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import { ancestors, parsePathPattern, type PathPattern } from './path-pattern.js';

/** A published endpoint as it travels: its pipeline and the keys of its node by name (seed §5A). */
export interface EndpointFile {
  path: string;
  /** Name of the pipeline. */
  pipeline: string;
  timeout_seconds: number;
  description: string;
  enabled: boolean;
  bindings: readonly { path_prefix: string; key_name: string }[];
}

/** A file entry that could be read, and where it stood. */
export interface ReadEndpointFile extends EndpointFile {
  at: string;
  pattern: PathPattern;
}

const MAX_DESCRIPTION_CHARS = 10_000;
const MAX_BINDINGS = 500;
const KEYS: ReadonlySet<string> = new Set([
  'path',
  'pipeline',
  'timeout_seconds',
  'description',
  'enabled',
  'bindings',
]);

/**
 * @param at where the list stands
 * @throws PenstockError with everything that is wrong in the entries
 */
export function readEndpointFiles(at: string, entries: JsonValue | undefined, maxEntries: number): ReadEndpointFile[] {
  if (!Array.isArray(entries)) throw validationError([wrong(at, 'must be a list of endpoints')]);
  if (entries.length > maxEntries) throw validationError([wrong(at, `may hold ${maxEntries} endpoints at most`)]);
  const failures: Failure[] = [];
  const paths = new Set<string>();
  const files = entries.flatMap((entry, index): ReadEndpointFile[] => {
    const file = readEntry(`${at}[${index}]`, entry, failures);
    if (file && paths.has(file.path)) failures.push(wrong(`${at}[${index}].path`, 'stands in the batch twice'));
    if (file) paths.add(file.path);
    return file ? [file] : [];
  });
  if (failures.length > 0) throw validationError(failures);
  return files;
}

function readEntry(at: string, entry: JsonValue, failures: Failure[]): ReadEndpointFile | undefined {
  if (!isJsonObject(entry)) return void failures.push(wrong(at, 'must be an object'));
  const before = failures.length;
  const refuse = (key: string, must: string): void => void failures.push(wrong(`${at}.${key.slice(0, 64)}`, must));
  for (const key of Object.keys(entry)) if (!KEYS.has(key)) refuse(key, 'is no member of an endpoint');
  const { path, pipeline, timeout_seconds: seconds, description = '', enabled = true } = entry;
  if (typeof path !== 'string') refuse('path', 'must be a text');
  if (typeof pipeline !== 'string') refuse('pipeline', 'must be the name of a pipeline');
  const timeout = isExactNumber(seconds) && /^[1-9]\d{0,5}$/.test(seconds.value) ? Number(seconds.value) : undefined;
  if (timeout === undefined) refuse('timeout_seconds', 'must be a whole number of seconds');
  if (typeof description !== 'string' || description.length > MAX_DESCRIPTION_CHARS) {
    refuse('description', `must be a text of ${MAX_DESCRIPTION_CHARS} characters at most`);
  }
  if (typeof enabled !== 'boolean') refuse('enabled', 'must be true or false');
  const bindings = readBindings(entry, refuse);
  if (failures.length > before) return undefined;
  // Its own refusal says what is wrong with a path, and where.
  const pattern = parsePathPattern(path as string);
  const stray = bindings.find(({ path_prefix: prefix }) => !ancestors(pattern.text).includes(prefix));
  if (stray) throw notAbove(stray.path_prefix, pattern);
  return {
    at,
    path: pattern.text,
    pattern,
    pipeline: pipeline as string,
    timeout_seconds: timeout as number,
    description: description as string,
    enabled: enabled as boolean,
    bindings,
  };
}

function readBindings(
  { bindings = [] }: JsonObject,
  refuse: (key: string, must: string) => void,
): EndpointFile['bindings'] {
  if (!Array.isArray(bindings) || bindings.length > MAX_BINDINGS) {
    refuse('bindings', `must be a list of ${MAX_BINDINGS} key bindings at most`);
    return [];
  }
  return bindings.flatMap((binding, index) => {
    const { path_prefix: prefix, key_name: name } = isJsonObject(binding) ? binding : {};
    if (typeof prefix === 'string' && typeof name === 'string') {
      return [{ path_prefix: prefix === '/' ? '/' : parsePathPattern(prefix).text, key_name: name }];
    }
    refuse(`bindings[${index}]`, 'must hold "path_prefix" and "key_name"');
    return [];
  });
}

/** As for a binding that is made here (contract 04 §6.3): no node but those that can decide about the endpoint. */
function notAbove(prefix: string, { text }: PathPattern): PenstockError {
  return new PenstockError('endpoint.path_invalid', {
    message: `“${prefix.slice(0, 64)}” is not at or above “${text.slice(0, 64)}”, whose keys it binds: use the path of the endpoint or a node above it.`,
    details: { reason: 'not_above', path_prefix: prefix.slice(0, 64) },
  });
}

function wrong(field: string, must: string): Failure {
  return fieldFailure(field, `"${field}" ${must}.`);
}

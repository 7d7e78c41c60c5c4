import { LineCounter, parseDocument, type Document } from 'yaml';
import { ALL_KEYS, keyDefinition, REMOVED_KEYS } from './table.js';
import { nearest } from './nearest.js';
import type { ConfigurationViolation } from './violation.js';

/** The settings of a YAML file: full key → text, sequences joined by commas. */
export interface FileSettings {
  settings: Map<string, string>;
  violations: ConfigurationViolation[];
}

/** Deeper than any key has dots. */
const MAX_DEPTH = 16;

/**
 * Reads the configuration file. Keys may be nested, dotted or both; every scalar is taken as its source text,
 * so that no number or word is interpreted twice. A key nobody reads is a violation (contract 03 §11).
 */
export function readConfigurationFile(name: string, text: string): FileSettings {
  const lines = new LineCounter();
  // The library's pretty messages quote the line at fault, and that line may hold a secret.
  const document = parseDocument(text, { schema: 'failsafe', prettyErrors: false, lineCounter: lines });
  const violations: ConfigurationViolation[] = document.errors.map((error) => ({
    key: name,
    problem: `is not valid YAML: ${error.code} in line ${lines.linePos(error.pos[0]).line}`,
  }));
  const settings = new Map<string, string>();
  if (violations.length > 0) return { settings, violations };

  const root = plainValue(document);
  if (root === UNRESOLVED) {
    return {
      settings,
      violations: [{ key: name, problem: 'uses a YAML alias; put texts that start with * in quotes' }],
    };
  }
  if (root === null || root === '') return { settings, violations };
  const complain = (key: string, problem: string) => violations.push({ key, from: name, problem });
  if (!(root instanceof Map)) complain(name, 'must be a mapping of keys');
  else flatten(root, '', 1, settings, complain);
  return { settings, violations };
}

const UNRESOLVED = Symbol('unresolved alias');

/** Maps, sequences and texts. Aliases without an anchor, or expanding without end, make the library throw. */
function plainValue(document: Document): unknown {
  try {
    return document.toJS({ mapAsMap: true });
  } catch (cause) {
    if (cause instanceof ReferenceError) return UNRESOLVED;
    throw cause;
  }
}

type Complain = (key: string, problem: string) => void;

function flatten(
  node: ReadonlyMap<unknown, unknown>,
  prefix: string,
  depth: number,
  into: Map<string, string>,
  complain: Complain,
): void {
  for (const [name, value] of node) {
    const key = `${prefix}${String(name)}`;
    if (value instanceof Map) {
      if (depth >= MAX_DEPTH) complain(key, 'is nested too deeply');
      else flatten(value, `${key}.`, depth + 1, into, complain);
    } else if (into.has(key)) {
      complain(key, 'is set twice');
    } else if (value !== null && value !== '') {
      const problem = unknownKey(key) ?? (Array.isArray(value) ? sequenceProblem(key, value) : undefined);
      if (problem) complain(key, problem);
      else into.set(key, Array.isArray(value) ? sequenceText(value) : String(value));
    }
  }
}

/** Everything the file may say: the keys, their old names, and the members of numbered keys. */
const ACCEPTED = new Map(
  ALL_KEYS.flatMap((key) => [key, ...(keyDefinition(key).aliases.keys ?? [])].map((name) => [name, key] as const)),
);

function unknownKey(key: string): string | undefined {
  if (REMOVED_KEYS[key]) return REMOVED_KEYS[key];
  const member = /^(.+)\.(\d{1,3})$/.exec(key);
  const accepted = ACCEPTED.get(key);
  if (accepted && !keyDefinition(accepted).numbered) return undefined;
  const family = member?.[1] === undefined ? undefined : ACCEPTED.get(member[1]);
  const numbered = family && keyDefinition(family).numbered;
  if (numbered) {
    const number = Number(member?.[2]);
    if (number >= numbered.min && number <= numbered.max) return undefined;
    return `must end in a number from ${numbered.min} to ${numbered.max}`;
  }
  const meant = nearest(key, ACCEPTED.keys());
  return `is not a key of this version${meant ? `; did you mean ${meant}?` : ''}`;
}

function sequenceProblem(key: string, items: unknown[]): string | undefined {
  const accepted = ACCEPTED.get(key);
  if (!accepted || !keyDefinition(accepted).many) return 'must be one value, not a sequence';
  if (keyDefinition(accepted).structured) {
    return items.every(isFlatMapping) ? undefined : 'must be a sequence of mappings with one text each';
  }
  if (items.some((item) => typeof item !== 'string' || item.includes(','))) {
    return 'must be a sequence of texts without commas';
  }
  return undefined;
}

function isFlatMapping(item: unknown): item is ReadonlyMap<string, string> {
  return item instanceof Map && [...item.values()].every((value) => typeof value === 'string');
}

function sequenceText(items: unknown[]): string {
  if (!items.some(isFlatMapping)) return items.join(',');
  return JSON.stringify(items.map((item) => (isFlatMapping(item) ? Object.fromEntries(item) : item)));
}

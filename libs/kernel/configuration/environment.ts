import { ALL_KEYS, environmentName, keyDefinition, REMOVED_KEYS } from './table.js';
import { nearest } from './nearest.js';
import type { ConfigurationViolation } from './violation.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names the path of the YAML file. */
export const CONFIG_FILE_VARIABLE = 'DATAPIPELINES_CONFIG_FILE';

/** Variables of the product's other programs, whose settings are declared elsewhere. */
const FOREIGN = /^DATAPIPELINES_(DATAPLANE_|PLAYBOOK_|SEED_PASSWORD$)/;

/** A secret's file larger than this is some other file. */
const MAX_SECRET_FILE_CHARS = 65_536;

/** Reads one variable, or the file its `…_FILE` variant names. An empty variable counts as absent. */
export class EnvironmentReader {
  readonly violations: ConfigurationViolation[] = [];
  readonly #environment: Environment;
  readonly #readFile: (path: string) => string;

  constructor(environment: Environment, readFile: (path: string) => string) {
    this.#environment = environment;
    this.#readFile = readFile;
  }

  read(name: string, secret: boolean): { text: string; from: string } | undefined {
    const direct = this.#environment[name];
    const path = secret ? this.#environment[`${name}_FILE`] : undefined;
    if (direct && path) {
      this.violations.push({ key: name, problem: `and ${name}_FILE are both set; keep one` });
      return undefined;
    }
    if (direct) return { text: direct, from: name };
    return path ? this.#secretFile(`${name}_FILE`, path) : undefined;
  }

  #secretFile(variable: string, path: string): { text: string; from: string } | undefined {
    let text: string;
    try {
      text = this.#readFile(path).replace(/\r?\n$/, '');
    } catch (cause) {
      this.violations.push({ key: variable, problem: `names a file that cannot be read (${errorCode(cause)})` });
      return undefined;
    }
    if (text === '' || text.length > MAX_SECRET_FILE_CHARS) {
      this.violations.push({ key: variable, problem: `names a file that is ${text === '' ? 'empty' : 'too large'}` });
      return undefined;
    }
    return { text, from: variable };
  }
}

/** The system's word for a failed read; messages of the runtime may quote what was read. */
export function errorCode(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unreadable';
}

/** Variables with our prefix that nothing reads: removed ones are refused, others are a warning. */
export function unreadVariables(environment: Environment): {
  violations: ConfigurationViolation[];
  warnings: string[];
} {
  const known = new Set([CONFIG_FILE_VARIABLE]);
  for (const key of ALL_KEYS) {
    const { aliases, secret, numbered } = keyDefinition(key);
    for (const name of [environmentName(key), ...(aliases.env ?? []), ...(aliases.keys ?? []).map(environmentName)]) {
      const numbers = numbered ? range(numbered.min, numbered.max).map((number) => `${name}_${number}`) : [name];
      for (const variable of numbers) {
        known.add(variable);
        if (secret) known.add(`${variable}_FILE`);
      }
    }
  }
  const removed = new Map(Object.entries(REMOVED_KEYS).map(([key, problem]) => [environmentName(key), problem]));
  const violations: ConfigurationViolation[] = [];
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('DATAPIPELINES_') || !value || known.has(name) || FOREIGN.test(name)) continue;
    const problem = removed.get(name);
    if (problem) {
      violations.push({ key: name, problem });
    } else {
      const meant = nearest(name, known);
      warnings.push(
        `${name} is not a setting of this version and is ignored${meant ? `; did you mean ${meant}?` : ''}`,
      );
    }
  }
  return { violations, warnings };
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

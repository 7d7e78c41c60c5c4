import type { ErrorCode, Failure } from '#libs/kernel';
import { groupOf } from './rule-groups.js';

/** A remark that does not refuse the document: a dropped key, a replaced engine, a table nobody stages. */
export interface DocumentWarning {
  code:
    | 'pipeline.warning.unknown_field'
    | 'pipeline.warning.tempdb_engine_substituted'
    | 'pipeline.warning.tempdb_table_unknown';
  path: string;
  message: string;
}

/** More warnings than this tell an author nothing new. */
const MAX_WARNINGS = 200;
/**
 * Failures beyond this are not kept: two megabytes of dangling dependencies would make hundreds of thousands, and seconds
 * to sort them. An answer lists 200.
 */
const MAX_FAILURES = 1000;

/** Everything found while a document is read and judged. Nothing throws: all failures come back together. */
export class Notes {
  readonly #failures: Failure[] = [];
  readonly #malformed: Failure[] = [];
  readonly #warnings: DocumentWarning[] = [];
  readonly #said = new Set<string>();

  fail(code: ErrorCode, path: string, message: string, details?: Record<string, unknown>): void {
    if (this.isFull) return;
    this.#failures.push({ code, path, message, ...(details ? { details } : {}) });
  }

  /** As `fail`, unless the very same was said already: variants of one render repeat themselves. */
  failOnce(code: ErrorCode, path: string, message: string, details: Record<string, unknown>): void {
    const said = `${code} ${path} ${String(details['variable'] ?? details['reason'] ?? '')} ${message}`;
    if (this.#said.has(said)) return;
    this.#said.add(said);
    this.fail(code, path, message, details);
  }

  /** A value of a kind that no rule has a code for. */
  wrongField(path: string, expected: string): void {
    this.fail('pipeline.execution.invalid_parameter_type', path, `"${path}" must be ${expected}.`, {
      field: path,
      reason: 'field',
    });
  }

  /** A wrong container: the body cannot be read as a document at all (contract 01 §1). */
  malformed(path: string, expected: string): void {
    this.#malformed.push({
      code: 'pipeline.execution.invalid_parameter_type',
      path,
      message: `"${path || 'body'}" must be ${expected}.`,
      details: { field: path || 'body', reason: 'field' },
    });
  }

  warn(code: DocumentWarning['code'], path: string, message: string): void {
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push({ code, path, message });
  }

  get warnings(): readonly DocumentWarning[] {
    return this.#warnings;
  }

  get malformedFailures(): readonly Failure[] {
    return this.#malformed;
  }

  /** Nothing more will be kept: a rule that would say the same of many entries may stop. */
  get isFull(): boolean {
    return this.#failures.length >= MAX_FAILURES;
  }

  /** Failures so far. */
  get count(): number {
    return this.#failures.length;
  }

  get hasFailures(): boolean {
    return this.#failures.length > 0;
  }

  /** In document order, then in the order of the rule groups, then as found (contract 01 §10). */
  sorted(parameterOrder: readonly string[]): Failure[] {
    const positions = new Map(parameterOrder.map((name, index) => [`parameters.${name}`, index]));
    return this.#failures
      .map((failure, found) => ({ failure, key: [...place(failure.path, positions), groupOf(failure.code), found] }))
      .sort((a, b) => compare(a.key, b.key))
      .map(({ failure }) => failure);
  }
}

const TOP_LEVEL = [
  '',
  'schema_version',
  'name',
  'display_name',
  'description',
  'settings',
  'parameters',
  'nodes',
  'checks',
];

/** Where a path stands in the document: its top-level key, then the entry below it. */
function place(path: string, parameters: ReadonlyMap<string, number>): [number, number] {
  const [, key = '', index] = /^([a-z_]*)(?:\[(\d+)\])?/.exec(path) ?? [];
  const rank = TOP_LEVEL.indexOf(key);
  if (key === 'parameters') {
    const name = /^parameters\.[^.]*/.exec(path)?.[0] ?? '';
    return [rank, parameters.get(name) ?? -1];
  }
  return [rank < 0 ? TOP_LEVEL.length : rank, index === undefined ? -1 : Number(index)];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const difference = left - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

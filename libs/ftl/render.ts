import { parseTimestampText, type Dialect } from '#libs/typesystem';
import { DEFAULT_RENDER_LIMITS, type RenderLimits } from './limits.js';
import type { RenderProblem } from './problems.js';
import { Budget, GuardTrip } from './runtime/budget.js';
import { contextValue, isContextValue, type ContextEntry } from './runtime/context-values.js';
import { RenderFault } from './runtime/faults.js';
import { Interpreter } from './runtime/interpreter.js';
import { linkNamespaces, type Imports } from './runtime/namespaces.js';
import type { Origin } from './runtime/output.js';
import type { Namespace, Value } from './runtime/values.js';
import { excerptAt } from './syntax/excerpt.js';
import { nameBinds, PositionRefusal, type Bind, type NamedSql } from './sql/named-sql.js';
import type { ParsedTemplate } from './template.js';

export interface RenderInput {
  dialect: Dialect;
  /** Every key the expressions and `:name` may use; a null value is a typed NULL. */
  context: ReadonlyMap<string, ContextEntry>;
  /** Alias → parsed library with its own imports (contract 05 §7). */
  libraries?: Imports;
  /** Execution start, `.now`: ISO text with `Z` or an offset. */
  now: string;
  limits?: Partial<RenderLimits>;
}

export interface RenderStats {
  steps: number;
  iterations: number;
  outputChars: number;
}

export type RenderOutcome =
  { ok: true; namedSql: string; binds: Bind[]; stats: RenderStats } | { ok: false; problem: RenderProblem };

export type TextOutcome = { ok: true; text: string; stats: RenderStats } | { ok: false; problem: RenderProblem };

/**
 * Renders SQL with every run-time value bound (contract 05 §5): `namedSql` holds `:name` where a value goes, `binds` the
 * typed values, one per name. Never throws for anything a template or a value can do.
 */
export function renderSql(template: ParsedTemplate, input: RenderInput): RenderOutcome {
  return guardedRender(template, input, 'bind', (run) => {
    const named = nameBinds(input.dialect, run.out.parts);
    const { binds, missing } = contextBinds(named, input.context);
    if (missing.length > 0) return { ok: false, problem: missingProblem(named, missing, run.main) };
    return { ok: true, namedSql: named.sql, binds, stats: statsOf(run.budget) };
  });
}

/** Preview: the SQL as text with the values printed; never to be sent (contract 05 §9). */
export function renderText(template: ParsedTemplate, input: RenderInput): TextOutcome {
  return guardedRender(template, input, 'text', (run) => ({
    ok: true,
    text: run.out.plainText(),
    stats: statsOf(run.budget),
  }));
}

type Failed = { ok: false; problem: RenderProblem };

function guardedRender<T>(
  template: ParsedTemplate,
  input: RenderInput,
  mode: 'bind' | 'text',
  finish: (run: Interpreter) => T | Failed,
): T | Failed {
  const main = linkNamespaces(template, input.libraries ?? new Map());
  const run = new Interpreter({
    mode,
    dialect: input.dialect,
    limits: { ...DEFAULT_RENDER_LIMITS, ...input.limits },
    main,
    context: contextValues(input.context),
    now: nowValue(input.now),
  });
  try {
    run.budget.checkDeadline();
    run.execute(template.root);
    return finish(run);
  } catch (error) {
    return { ok: false, problem: problemOf(error, run) };
  }
}

function contextValues(context: ReadonlyMap<string, ContextEntry>): Map<string, Value | undefined> {
  return new Map([...context].map(([key, entry]) => [key, contextValue(key, entry)]));
}

function nowValue(now: string): Value {
  const taint = {
    key: null,
    type: { type: 'TIMESTAMP' as const },
    own: null,
    origin: 'platform' as const,
    sample: false,
  };
  return { kind: 'date', form: 'datetime', micros: parseTimestampText(now) ?? 0n, taint };
}

function statsOf({ steps, iterations, outputChars }: Budget): RenderStats {
  return { steps, iterations, outputChars };
}

/** Adds the values of `:name` in the author's text, in order of first use. */
function contextBinds(
  named: NamedSql,
  context: ReadonlyMap<string, ContextEntry>,
): { binds: Bind[]; missing: string[] } {
  const binds = new Map(named.binds.map((bind) => [bind.name, bind]));
  const missing: string[] = [];
  for (const name of named.written.keys()) {
    const entry = context.get(name);
    if (!entry || !isContextValue(entry)) missing.push(name);
    else if (!binds.has(name)) binds.set(name, { name, type: entry.type, value: entry.value, origin: entry.origin });
  }
  return { binds: [...binds.values()], missing };
}

function missingProblem(named: NamedSql, missing: string[], main: Namespace): RenderProblem {
  const variable = missing[0]!;
  const place = placeOf(named.written.get(variable) ?? null, main);
  return {
    kind: 'missing_parameter',
    message: `:${variable} names nothing in the Context.`,
    ...place,
    expression: `:${variable}`,
    variable,
    missing,
    macroStack: [],
  };
}

type Place = Pick<RenderProblem, 'line' | 'column' | 'excerpt' | 'library'>;

function placeOf(origin: Origin | null, main: Namespace): Place {
  if (!origin) return { line: 1, column: 1 };
  const { template, offset } = origin;
  const library = libraryName(template, main);
  return {
    ...template.lines.position(offset),
    excerpt: excerptAt(template.source, template.lines, offset),
    ...(library === null ? {} : { library }),
  };
}

/** Alias path of a library's template, null for the body itself. */
function libraryName(template: ParsedTemplate, main: Namespace): string | null {
  if (template === main.template) return null;
  const open: [string, Namespace][] = [...main.imports];
  const seen = new Set<Namespace>();
  for (let next = open.shift(); next; next = open.shift()) {
    const [path, namespace] = next;
    if (namespace.template === template) return path;
    if (seen.has(namespace)) continue;
    seen.add(namespace);
    for (const [alias, inner] of namespace.imports) open.push([`${path}.${alias}`, inner]);
  }
  return null;
}

function problemOf(error: unknown, run: Interpreter): RenderProblem {
  if (error instanceof GuardTrip) return guardProblem(error, run);
  if (error instanceof PositionRefusal) {
    const { message, reason, origin } = error;
    return { kind: 'position', reason, message, ...placeOf(origin, run.main), macroStack: [] };
  }
  if (error instanceof RenderFault) return faultProblem(error, run.main);
  // Deeper than the counted depth allows only where the host gave the thread a smaller stack.
  if (error instanceof RangeError) return guardProblem(new GuardTrip('max-call-depth'), run);
  throw error;
}

function guardProblem({ guard, message }: GuardTrip, run: Interpreter): RenderProblem {
  const reason = guard === 'max-list-binds' ? { reason: 'list_too_long' as const } : {};
  return { kind: 'guard', guard, ...reason, message, ...placeOf(run.position, run.main), macroStack: run.macroStack };
}

function faultProblem(fault: RenderFault, main: Namespace): RenderProblem {
  const { template, start, end } = fault.place;
  return {
    kind: fault.kind,
    ...(fault.reason === undefined ? {} : { reason: fault.reason }),
    message: fault.message,
    ...placeOf({ template, offset: start }, main),
    expression: clipped(template.source.slice(start, end)),
    ...(fault.variable === undefined ? {} : { variable: fault.variable }),
    macroStack: fault.macroStack,
  };
}

function clipped(text: string): string {
  return text.slice(0, 64).replace(/[\u0000-\u001f\u007f]/g, '\uFFFD');
}

import type { Expr } from '../syntax/nodes.js';
import type { Interpretation } from './interpretation.js';
import type { Frame, LoopTurn } from './scopes.js';
import { STRING_TYPE, type Taint } from './taint.js';
import { hash, string, type HashValue, type Namespace, type Value } from './values.js';

/** Loop variables → macro locals → current namespace → globals → Context (contract 05 §4.3). */
export function lookup(run: Interpretation, name: string): Value | undefined {
  const { escape } = run.scope;
  if (escape?.param === name) return escapeArgument(run, escape.argument);
  for (let frame = run.scope.frame; frame; frame = frame.parent) {
    if (frame.vars.has(name)) return frame.vars.get(name);
    const legacy = frame.loop && legacyLoopVariable(frame, name);
    if (legacy) return legacy;
  }
  const local = run.scope.call?.locals.get(name);
  if (local !== undefined) return local;
  const own = fromNamespace(run.scope.namespace, name);
  return own ?? run.globals.get(name) ?? run.context.get(name);
}

function escapeArgument(run: Interpretation, argument: Expr): Value | undefined {
  const { scope } = run;
  run.scope = { ...scope, escape: scope.escape!.parent };
  const value = run.evaluate(argument);
  run.scope = scope;
  return value;
}

function fromNamespace(namespace: Namespace, name: string): Value | undefined {
  const own = namespace.vars.get(name);
  if (own !== undefined) return own;
  const imported = namespace.imports.get(name);
  return imported && namespaceHash(imported);
}

/** `x_index` and `x_has_next` of the loop over `x`. */
function legacyLoopVariable(frame: Frame, name: string): Value | undefined {
  const loop = frame.loop!;
  for (const [suffix, value] of [
    ['_index', () => ({ kind: 'number', number: { unscaled: BigInt(loop.index), scale: 0 }, taint: null }) as Value],
    ['_has_next', () => ({ kind: 'boolean', truth: loop.hasNext, taint: null }) as Value],
  ] as const) {
    if (name.endsWith(suffix) && frame.loop?.name === name.slice(0, -suffix.length)) return value();
  }
  return undefined;
}

/** The loop turn of the variable `name`, or null if `name` is no loop variable here. */
export function loopTurn(run: Interpretation, name: string): LoopTurn | null {
  for (let frame = run.scope.frame; frame; frame = frame.parent) if (frame.vars.has(name)) return frame.loop;
  return null;
}

const namespaceValues = new WeakMap<Value & { kind: 'hash' }, Namespace>();
const namespaceHashes = new WeakMap<Namespace, HashValue>();

export function namespaceHash(namespace: Namespace): HashValue {
  const known = namespaceHashes.get(namespace);
  if (known) return known;
  const value: HashValue = {
    kind: 'hash',
    get: (name) => fromNamespace(namespace, name),
    entries: () => [...namespace.vars].map(([name, value]) => ({ key: string(name), value })),
  };
  namespaceHashes.set(namespace, value);
  namespaceValues.set(value, namespace);
  return value;
}

/** The namespace a hash stands for, or null for an ordinary hash. */
export function namespaceOf(value: Value): Namespace | null {
  return value.kind === 'hash' ? (namespaceValues.get(value) ?? null) : null;
}

function mapHash(vars: ReadonlyMap<string, Value | undefined>): HashValue {
  return hash([...vars].map(([name, value]) => ({ key: string(name), value })));
}

/** An error message may name what a value named: it is bound like a value. */
const ERROR_TAINT: Taint = { key: null, type: STRING_TYPE, own: null, origin: 'platform', sample: false };

export function specialVariable(run: Interpretation, expr: Extract<Expr, { kind: 'special' }>): Value | undefined {
  switch (expr.name) {
    case 'now':
      return run.now;
    case 'main':
      return namespaceHash(run.main);
    case 'namespace':
      return namespaceHash(run.scope.namespace);
    case 'globals':
      return globalHash(run);
    case 'data_model':
      return mapHash(run.context);
    case 'locals':
      return run.scope.call ? mapHash(run.scope.call.locals) : undefined;
    case 'vars':
      return { kind: 'hash', get: (name) => lookup(run, name), entries: () => null };
    case 'error':
      return run.errorMessage === null ? undefined : string(run.errorMessage, ERROR_TAINT);
    case 'locale':
      return string('en_US');
    case 'lang':
      return string('en');
    case 'time_zone':
      return string('UTC');
    case 'version':
      return string('2.3.34');
    case 'template_name':
      return string('template');
    default:
      throw run.fault(expr, `.${expr.name} is not available.`);
  }
}

function globalHash(run: Interpretation): HashValue {
  return {
    kind: 'hash',
    get: (name) => run.globals.get(name) ?? run.context.get(name),
    entries: () => mapHash(new Map([...run.context, ...run.globals])).entries(),
  };
}

import type { CallNode, Expr, MacroNode, Span } from '../syntax/nodes.js';
import { RenderFault } from './faults.js';
import type { BoundArguments, Interpretation } from './interpretation.js';
import type { MacroCall, NestedContent } from './scopes.js';
import type { Signal } from './signal.js';
import { describe, hash, sequence, string, type MacroValue, type Value } from './values.js';

/** `<@m …>`: a macro, or a directive of the host. */
export function callDirective(run: Interpretation, node: CallNode): Signal {
  const callee = run.need(node.callee);
  if (callee.kind === 'directive') {
    const args = new Map(node.named.map(({ name, value }) => [name, run.evaluate(value)]));
    const { body } = node;
    let signal: Signal = 'done';
    callee.run(args, body && (() => void (signal = run.execute(body))));
    return signal;
  }
  if (callee.kind !== 'macro') throw run.fault(node.callee, `Expected a macro, found ${describe(callee)}.`);
  if (callee.node.isFunction) throw run.fault(node.callee, 'A function is called in an expression, not with <@…>.');
  const named = new Map(node.named.map(({ name, value }) => [name, run.evaluate(value)]));
  const positional = (node.positional ?? []).map((value) => run.evaluate(value));
  const { signal } = run.invoke(callee, { positional, named, nested: nestedOf(run, node) }, node.callee);
  return signal === 'return' ? 'done' : signal;
}

/** The content between the tags, which runs where it was written. */
function nestedOf(run: Interpretation, node: CallNode): NestedContent | null {
  const { body, loopVars } = node;
  if (!body) return null;
  const { scope } = run;
  return {
    run(args) {
      const inner = run.scope;
      const vars = new Map(loopVars.map((name, i) => [name, args[i]]));
      run.scope = loopVars.length > 0 ? { ...scope, frame: { vars, loop: null, parent: scope.frame } } : scope;
      const signal = run.execute(body);
      run.scope = inner;
      return signal;
    },
  };
}

/** `<#return>` in the content ends the macro that shows it. */
export function nestedContent(run: Interpretation, args: readonly Expr[]): Signal {
  const nested = run.scope.call?.nested;
  if (!nested) return 'done';
  const values = args.map((arg) => run.evaluate(arg));
  run.budget.call();
  const signal = nested.run(values);
  run.budget.callDepth--;
  return signal;
}

/** Runs a macro or function in its own namespace with its own locals. */
export function invokeMacro(run: Interpretation, macro: MacroValue, given: BoundArguments, span: Span): MacroCall {
  const { node, namespace, preset } = macro;
  const args = preset ? withPreset(given, preset) : given;
  const call: MacroCall = { node, locals: new Map(), nested: args.nested, returned: undefined, signal: 'done' };
  run.budget.call();
  const missing = bindArguments(run, call, args, span);
  const { scope, macroStack } = run;
  run.scope = { namespace, frame: null, call, escape: null, items: null };
  run.macroStack = [node.name, ...macroStack.slice(0, MAX_STACK_SHOWN)];
  fillDefaults(run, call, missing);
  call.signal = run.execute(node.body);
  run.scope = scope;
  run.macroStack = macroStack;
  run.budget.callDepth--;
  return call;
}

/** Calls listed in an error; deeper ones are cut. */
const MAX_STACK_SHOWN = 19;

function withPreset(given: BoundArguments, preset: NonNullable<MacroValue['preset']>): BoundArguments {
  const { positional, named } = preset;
  const joined = preset.last ? [...given.positional, ...positional] : [...positional, ...given.positional];
  const first = preset.last ? [...given.named].filter(([, value]) => value !== undefined) : [];
  return { positional: joined, named: new Map([...first, ...named, ...given.named]), nested: given.nested };
}

/** Puts the arguments into the locals; answers the parameters still without a value. */
function bindArguments(run: Interpretation, call: MacroCall, args: BoundArguments, span: Span): MacroNode['params'] {
  const { node, locals } = call;
  const extra = args.positional.slice(node.params.length);
  if (extra.length > 0 && node.catchAll === null) {
    throw run.fault(span, `${node.name} takes ${node.params.length} arguments, got ${args.positional.length}.`);
  }
  node.params.forEach(({ name }, i) => setLocal(locals, name, args.positional[i] ?? args.named.get(name)));
  const unknown = [...args.named].filter(([name]) => !node.params.some((param) => param.name === name));
  if (unknown.length > 0 && node.catchAll === null) {
    throw run.fault(
      span,
      `${node.isFunction ? 'Function' : 'Macro'} ${node.name} has no parameter ${unknown[0]![0].slice(0, 64)}.`,
    );
  }
  if (node.catchAll !== null) {
    const rest =
      args.named.size > 0 && extra.length === 0
        ? hash(unknown.map(([name, value]) => ({ key: string(name), value })))
        : sequence(extra);
    locals.set(node.catchAll, rest);
  }
  return node.params.filter(({ name }) => !locals.has(name));
}

function setLocal(locals: Map<string, Value>, name: string, value: Value | undefined): void {
  if (value !== undefined) locals.set(name, value);
}

/** Defaults may refer to other parameters, in any order: they are tried again while one more gets a value. */
function fillDefaults(run: Interpretation, call: MacroCall, missing: MacroNode['params']): void {
  let open = missing;
  while (open.length > 0) {
    let firstFault: RenderFault | null = null;
    const before = open.length;
    open = open.filter(({ name, fallback }) => {
      if (!fallback) throw run.fault(call.node, `${call.node.name} needs a value for the parameter ${name}.`);
      const { depth, callDepth } = run.budget;
      const { scope, macroStack } = run;
      try {
        call.locals.set(name, run.need(fallback));
        return false;
      } catch (fault) {
        if (!(fault instanceof RenderFault) || fault.kind !== 'undefined_variable') throw fault;
        Object.assign(run.budget, { depth, callDepth });
        Object.assign(run, { scope, macroStack });
        firstFault ??= fault;
        return true;
      }
    });
    if (open.length === before && firstFault) throw firstFault as RenderFault;
  }
}

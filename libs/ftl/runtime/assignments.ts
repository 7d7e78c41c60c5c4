import { ONE } from '../decimal.js';
import type { AssignScope, AssignTarget, Expr, Node, Span } from '../syntax/nodes.js';
import type { Interpretation } from './interpretation.js';
import { arithmetic, plus, type ArithmeticOperator } from './operators.js';
import { describe, number, string, type Value } from './values.js';
import { namespaceOf } from './variables.js';

export function assign(run: Interpretation, node: Extract<Node, { kind: 'assign' }>): void {
  const vars = variablesOf(run, node.scope, node.namespace);
  for (const target of node.targets) vars.set(target.name, assigned(run, target, vars));
}

/** Block form: the output of the body, a plain string unless it holds binds. */
export function capture(run: Interpretation, node: Extract<Node, { kind: 'capture' }>): void {
  const vars = variablesOf(run, node.scope, node.namespace);
  const output = run.captured(() => run.execute(node.body));
  if (output.hasBinds) {
    vars.set(node.name, { kind: 'fragment', parts: output.parts });
    return;
  }
  const text = output.plainText();
  run.budget.string(text.length);
  vars.set(node.name, string(text, null, output.numeric));
}

function variablesOf(run: Interpretation, scope: AssignScope, namespace: Expr | null): Map<string, Value> {
  if (scope === 'global') return run.globals;
  if (scope === 'local') return run.scope.call!.locals;
  if (namespace === null) return run.scope.namespace.vars;
  const value = run.need(namespace);
  const target = namespaceOf(value);
  if (!target) throw run.fault(namespace, `Expected a namespace, found ${describe(value)}.`);
  return target.vars;
}

function assigned(run: Interpretation, target: AssignTarget, vars: ReadonlyMap<string, Value>): Value {
  const { op } = target;
  if (op === '=') return run.need(target.value!);
  const current = vars.get(target.name);
  if (current === undefined) {
    throw run.fault(
      target,
      `The assignment target ${target.name.slice(0, 64)} is missing, so ${op} cannot change it.`,
      {
        kind: 'undefined_variable',
        variable: target.name,
      },
    );
  }
  if (op === '++' || op === '--') {
    return arithmetic(run, op === '++' ? '+' : '-', needNumber(run, current, target, target), number(ONE), target);
  }
  const change = run.need(target.value!);
  if (op === '+=') return plus(run, current, change, target);
  const left = needNumber(run, current, target, target);
  return arithmetic(run, op[0] as ArithmeticOperator, left, change, target.value!);
}

function needNumber(run: Interpretation, value: Value, target: AssignTarget, span: Span): Value {
  if (value.kind === 'number') return value;
  throw run.fault(
    span,
    `Expected a number as assignment target ${target.name.slice(0, 64)}, found ${describe(value)}.`,
  );
}

import type { Branch, InterpolationNode, Node, SwitchCase } from '../syntax/nodes.js';
import { assign, capture } from './assignments.js';
import { callDirective, nestedContent } from './calls.js';
import { fragmentFault, needBoolean, needText } from './coerce.js';
import { compress } from './compress.js';
import { RenderFault } from './faults.js';
import type { Interpretation } from './interpretation.js';
import type { Signal } from './signal.js';
import { interpolated } from './literal.js';
import { listDirective, itemsDirective, separator } from './loops.js';
import { comparison } from './operators.js';
import { writeValue } from './printing.js';
import { authorText } from './standing-off.js';
import { applySetting } from './apply-setting.js';
import { string, type Value } from './values.js';

/** Runs one node of the tree. */
export function executeNode(run: Interpretation, node: Node): Signal {
  switch (node.kind) {
    case 'text':
      run.budget.wrote(node.text.length);
      run.out.text(node.text, run.origin(node));
      return 'done';
    case 'interpolation':
      print(run, node);
      return 'done';
    case 'if':
      return branch(run, node.branches);
    case 'list':
      return listDirective(run, node);
    case 'items':
      return itemsDirective(run, node);
    case 'sep':
      return separator(run, node.body);
    case 'switch':
      return switchDirective(run, run.need(node.subject), node.cases);
    case 'assign':
      assign(run, node);
      return 'done';
    case 'capture':
      capture(run, node);
      return 'done';
    case 'macro':
      run.scope.namespace.vars.set(node.name, { kind: 'macro', node, namespace: run.scope.namespace });
      return 'done';
    case 'call':
      return callDirective(run, node);
    case 'nested':
      return nestedContent(run, node.args);
    case 'return':
      if (node.value) run.scope.call!.returned = run.need(node.value);
      return 'return';
    case 'attempt':
      return attempt(run, node);
    case 'compress':
      return compressed(run, node);
    case 'group':
      return run.execute(node.body);
    case 'break':
    case 'continue':
      return node.kind;
    case 'stop': {
      const text = node.message ? needText(run, node.message) : authorText('Stopped by the template.');
      const message = text.taint === null ? text.text : 'Stopped by the template.';
      throw run.fault(node, message, { reason: 'stopped' });
    }
    case 'setting':
      applySetting(run, node.name, node.value);
      return 'done';
    case 'comment':
    case 'trim':
    case 'flush':
      return 'done';
    case 'refused':
      throw run.fault(node, `${node.construct} cannot run.`);
  }
}

function print(run: Interpretation, node: InterpolationNode): void {
  const value = run.need(node.expr);
  if (node.numeric === null) return writeValue(run, run.out, value, node.expr);
  if (value.kind === 'fragment') throw fragmentFault(run, node.expr);
  const { text, taint } = interpolated(run, node, value);
  writeValue(run, run.out, string(text, taint && { ...taint, key: null }, true), node.expr);
}

function branch(run: Interpretation, branches: readonly Branch[]): Signal {
  const taken = branches.find(({ test }) => test === null || needBoolean(run, test).truth);
  return taken ? run.execute(taken.body) : 'done';
}

/** A `case` falls through to the next one, an `on` does not; a default taken for want of a match stands alone. */
function switchDirective(run: Interpretation, subject: Value, cases: readonly SwitchCase[]): Signal {
  const from = cases.findIndex(
    (one) => one.kind !== 'default' && one.tests.some((test) => matches(run, subject, run.need(test), test)),
  );
  const usesOn = cases.some(({ kind }) => kind === 'on');
  const fallback = cases.find(({ kind }) => kind === 'default');
  if (from < 0) return fallback ? endOfCase(run.execute(fallback.body), !usesOn) : 'done';
  for (let i = from; i < cases.length; i++) {
    const signal = run.execute(cases[i]!.body);
    if (signal !== 'done' || usesOn) return endOfCase(signal, !usesOn);
  }
  return 'done';
}

/** Under `case`, the reference engine takes a `<#continue>` for the end of the switch as well. */
function endOfCase(signal: Signal, legacy: boolean): Signal {
  return signal === 'break' || (legacy && signal === 'continue') ? 'done' : signal;
}

function matches(run: Interpretation, subject: Value, test: Value, span: SwitchCase['tests'][number]): boolean {
  const equal = comparison(run, '==', subject, test, span);
  return equal.kind === 'boolean' && equal.truth;
}

/** The block's output is dropped as a whole when it fails; guards and SQL refusals pass through. */
function attempt(run: Interpretation, node: Extract<Node, { kind: 'attempt' }>): Signal {
  const { scope, out, macroStack, errorMessage } = run;
  const { depth, callDepth } = run.budget;
  let signal: Signal = 'done';
  try {
    const output = run.captured(() => (signal = run.execute(node.body)));
    out.append(output.parts);
    return signal;
  } catch (fault) {
    if (!(fault instanceof RenderFault) || !fault.catchable) throw fault;
    Object.assign(run, { scope, out, macroStack });
    Object.assign(run.budget, { depth, callDepth });
    run.errorMessage = fault.message;
  }
  signal = run.execute(node.recover);
  run.errorMessage = errorMessage;
  return signal;
}

function compressed(run: Interpretation, node: Extract<Node, { kind: 'compress' }>): Signal {
  let signal: Signal = 'done';
  const output = run.captured(() => (signal = run.execute(node.body)));
  run.out.append(compress(output.parts));
  return signal;
}

import { needBoolean } from '../runtime/coerce.js';
import { comparison } from '../runtime/operators.js';
import type { MacroValue, Value } from '../runtime/values.js';
import { describe } from '../runtime/values.js';
import type { BuiltinCall, BuiltinFamily } from './builtin-call.js';

/** Evaluates only the branch that is taken; its taint is the branch's own. */
function then(call: BuiltinCall): Value | undefined {
  call.arity(2);
  return call.run.need(call.argument(needBoolean(call.run, call.expr.target).truth ? 0 : 1));
}

function switchOn(call: BuiltinCall): Value | undefined {
  call.arity(2, Infinity);
  const subject = call.target();
  const pairs = Math.floor(call.count / 2);
  for (let i = 0; i < pairs; i++) {
    const test = call.argument(2 * i);
    const equal = comparison(call.run, '==', subject, call.run.need(test), test);
    if (equal.kind === 'boolean' && equal.truth) return call.run.need(call.argument(2 * i + 1));
  }
  if (call.count % 2 === 1) return call.run.need(call.argument(call.count - 1));
  throw call.fault("the value didn't match any of the cases, and there is no default.");
}

function withArgs(call: BuiltinCall): Value {
  call.arity(1);
  const macro = call.target();
  if (macro.kind !== 'macro') throw call.fault(`expected a macro or function, found ${describe(macro)}.`);
  const args = call.value(0);
  const last = call.name === 'with_args_last';
  const preset: MacroValue['preset'] = { positional: [], named: new Map(), last };
  if (args.kind === 'sequence') preset.positional = call.materialise(args);
  else if (args.kind === 'hash') {
    if (macro.node.isFunction) throw call.fault('a function takes its arguments by position: give a sequence.');
    for (const { key, value } of args.entries() ?? []) {
      if (key.taint) throw call.fault('a run-time value cannot name a parameter.');
      if (value) preset.named.set(key.text, value);
    }
  } else throw call.fault(`expected a sequence or hash, found ${describe(args)}.`);
  return { ...macro, preset };
}

export const choices: BuiltinFamily = { then, switch: switchOn, with_args: withArgs, with_args_last: withArgs };

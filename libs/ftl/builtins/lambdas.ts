import { sequence, type Value } from '../runtime/values.js';
import { describe } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

/** The argument as a function of one item: a lambda, a template function, or a method. */
function functionOf(call: BuiltinCall): (item: Value | undefined) => Value | undefined {
  call.arity(1);
  const { run } = call;
  const arg = call.argument(0);
  if (arg.kind === 'lambda') {
    return (item) => {
      const { scope } = run;
      const frame = { vars: new Map([[arg.param, item]]), loop: null, parent: scope.frame };
      // The parameter hides an escape parameter of the same name.
      run.scope = { ...scope, frame, escape: scope.escape?.param === arg.param ? null : scope.escape };
      const value = run.evaluate(arg.body);
      run.scope = scope;
      return value;
    };
  }
  const callee = run.need(arg);
  if (callee.kind === 'method') return (item) => callee.call([item]);
  if (callee.kind !== 'macro' || !callee.node.isFunction) {
    throw run.fault(arg, `?${call.name} expected a function or lambda, found ${describe(callee)}.`);
  }
  return (item) => {
    let returned: Value | undefined;
    run.captured(() => {
      returned = run.invoke(callee, { positional: [item], named: new Map(), nested: null }, arg).returned;
    });
    return returned;
  };
}

function test(call: BuiltinCall): (item: Value | undefined) => boolean {
  const ask = functionOf(call);
  return (item) => {
    call.run.budget.iterate();
    const answer = ask(item);
    if (answer?.kind !== 'boolean') throw call.fault(`the function must answer a boolean, not ${describe(answer)}.`);
    return answer.truth;
  };
}

const tested = (
  pick: (items: (Value | undefined)[], keep: (item: Value | undefined) => boolean) => (Value | undefined)[],
): Builtin => {
  return (call) => sequence(pick(call.items(), test(call)));
};

function firstNot(items: (Value | undefined)[], keep: (item: Value | undefined) => boolean): number {
  const at = items.findIndex((item) => !keep(item));
  return at < 0 ? items.length : at;
}

/** Asks for no item behind the first that fails: the source may have no end. */
function takeWhile(call: BuiltinCall): Value {
  const keep = test(call);
  const source = call.sequence();
  const taken: (Value | undefined)[] = [];
  for (let i = 0; i < source.size; i++) {
    const item = source.at(i);
    if (!keep(item)) break;
    taken.push(item);
    call.run.budget.collection(taken.length);
  }
  return sequence(taken);
}

function map(call: BuiltinCall): Value {
  const change = functionOf(call);
  const items = call.items().map((item) => {
    call.run.budget.iterate();
    const value = change(item);
    if (value === undefined) throw call.fault('the function returned nothing.');
    return value;
  });
  return sequence(items);
}

export const lambdas: BuiltinFamily = {
  filter: tested((items, keep) => items.filter(keep)),
  take_while: takeWhile,
  drop_while: tested((items, keep) => items.slice(firstNot(items, keep))),
  map,
};

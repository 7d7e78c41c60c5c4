import type { LoopTurn } from '../runtime/scopes.js';
import { loopTurn } from '../runtime/variables.js';
import { boolean, integer, string, type Value } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

function turnOf(call: BuiltinCall): LoopTurn {
  const { target } = call.expr;
  const turn = target.kind === 'variable' ? loopTurn(call.run, target.name) : null;
  if (!turn) throw call.fault('stands only behind the name of a loop variable.');
  return turn;
}

const about = (answer: (turn: LoopTurn) => Value): Builtin => {
  return (call) => {
    call.arity(0);
    return answer(turnOf(call));
  };
};

function itemCycle(call: BuiltinCall): Value {
  call.arity(1, Infinity);
  return call.value(turnOf(call).index % call.count);
}

export const loopVariables: BuiltinFamily = {
  index: about(({ index }) => integer(index)),
  counter: about(({ index }) => integer(index + 1)),
  has_next: about(({ hasNext }) => boolean(hasNext)),
  is_first: about(({ index }) => boolean(index === 0)),
  is_last: about(({ hasNext }) => boolean(!hasNext)),
  is_odd_item: about(({ index }) => boolean(index % 2 === 0)),
  is_even_item: about(({ index }) => boolean(index % 2 === 1)),
  item_parity: about(({ index }) => string(index % 2 === 0 ? 'odd' : 'even')),
  item_parity_cap: about(({ index }) => string(index % 2 === 0 ? 'Odd' : 'Even')),
  item_cycle: itemCycle,
};

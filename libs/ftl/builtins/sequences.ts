import { comparison } from '../runtime/operators.js';
import { fragmentFault, toText } from '../runtime/coerce.js';
import { Output } from '../runtime/output.js';
import { writeValue } from '../runtime/printing.js';
import { boolean, describe, integer, sequence, string, type StringValue, type Value } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

function join(call: BuiltinCall): Value {
  call.arity(1, 3);
  const items = call.items();
  const between = call.textArgument(0);
  const empty = call.count > 1 ? call.textArgument(1) : null;
  const after = call.count > 2 ? call.textArgument(2) : null;
  const present = items.flatMap((item, index) => (item === undefined ? [] : [{ item, index }]));
  if (present.length === 0) return empty ? call.string(empty.text, empty) : string('');
  if (present.some(({ item }) => item.kind === 'fragment')) return joinFragments(call, present, between, after);
  const pieces = present.flatMap(({ item, index }, i) => {
    if (item.kind === 'sequence' || item.kind === 'hash' || item.kind === 'macro') {
      throw call.fault(`the item at index ${index} is ${describe(item)}, not text.`);
    }
    const text = toText(call.run, item, call.expr);
    return i === 0 ? [text] : [between, text];
  });
  return call.glued(after ? [...pieces, after] : pieces, between);
}

function joinFragments(
  call: BuiltinCall,
  present: readonly { item: Value }[],
  between: StringValue,
  after: StringValue | null,
): Value {
  const joined = new Output();
  present.forEach(({ item }, i) => {
    if (i > 0) writeValue(call.run, joined, between, call.expr);
    writeValue(call.run, joined, item, call.expr);
  });
  if (after) writeValue(call.run, joined, after, call.expr);
  return { kind: 'fragment', parts: joined.parts };
}

function first(call: BuiltinCall): Value | undefined {
  return call.sequence().at(0);
}

function last(call: BuiltinCall): Value | undefined {
  const items = call.sequence();
  if (!Number.isFinite(items.size)) throw call.fault('the range has no end.');
  return items.at(items.size - 1);
}

function chunk(call: BuiltinCall): Value {
  call.arity(1, 2);
  const items = call.items();
  const size = call.indexArgument(0);
  if (size < 1) throw call.fault('needs a size of at least 1.');
  const filling = call.count > 1 ? call.value(1) : undefined;
  const rows: Value[] = [];
  for (let i = 0; i < items.length; i += size) {
    const row = items.slice(i, i + size);
    if (filling !== undefined) {
      call.run.budget.collection(size);
      call.run.budget.spend(size - row.length);
      while (row.length < size) row.push(filling);
    }
    rows.push(sequence(row));
  }
  return sequence(rows);
}

/** `comparable` decides alone: items of another kind are simply not equal, dates of another form are an error. */
function equalItems(call: BuiltinCall, item: Value | undefined, wanted: Value): boolean {
  if (item === undefined || item.kind !== wanted.kind) return false;
  if (item.kind === 'fragment') throw fragmentFault(call.run, call.expr);
  if (!['string', 'number', 'boolean', 'date'].includes(item.kind)) return false;
  if (item.kind === 'date' && wanted.kind === 'date' && item.form !== wanted.form) {
    throw call.fault('dates of different types cannot be compared.');
  }
  const equal = comparison(call.run, '==', item, wanted, call.expr);
  return equal.kind === 'boolean' && equal.truth;
}

function contains(call: BuiltinCall): Value {
  call.arity(1);
  const items = call.items();
  const wanted = call.run.evaluate(call.argument(0));
  return boolean(wanted !== undefined && items.some((item) => equalItems(call, item, wanted)));
}

function indexOf(direction: 1 | -1): Builtin {
  return (call) => {
    call.arity(1, 2);
    const items = call.items();
    const wanted = call.run.evaluate(call.argument(0));
    if (wanted === undefined) return integer(-1);
    const start = call.count > 1 ? call.indexArgument(1) : direction === 1 ? 0 : items.length - 1;
    let at = direction === 1 ? Math.max(0, start) : Math.min(items.length - 1, start);
    for (; at >= 0 && at < items.length; at += direction) if (equalItems(call, items[at], wanted)) return integer(at);
    return integer(-1);
  };
}

function extreme(op: '<' | '>'): Builtin {
  return (call) => {
    let best: Value | undefined;
    for (const item of call.items()) {
      if (item === undefined) continue;
      if (item.kind !== 'number' && item.kind !== 'date') throw call.fault(`found ${describe(item)} among the items.`);
      if (best === undefined) best = item;
      else {
        const wins = comparison(call.run, op, item, best, call.expr);
        if (wins.kind === 'boolean' && wins.truth) best = item;
      }
    }
    return best;
  };
}

export const sequences: BuiltinFamily = {
  join,
  first,
  last,
  chunk,
  seq_contains: contains,
  seq_index_of: indexOf(1),
  seq_last_index_of: indexOf(-1),
  min: extreme('<'),
  max: extreme('>'),
  reverse: (call) => sequence(call.items().toReversed()),
  sequence: (call) => {
    const items = call.sequence();
    return items.indexable ? items : sequence(call.materialise(items));
  },
};

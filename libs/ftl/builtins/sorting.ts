import { compareOrdered } from '../runtime/operators.js';
import { describe, sequence, type Value } from '../runtime/values.js';
import type { BuiltinCall, BuiltinFamily } from './builtin-call.js';

/** Texts sort case-insensitively first, then small before capital (contract 05 §4.6). */
const collator = new Intl.Collator('en-US', { sensitivity: 'variant', caseFirst: 'lower' });

function sorted(call: BuiltinCall, keyOf: (item: Value) => Value): Value {
  const items = call.items();
  const keyed = items.map((item, index) => {
    if (item === undefined) throw call.fault(`the item at index ${index} is missing.`);
    return { item, key: keyOf(item) };
  });
  const kind = keyed[0]?.key.kind;
  const wrong = keyed.find(
    ({ key }) => key.kind !== kind || !['string', 'number', 'boolean', 'date'].includes(key.kind),
  );
  if (wrong) throw call.fault(`cannot sort ${describe(keyed[0]!.key)} and ${describe(wrong.key)} together.`);
  keyed.sort((a, b) => compareKeys(call, a.key, b.key));
  return sequence(keyed.map(({ item }) => item));
}

function compareKeys(call: BuiltinCall, a: Value, b: Value): number {
  if (a.kind === 'string' && b.kind === 'string') return collator.compare(a.text, b.text);
  if (a.kind === 'boolean' && b.kind === 'boolean') return Number(a.truth) - Number(b.truth);
  const order = compareOrdered(a, b);
  if (order === null) throw call.fault(`cannot compare ${describe(a)} with ${describe(b)}.`);
  return order;
}

function sortBy(call: BuiltinCall): Value {
  call.arity(1);
  const path = call.value(0);
  const names =
    path.kind === 'string'
      ? [path.text]
      : path.kind === 'sequence'
        ? call.materialise(path).map((name) => (name?.kind === 'string' ? name.text : ''))
        : [];
  if (names.length === 0) throw call.fault('expects a name or a sequence of names.');
  return sorted(call, (item) =>
    names.reduce<Value>((value, name) => {
      const next = value.kind === 'hash' ? value.get(name) : undefined;
      if (next === undefined) throw call.fault('an item has no member of that name.');
      return next;
    }, item),
  );
}

export const sorting: BuiltinFamily = { sort: (call) => sorted(call, (item) => item), sort_by: sortBy };

import { fragmentFault } from '../runtime/coerce.js';
import { derived, STRING_TYPE } from '../runtime/taint.js';
import { describe, integer, isNothing, sequence, string, type HashEntry, type Value } from '../runtime/values.js';
import type { BuiltinCall, BuiltinFamily } from './builtin-call.js';

function entriesOf(call: BuiltinCall): HashEntry[] {
  const value = call.target();
  if (isNothing(value)) return [];
  if (value.kind === 'fragment') throw fragmentFault(call.run, call.expr.target);
  const entries = value.kind === 'hash' ? value.entries() : null;
  if (!entries)
    throw call.run.fault(
      call.expr.target,
      `?${call.name} expected a hash with listable names, found ${describe(value)}.`,
    );
  call.run.budget.collection(entries.length);
  call.run.budget.spend(entries.length);
  return entries;
}

function size(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind !== 'sequence') return integer(entriesOf(call).length);
  if (!Number.isFinite(value.size)) throw call.fault('the range has no end.');
  if (!value.indexable) throw call.fault('the size of this collection is unknown.');
  return integer(value.size);
}

export const hashes: BuiltinFamily = {
  keys: (call) =>
    sequence(entriesOf(call).map(({ key }) => string(key.text, derived(STRING_TYPE, key.taint), key.numeric))),
  values: (call) => sequence(entriesOf(call).map(({ value }) => value)),
  size,
};

import { fragmentFault } from '../runtime/coerce.js';
import { boolean, isNothing, type Value } from '../runtime/values.js';
import type { Builtin, BuiltinFamily } from './builtin-call.js';

function test(check: (value: Value) => boolean): Builtin {
  return (call) => {
    const value = call.target();
    if (value.kind === 'fragment') throw fragmentFault(call.run, call.expr.target);
    return boolean(check(value));
  };
}

const isKind = (...kinds: Value['kind'][]): Builtin => test((value) => kinds.includes(value.kind));
const isSequence = (value: Value): boolean => (value.kind === 'sequence' && value.indexable) || isNothing(value);

export const types: BuiltinFamily = {
  is_string: isKind('string'),
  is_number: isKind('number'),
  is_boolean: test((value) => value.kind === 'boolean' || (value.kind === 'sequence' && value.whole !== undefined)),
  is_sequence: test(isSequence),
  is_indexable: test(isSequence),
  is_collection: test((value) => value.kind === 'sequence' && (!value.indexable || value.whole !== undefined)),
  is_collection_ex: test((value) => value.kind === 'sequence' && !value.indexable && Number.isFinite(value.size)),
  is_enumerable: test((value) => value.kind === 'sequence' || isNothing(value)),
  is_hash: test((value) => value.kind === 'hash' || isNothing(value)),
  is_hash_ex: test((value) => (value.kind === 'hash' && value.entries() !== null) || isNothing(value)),
  is_macro: isKind('macro'),
  is_directive: isKind('directive', 'macro'),
  is_method: test((value) => value.kind === 'method'),
  is_date: isKind('date'),
  is_date_only: test((value) => value.kind === 'date' && value.form === 'date'),
  is_time: test((value) => value.kind === 'date' && value.form === 'time'),
  is_datetime: test((value) => value.kind === 'date' && value.form === 'datetime'),
};

import { boolean, NOTHING, type Value } from '../runtime/values.js';
import type { BuiltinCall, BuiltinFamily } from './builtin-call.js';

export function hasContent(value: Value | undefined): boolean {
  if (value === undefined) return false;
  switch (value.kind) {
    case 'string':
      return value.text !== '';
    case 'sequence':
      return value.size > 0;
    case 'hash':
      return value.entries()?.length !== 0;
    case 'fragment':
      return value.parts.length > 0;
    default:
      return true;
  }
}

function firstPresent(call: BuiltinCall): Value | undefined {
  call.arity(1, Infinity);
  const value = call.maybeTarget();
  if (value !== undefined) return value;
  for (let i = 0; i < call.count - 1; i++) {
    const fallback = call.run.evaluate(call.argument(i));
    if (fallback !== undefined) return fallback;
  }
  return call.run.evaluate(call.argument(call.count - 1));
}

export const existence: BuiltinFamily = {
  exists: (call) => boolean(call.maybeTarget() !== undefined),
  if_exists: (call) => call.maybeTarget() ?? NOTHING,
  has_content: (call) => boolean(hasContent(call.maybeTarget())),
  default: firstPresent,
};

import type { JsonValue } from '#libs/kernel';

const REFERENCE = /^\$\{([a-z_][a-z0-9_]{0,62})\}$/;

/** What a value supplied to a child is: itself, a key of the parent's Context, or neither. */
export type SuppliedValue = { kind: 'literal' } | { kind: 'reference'; name: string } | { kind: 'expression' };

/** Reads one value of a PIPELINE node's `parameters` (contract 01 §8): a literal or exactly `${name}`. */
export function contextReference(value: JsonValue): SuppliedValue {
  if (typeof value !== 'string' || !value.includes('${')) return { kind: 'literal' };
  const name = REFERENCE.exec(value)?.[1];
  return name === undefined ? { kind: 'expression' } : { kind: 'reference', name };
}

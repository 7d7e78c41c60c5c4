import type { CanonicalValue, ColumnType } from '#libs/typesystem';

/** Tier a Context value comes from (contract 01 §3.3). */
export type ContextOrigin = 'parameter' | 'calculator' | 'org' | 'platform';

/**
 * Marks a run-time value: it may decide and be bound, but never becomes SQL text (contract 05 §5). `key` is set while
 * the value is still the Context key's own; anything computed from it has only a type.
 */
export interface Taint {
  readonly key: string | null;
  readonly type: ColumnType;
  /** Canonical value of `key`. */
  readonly own: CanonicalValue;
  readonly origin: ContextOrigin;
  /** A dry-render sample: checked built-ins take their first listed item for it. */
  readonly sample: boolean;
}

export const STRING_TYPE: ColumnType = { type: 'STRING' };
export const BOOLEAN_TYPE: ColumnType = { type: 'BOOLEAN' };
/** A double: what NaN and the infinities are. */
export const APPROXIMATE_TYPE: ColumnType = { type: 'DECIMAL', precision: 15 };
export const BIGDECIMAL_TYPE: ColumnType = { type: 'BIGDECIMAL' };

/** Taint of something computed from values of which some are tainted; null if none is. */
export function derived(type: ColumnType, ...sources: (Taint | null)[]): Taint | null {
  const first = sources.find((taint) => taint !== null);
  if (!first) return null;
  return { key: null, type, own: null, origin: first.origin, sample: sources.some((taint) => taint?.sample) };
}

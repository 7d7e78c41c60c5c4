import type { Decimal } from '#libs/typesystem';

/** What an author expects of a check's statement; numbers are exact (contract 01 §9). */
export type Expectation =
  | { kind: 'value'; value: Decimal; /** Absolute, never negative. */ tolerance: Decimal }
  | { kind: 'range'; /** Inclusive. */ min: Decimal; /** Inclusive. */ max: Decimal }
  | { kind: 'rows'; rows: number };

/** Most rows that a check reads. */
export const MAX_CHECK_ROWS = 500;

/** How many rows to ask for: one more than a `rows` check expects; two tell one row from several. */
export function rowsToRead(expectation: Expectation): number {
  return expectation.kind === 'rows' ? Math.min(expectation.rows + 1, MAX_CHECK_ROWS) : 2;
}

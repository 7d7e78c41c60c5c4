import type { Expectation } from '#libs/pipelines';

export type { Expectation };

/** Most rows that a check reads. */
export const MAX_CHECK_ROWS = 500;

/** How many rows to ask for: one more than a `rows` check expects; two tell one row from several. */
export function rowsToRead(expectation: Expectation): number {
  return expectation.kind === 'rows' ? Math.min(expectation.rows + 1, MAX_CHECK_ROWS) : 2;
}

import type { Cursor } from '#libs/datasources';
import type { Column, ColumnBatch } from '#libs/typesystem';
import type { StagedResult } from '../staging/staged-result.js';
import type { NodeBudget } from './node-budget.js';

/** Rows on their way from where they were read to where they go; the taker asks for the next batch when it has room. */
export interface RowDrain {
  readonly columns: readonly Column[];
  /** Null at the clean end; rejects when the source failed or the node was stopped. */
  next(): Promise<ColumnBatch | null>;
}

/**
 * Waits for the first rows before anything else is touched: until then the node executes its statement, and a target is
 * not opened for a query that does not run. Only the waits for the source count against the statement budget.
 */
export async function drainOf(cursor: Cursor, budget: NodeBudget): Promise<RowDrain> {
  const fetch = () => budget.statement(() => cursor.next(budget.signal));
  let first: ColumnBatch | null | undefined = await fetch();
  return {
    columns: cursor.columns,
    next: () => {
      if (first === undefined) return fetch();
      const batch = first;
      // A clean end stays one; asking the cursor again behind it would be asking too much.
      first = batch === null ? null : undefined;
      return Promise.resolve(batch);
    },
  };
}

export function drainOfStaged(result: StagedResult, budget: NodeBudget): RowDrain {
  const batches = result.batches(budget.signal);
  return {
    columns: result.columns,
    next: async () => {
      const { value, done } = await budget.statement(() => batches.next());
      return done ? null : value;
    },
  };
}

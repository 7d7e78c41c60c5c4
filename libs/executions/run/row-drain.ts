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

/** Only the waits for the source count against the statement budget. */
export function drainOf(cursor: Cursor, budget: NodeBudget): RowDrain {
  return {
    columns: cursor.columns,
    next: () => budget.statement(() => cursor.next(budget.signal)),
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

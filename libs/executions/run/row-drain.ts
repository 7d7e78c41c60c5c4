import type { Cursor } from '#libs/datasources';
import type { Column, ColumnBatch } from '#libs/typesystem';
import type { StagedResult } from '../staging/staged-result.js';
import type { NodeBudget } from './node-budget.js';
import type { NodeProgress } from './node-progress.js';

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
export async function drainOf(cursor: Cursor, budget: NodeBudget, progress: NodeProgress): Promise<RowDrain> {
  const fetch = () => budget.statement(() => cursor.next(budget.signal));
  let first: ColumnBatch | null | undefined = await fetch();
  const next = () => {
    if (first === undefined) return fetch();
    const batch = first;
    // A clean end stays one; asking the cursor again behind it would be asking too much.
    first = batch === null ? null : undefined;
    return Promise.resolve(batch);
  };
  return { columns: cursor.columns, next: followed(next, progress) };
}

export function drainOfStaged(result: StagedResult, budget: NodeBudget, progress: NodeProgress): RowDrain {
  const batches = result.batches(budget.signal);
  const next = async () => {
    const { value, done } = await budget.statement(() => batches.next());
    return done ? null : value;
  };
  return { columns: result.columns, next: followed(next, progress) };
}

/** Between two batches the node writes the one it has. */
export function followed(next: RowDrain['next'], progress: NodeProgress): RowDrain['next'] {
  return async () => {
    progress.enter('fetching');
    const batch = await next();
    if (!batch) return null;
    progress.fetched(batch.rowCount);
    progress.enter('writing');
    return batch;
  };
}

import { DriverFailure, type Lease, type TableWriter } from '#libs/datasources';
import { PenstockError } from '#libs/kernel';
import type { Column } from '#libs/typesystem';
import { batchBytes } from '../staging/batch-bytes.js';
import { failureCodeOfSource } from './failure-record.js';
import type { NodeBudget } from './node-budget.js';
import type { NodeTask, NodeYield } from './node-work.js';
import type { RowDrain } from './row-drain.js';

export interface WriteBackTarget {
  table: string;
  mode: 'replace' | 'append';
  /** `datapipelines.executor.writeback-batch-rows`. */
  batchRows: number;
}

/**
 * Writes a drain into a table of a datasource in one transaction (contract 02 §5.4). The commit comes only after the
 * source has ended cleanly and the run is known to be still ours; everything else rolls back.
 */
export async function writeBack(
  { scope, progress }: NodeTask,
  drain: RowDrain,
  lease: Lease,
  target: WriteBackTarget,
  budget: NodeBudget,
): Promise<NodeYield> {
  refuseDuplicateLabels(drain.columns);
  budget.phase = 'writeback';
  const writer = await lease.beginWrite(
    { ...target, columns: drain.columns },
    { signal: budget.signal, backstopMs: budget.backstopMs },
  );
  let rows = 0;
  let bytes = 0;
  try {
    for (;;) {
      const batch = await nextOf(drain);
      if (!batch) break;
      await writer.write(batch);
      rows += batch.rowCount;
      bytes += batchBytes(batch);
      progress.written(rows, bytes);
    }
    progress.enter('finalizing');
    await scope.confirmOwnership();
    budget.signal.throwIfAborted();
  } catch (error) {
    await rollBack(writer, error);
    progress.witnessed({ rolled_back: true });
    throw error;
  }
  await writer.commit();
  progress.witnessed({ committed: true });
  return { rowsOut: rows, bytesOut: bytes };
}

/** A failing source is told apart from a failing target: the phase alone would blame the target. */
async function nextOf(drain: RowDrain) {
  try {
    return await drain.next();
  } catch (error) {
    throw error instanceof DriverFailure && error.kind !== 'cancelled' ? failureCodeOfSource(error) : error;
  }
}

/** The first error is the one that is reported; a connection that cannot even roll back is destroyed by its lease. */
async function rollBack(writer: TableWriter, first: unknown): Promise<void> {
  try {
    await writer.rollback();
  } catch (error) {
    throw first ?? error;
  }
}

function refuseDuplicateLabels(columns: readonly Column[]): void {
  const seen = new Set<string>();
  columns.forEach(({ name }, ordinal) => {
    if (name !== '' && !seen.has(name)) return void seen.add(name);
    throw new PenstockError('pipeline.staging.invalid_column_name', {
      message: `Column ${ordinal + 1} of a write-back needs a label of its own; "${name}" is not one. Use AS.`,
      details: { label: name.slice(0, 64), ordinal },
    });
  });
}

import type { MappingWarning } from '#libs/datasources';
import { batchBytes } from '../staging/batch-bytes.js';
import type { NodeBudget } from '../run/node-budget.js';
import type { NodeTask, NodeYield } from '../run/node-work.js';
import type { RowDrain } from '../run/row-drain.js';
import type { ChildStream } from './child-stream.js';

/** Hands everything a child's caller node yields to the parent's node; nothing of it is stored (contract 01 §8). */
export async function deliverToParent(
  { progress }: NodeTask,
  drain: RowDrain,
  stream: ChildStream,
  budget: NodeBudget,
  sourceWarnings: () => readonly MappingWarning[],
): Promise<NodeYield> {
  budget.phase = 'materialize';
  stream.open(drain.columns);
  let rowsOut = 0;
  let bytesOut = 0;
  for (;;) {
    const batch = await drain.next();
    if (!batch) break;
    rowsOut += batch.rowCount;
    bytesOut += batchBytes(batch);
    await stream.put(batch, budget.signal);
    progress.written(rowsOut, bytesOut);
  }
  stream.complete(sourceWarnings());
  return { rowsOut, bytesOut };
}

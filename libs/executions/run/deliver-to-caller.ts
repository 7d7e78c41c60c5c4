import type { MappingWarning } from '#libs/datasources';
import { RowEncoder, WireIssues } from '#libs/typesystem';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeBudget } from './node-budget.js';
import type { NodeTask, NodeYield } from './node-work.js';
import type { RowDrain } from './row-drain.js';

/** Stores everything the node yields, encoded for the wire (contract 02 §6.4). Counts what has no wire form. */
export async function deliverToCaller(
  { node, scope, progress }: NodeTask,
  drain: RowDrain,
  budget: NodeBudget,
  sourceWarnings: () => readonly MappingWarning[],
): Promise<NodeYield> {
  budget.phase = 'materialize';
  const { columns } = drain;
  const { result } = scope;
  const issues = new WireIssues();
  const encoder = new RowEncoder(columns);
  for (;;) {
    const batch = await drain.next();
    if (!batch) break;
    await result.write(encoder.encode(batch, issues));
    progress.written(result.rowCount, result.bytes);
    await nextTurn();
  }
  progress.enter('finalizing');
  const warnings = [...sourceWarnings(), ...issues.warnings(columns)];
  const stored = await result.finish({ columns, warnings, last: scope.isLast(node.id) });
  return { rowsOut: stored.rowCount, bytesOut: stored.bytes, delivered: { columns, warnings, stored } };
}

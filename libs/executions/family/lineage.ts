import type { RunPlan } from '../run/run-plan.js';

/** Where an execution stands in its family (seed §4.6): a root is its own root and has no parent. */
export interface Lineage {
  readonly parentExecutionId: string | null;
  readonly parentNodeId: string | null;
  readonly rootExecutionId: string;
  /** Pipelines from the root to here, both counted; 1 for a root. */
  readonly depth: number;
}

export function rootLineage(executionId: string): Lineage {
  return { parentExecutionId: null, parentNodeId: null, rootExecutionId: executionId, depth: 1 };
}

export function childLineage(
  { executionId, lineage }: Pick<RunPlan, 'executionId' | 'lineage'>,
  nodeId: string,
): Lineage {
  return {
    parentExecutionId: executionId,
    parentNodeId: nodeId,
    rootExecutionId: lineage.rootExecutionId,
    depth: lineage.depth + 1,
  };
}

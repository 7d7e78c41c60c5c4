import { PenstockError, type ErrorCode } from '#libs/kernel';
import type { ChildNode, PipelineRef } from '#libs/pipelines';
import type { FailureRecord } from '../run/failure-record.js';
import type { LeaseHolder } from '../run/lease-holder.js';
import type { NodeBudget } from '../run/node-budget.js';
import type { NodeOutputs } from '../run/node-output.js';
import type { NodeTask, NodeYield } from '../run/node-work.js';
import { RunStopped, type AbortReason } from '../run/outcome.js';
import { followed, type RowDrain } from '../run/row-drain.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { StartedChild } from './child-launcher.js';

/**
 * Runs a PIPELINE node: the child executes, its rows go into this node's target as they come (contract 02 §5.3). The node
 * ends after its child, however it ends: nobody outlives who called it.
 */
export async function runChildNode(
  task: NodeTask<ChildNode>,
  budget: NodeBudget,
  leases: LeaseHolder,
  outputs: NodeOutputs,
): Promise<NodeYield> {
  const { node, scope } = task;
  budget.phase = 'execute';
  task.progress.enter('connecting');
  const child = await scope.startChild(node, budget.signal);
  task.progress.witnessed({ child_execution_id: child.executionId });
  task.progress.enter('executing');
  const stop = () => child.cancel(reasonOf(budget.signal.reason));
  if (budget.signal.aborted) stop();
  else budget.signal.addEventListener('abort', stop, { once: true });
  try {
    return await receive(task, child, budget, leases, outputs);
  } catch (error) {
    child.cancel('cancelled');
    await child.finished;
    budget.signal.throwIfAborted();
    throw error;
  } finally {
    budget.signal.removeEventListener('abort', stop);
  }
}

async function receive(
  task: NodeTask<ChildNode>,
  child: StartedChild,
  budget: NodeBudget,
  leases: LeaseHolder,
  outputs: NodeOutputs,
): Promise<NodeYield> {
  const { node, progress } = task;
  const { stream } = child;
  const succeeded = async () => {
    const outcome = await child.finished;
    if (outcome.status !== 'SUCCESS') throw childFailed(node, outcome);
  };
  const columns = await stream.columns;
  if (!columns) {
    await succeeded();
    if (node.output === undefined) return { rowsOut: 0, bytesOut: 0 };
    throw new PenstockError('pipeline.node.child_execution_failed', {
      message: `The child "${node.pipeline.name}" version ${node.pipeline.version} returned no rows to put anywhere.`,
      details: { child_code: null, child_execution_id: child.executionId, reason: 'no_caller_node' },
    });
  }
  // The end of the rows counts only when the child as a whole has succeeded: until then a target must not commit.
  const next = async () => {
    const batch = await stream.next();
    if (batch) return batch;
    await succeeded();
    return null;
  };
  const drain: RowDrain = { columns, next: followed(next, progress) };
  if (node.output === undefined) return countOnly(drain, (rows) => progress.written(rows, 0));
  return outputs.put(task, drain, budget, leases, () => stream.warnings);
}

/** A node without `output` lets its child run for what it does; its rows go nowhere. */
async function countOnly(drain: RowDrain, progress: (rows: number) => void): Promise<NodeYield> {
  let rowsOut = 0;
  for (;;) {
    const batch = await drain.next();
    if (!batch) return { rowsOut, bytesOut: 0 };
    rowsOut += batch.rowCount;
    progress(rowsOut);
  }
}

/** Descendants end with their root's own reason; for any other end of the parent they were simply cancelled (02 §9.1). */
function reasonOf(cause: unknown): AbortReason {
  return cause instanceof RunStopped && cause.outcome.kind === 'aborted' ? cause.outcome.reason : 'cancelled';
}

function childFailed(
  { pipeline }: ChildNode,
  { executionId, status, failure, reason }: TerminalOutcome,
): PenstockError {
  const code = failure?.code ?? 'pipeline.execution.aborted';
  const why = failure?.message ?? (reason === undefined ? 'it was aborted' : `it was aborted (${reason})`);
  return new PenstockError('pipeline.node.child_execution_failed', {
    message: `The child "${pipeline.name}" version ${pipeline.version} ended ${status}: ${why}`,
    details: {
      child_code: code,
      child_execution_id: executionId,
      child_status: status,
      pipeline: pipeline.name,
      pipeline_version: pipeline.version,
      ...(reason === undefined ? {} : { reason }),
      ...(failure?.node ? { child_node: failure.node.id } : {}),
      path: failurePath(pipeline, executionId, code, failure),
    },
  });
}

/** One generation on the way down to the node that failed first. */
interface FailureStep {
  pipeline: string;
  pipeline_version: number;
  execution_id: string;
  code: ErrorCode;
  node?: string;
}

/** From the child down to whose node failed first, so that nobody has to open run after run to find it. */
function failurePath(
  { name, version }: PipelineRef,
  executionId: string,
  code: ErrorCode,
  failure: FailureRecord | undefined,
): FailureStep[] {
  const step: FailureStep = {
    pipeline: name,
    pipeline_version: version,
    execution_id: executionId,
    code,
    ...(failure?.node ? { node: failure.node.id } : {}),
  };
  const below = failure?.code === 'pipeline.node.child_execution_failed' ? failure.details['path'] : undefined;
  return [step, ...(Array.isArray(below) ? (below as FailureStep[]) : [])];
}

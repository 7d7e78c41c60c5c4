import type { Cursor, DatasourceAccess, Lease } from '#libs/datasources';
import { isPenstockError, PenstockError } from '#libs/kernel';
import { isSqlNode } from '#libs/pipelines';
import { deliverToParent } from '../family/deliver-to-parent.js';
import { batchBytes } from '../staging/batch-bytes.js';
import { stageRows } from '../staging/staged-table.js';
import type { StagingEngine } from '../staging/staging-engine.js';
import { deliverToCaller } from './deliver-to-caller.js';
import type { LeaseHolder } from './lease-holder.js';
import { refuseReadonly } from './live-datasource.js';
import type { NodeBudget, NodePhase } from './node-budget.js';
import type { ProgressState } from './node-progress.js';
import type { NodeTask, NodeYield } from './node-work.js';
import type { RowDrain } from './row-drain.js';
import { writeBack } from './write-back.js';

/** Where the rows of a node go: staged tables, a datasource, the caller, or the parent's node (contract 02 §5.3). */
export class NodeOutputs {
  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly settings: { writebackBatchRows: number },
  ) {}

  /** Puts every row of a drain where the node's `output` says. `warnings` are asked for when the rows are through. */
  async put(
    task: NodeTask,
    drain: RowDrain,
    budget: NodeBudget,
    leases: LeaseHolder,
    warnings: () => Cursor['warnings'],
  ): Promise<NodeYield> {
    const { output } = task.node;
    if (output?.target === 'tempdb') return this.#stage(task, output.table, drain, budget);
    if (output?.target !== 'datasource') return this.#deliver(task, drain, budget, warnings);
    enter(task, budget, 'connect', 'waiting_output');
    await refuseReadonly(this.datasources, output.datasource, task.scope.workspaceId);
    const lease = await this.#target(task, output.datasource, budget, leases);
    const target = { table: output.table, mode: output.mode, batchRows: this.settings.writebackBatchRows };
    return writeBack(task, drain, lease, target, budget);
  }

  async #target(
    { node, scope }: NodeTask,
    datasource: string,
    { signal }: NodeBudget,
    leases: LeaseHolder,
  ): Promise<Lease> {
    const cause = { executionId: scope.executionId, nodeId: node.id };
    try {
      return await leases.hold(this.datasources.lease(datasource, { signal, access: 'write', cause }));
    } catch (error) {
      throw isSqlNode(node) || !isExhausted(error) ? error : heldByChild(datasource, error);
    }
  }

  async #stage(task: NodeTask, table: string, drain: RowDrain, budget: NodeBudget): Promise<NodeYield> {
    budget.phase = 'stage';
    let bytesOut = 0;
    const onBatch = (batch: Parameters<typeof batchBytes>[0], rows: number) => {
      bytesOut += batchBytes(batch);
      task.progress.written(rows, bytesOut);
    };
    const { signal } = budget;
    const rowsOut = await stagingOf(task).withConnection(signal, (connection) =>
      stageRows(connection, table, drain, { signal, onBatch, onEnd: () => task.progress.enter('finalizing') }),
    );
    stagingOf(task).tableStaged();
    return { rowsOut, bytesOut };
  }

  #deliver(
    task: NodeTask,
    drain: RowDrain,
    budget: NodeBudget,
    warnings: () => Cursor['warnings'],
  ): Promise<NodeYield> {
    const { stream } = task.scope;
    return stream
      ? deliverToParent(task, drain, stream, budget, warnings)
      : deliverToCaller(task, drain, budget, warnings);
  }
}

function isExhausted(error: unknown): error is PenstockError {
  return isPenstockError(error) && error.details['reason'] === 'pool_exhausted';
}

/** A child keeps its source's connection until its rows are taken, so its parent's target may wait for its own child. */
function heldByChild(datasource: string, cause: PenstockError): PenstockError {
  return new PenstockError('pipeline.node.datasource_connection_failed', {
    message: `No connection of "${datasource}" came free for the rows of the child. Children that read from the same datasource hold theirs until their rows are written: raise its maximumPoolSize, or let the parent write elsewhere.`,
    details: { ...cause.details, datasource, reason: 'pool_exhausted', held_by: 'child' },
    cause,
  });
}

export function stagingOf({ node, scope }: NodeTask): StagingEngine {
  if (scope.staging) return scope.staging;
  throw new PenstockError('pipeline.staging.engine_unavailable', {
    message: `Node "${node.id}" needs staged tables, and the run has no staging engine.`,
  });
}

export function enter({ progress }: NodeTask, budget: NodeBudget, phase: NodePhase, state: ProgressState): void {
  budget.phase = phase;
  progress.enter(state);
}

import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ExecutionService, type ExecutionView } from '#libs/executions';
import { PenstockError, writeJson, type Principal } from '#libs/kernel';

/** At most one update a second and run (03 §12). */
const INTERVAL_MS = 1000;
/** Of a pipeline, the newest runs are followed: no more of them run at once. */
const FOLLOWED = 100;

/**
 * Executions as they change, wherever they run: their rows are looked at once a second. The first look gives what is
 * there, later ones what has changed since.
 */
@Injectable()
export class ExecutionUpdates {
  constructor(private readonly executions: ExecutionService) {}

  /** Ends after the terminal state. @throws `result.execution_not_found` */
  async *ofExecution(principal: Principal, id: string, signal: AbortSignal): AsyncGenerator<ExecutionView, void, void> {
    let seen = '';
    while (!signal.aborted) {
      const view = await this.executions.read(principal, id);
      const state = stateOf(view);
      if (state !== seen) yield view;
      if (view.status !== 'RUNNING') return;
      seen = state;
      await nextLook(signal);
    }
  }

  /** The runs of one pipeline, or of the workspace; goes on until the reader leaves. */
  async *ofPipeline(
    principal: Principal,
    pipelineId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ExecutionView, void, void> {
    let seen: Map<string, string> | undefined;
    while (!signal.aborted) {
      const { items } = await this.executions.list(principal, { pipelineId }, { first: FOLLOWED });
      const now = new Map(items.map(({ execution }) => [execution.execution_id, stateOf(execution)]));
      for (const { execution } of items.toReversed()) {
        const before = seen?.get(execution.execution_id);
        const changed = seen ? before !== now.get(execution.execution_id) : execution.status === 'RUNNING';
        if (changed) yield execution;
      }
      seen = now;
      await nextLook(signal);
    }
  }
}

function stateOf({ status, node_stats }: ExecutionView): string {
  return `${status} ${writeJson(node_stats)}`;
}

async function nextLook(signal: AbortSignal): Promise<void> {
  try {
    await pause(INTERVAL_MS, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw new PenstockError('internal', { cause: error });
  }
}

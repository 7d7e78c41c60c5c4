import { Injectable } from '@nestjs/common';
import { authorise, type OperationId } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import { Batcher } from '#libs/persistence';
import type { ExecutionRow } from './execution-view.js';
import { ExecutionRepository, type WatchedExecution } from './execution.repository.js';

/** A share of all streams of an instance beats at a time; more than this go one statement after the other. */
const WATCHED_AT_ONCE = 500;

/** Finds the execution an operation is about, or answers as if there were none (03 §4). */
@Injectable()
export class VisibleExecutions {
  readonly #watched: Batcher<WatchedExecution, boolean>;

  constructor(private readonly executions: ExecutionRepository) {
    this.#watched = new Batcher((watched) => executions.stillVisible(watched), {
      maxItems: WATCHED_AT_ONCE,
      concurrency: 1,
      separable: () => false,
    });
  }

  /** 404 `result.execution_not_found`, never 403, for what is not the principal's to see. */
  async get(principal: Principal, operation: OperationId, executionId: string): Promise<ExecutionRow> {
    const workspace = authorise(principal, operation);
    const row = await this.executions.find(principal, workspace.id, executionId);
    if (!row) throw new PenstockError('result.execution_not_found');
    return row;
  }

  /**
   * Whether what was seen before may be seen still; streams that ask in one turn of the event loop share a statement.
   * Rejects when the database does not answer, and as `authorise` does.
   */
  async stillVisible(principal: Principal, operation: OperationId, executionId: string): Promise<boolean> {
    const { id: workspaceId } = authorise(principal, operation);
    const { keyKind, keyId } = principal;
    return this.#watched.add({ executionId, workspaceId, servedOnly: keyKind === 'endpoint', keyId });
  }

  /** Of many those that are the principal's to see, in one statement. Endpoint keys read one by one. */
  async among(principal: Principal, operation: OperationId, ids: readonly string[]): Promise<ExecutionRow[]> {
    authorise(principal, operation);
    return this.executions.among(listableWorkspace(principal), ids);
  }
}

/** The workspace whose runs are listed. An endpoint key reads its own runs by id only (04 §6.3). */
export function listableWorkspace(principal: Principal): string {
  const workspace = authorise(principal, 'execution.read');
  if (principal.keyKind !== 'endpoint') return workspace.id;
  throw new PenstockError('endpoint.key_kind_refused', { details: { reason: 'endpoint_key_off_surface' } });
}

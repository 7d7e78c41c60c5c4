import { Injectable } from '@nestjs/common';
import { authorise, type OperationId } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import type { ExecutionRow } from './execution-view.js';
import { ExecutionRepository } from './execution.repository.js';

/** Finds the execution an operation is about, or answers as if there were none (03 §4). */
@Injectable()
export class VisibleExecutions {
  constructor(private readonly executions: ExecutionRepository) {}

  /** 404 `result.execution_not_found`, never 403, for what is not the principal's to see. */
  async get(principal: Principal, operation: OperationId, executionId: string): Promise<ExecutionRow> {
    const workspace = authorise(principal, operation);
    const row = await this.executions.find(principal, workspace.id, executionId);
    if (!row) throw new PenstockError('result.execution_not_found');
    return row;
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

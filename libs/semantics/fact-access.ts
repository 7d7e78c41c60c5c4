import { holdsCapability, type OperationId } from '#libs/identity';
import { PenstockError, type ActingWorkspace } from '#libs/kernel';

import type { LearnedFact } from './learned-fact.js';

/** One answer for a fact that is unknown, invisible, or retired where a live one is asked for. */
export function factNotFound(id: string, message?: string): PenstockError {
  return new PenstockError('semantics.not_found', {
    ...(message === undefined ? {} : { message }),
    details: { fact_id: id.slice(0, 64).toWellFormed() },
  });
}

/**
 * A fact about a shared datasource belongs to the workspace it was recorded in: others see it, and only their
 * administrators judge it (contract 06 §11).
 * @throws 403 `auth.role_required`
 */
export function refuseForeign(workspace: ActingWorkspace, operation: OperationId, fact: LearnedFact): void {
  if (fact.isFromHere || holdsCapability(workspace, 'ws_admin')) return;
  throw new PenstockError('auth.role_required', {
    message: 'This fact was recorded in another workspace; only an administrator may judge it here.',
    details: { operation, required: 'ws_admin', workspace: workspace.name },
  });
}

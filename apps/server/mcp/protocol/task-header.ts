import type { Request } from 'express';
import { PenstockError } from '#libs/kernel';

const MAX_SHOWN_CHARS = 64;

/**
 * A call that asks to be held to the policy of a task never runs without that policy. No tasks are kept here, so none is
 * known, whatever the header says (06 §12, 08 §11).
 *
 * @throws 404 `playbook.not_found`
 */
export function refuseTask(request: Request): void {
  const task = request.get('DP-Task-Id');
  if (task === undefined) return;
  throw new PenstockError('playbook.not_found', { details: { task_id: task.slice(0, MAX_SHOWN_CHARS) } });
}

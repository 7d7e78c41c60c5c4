import type { DatasourceAccess } from '#libs/datasources';
import { PenstockError } from '#libs/kernel';

/**
 * Asks every datasource of a run that its workspace sees, all at once, before any node has done anything (contract 06 §7):
 * `pipeline.execution.datasource_unreachable`. One the workspace does not have is left to its node, which names it.
 */
export async function refuseUnreachable(
  datasources: Pick<DatasourceAccess, 'checkReachable'>,
  visible: readonly string[],
  signal: AbortSignal,
  executionId: string,
): Promise<void> {
  if (visible.length === 0) return;
  const down = await datasources.checkReachable(visible, signal, { executionId });
  if (down.length === 0) return;
  const list = down.map(({ name }) => `"${name}"`).join(', ');
  throw new PenstockError('pipeline.execution.datasource_unreachable', {
    message: `Not reachable: ${list}. No node was started.`,
    details: { datasources: down.map(({ name, reason }) => ({ datasource: name, reason })) },
  });
}

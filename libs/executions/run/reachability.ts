import type { DatasourceAccess } from '#libs/datasources';
import { PenstockError } from '#libs/kernel';
import type { RunnableVersion } from '#libs/pipelines';
import { datasourcesOf } from './node-limits.js';

/**
 * Asks every datasource of a run, all at once, before any node has done anything (contract 06 §7):
 * `pipeline.execution.datasource_unreachable`. One the workspace does not have is left to its node, which names it.
 */
export async function refuseUnreachable(
  datasources: Pick<DatasourceAccess, 'visible' | 'checkReachable'>,
  { workspaceId, document }: Pick<RunnableVersion, 'workspaceId' | 'document'>,
  signal: AbortSignal,
): Promise<void> {
  const names = [...new Set(document.nodes.flatMap(datasourcesOf))];
  if (names.length === 0) return;
  const visible = await datasources.visible(workspaceId, names);
  const down = await datasources.checkReachable([...visible.keys()], signal);
  if (down.length === 0) return;
  const list = down.map(({ name }) => `"${name}"`).join(', ');
  throw new PenstockError('pipeline.execution.datasource_unreachable', {
    message: `Not reachable: ${list}. No node was started.`,
    details: { datasources: down.map(({ name, reason }) => ({ datasource: name, reason })) },
  });
}

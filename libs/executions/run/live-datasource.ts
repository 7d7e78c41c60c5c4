import type { DatasourceAccess } from '#libs/datasources';
import { isPenstockError, PenstockError } from '#libs/kernel';

/** Contract 06 §6: asked of the live row, and unknown never means allowed. */
export async function refuseReadonly(datasources: DatasourceAccess, name: string, workspaceId: string): Promise<void> {
  if (!(await liveDatasource(datasources, name, workspaceId)).isReadonly) return;
  throw new PenstockError('pipeline.node.datasource_readonly', {
    message: `The datasource "${name}" is read-only; nothing may be written to it.`,
    details: { datasource: name },
  });
}

/** The row as it stands now: `pipeline.node.datasource_not_found` when the workspace has none. */
export async function liveDatasource(datasources: DatasourceAccess, name: string, workspaceId: string) {
  let record;
  try {
    record = await datasources.live(workspaceId, name);
  } catch (error) {
    if (isPenstockError(error)) throw error;
    throw new PenstockError('pipeline.execution.aborted', {
      message: `The registry could not be asked about the datasource "${name}".`,
      details: { reason: 'registry_unavailable', datasource: name },
      cause: error,
    });
  }
  if (record) return record;
  throw new PenstockError('pipeline.node.datasource_not_found', {
    message: `The workspace has no datasource "${name}".`,
    details: { datasource: name },
  });
}

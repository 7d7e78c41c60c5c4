import type { Queryable } from '#libs/persistence';

/** One stored pipeline version that names a datasource: as source, write-back target or in a check. */
export interface DatasourceReference {
  pipeline: string;
  pipeline_id: string;
  node_id?: string;
  check_id?: string;
  pipeline_version: number;
  version_status: string;
}

/** Asks the pipelines who refers to a datasource. Implemented by the pipelines family. */
export abstract class DatasourceReferences {
  /** References in pipelines of the given workspaces, and how many more pipelines elsewhere refer to it. */
  abstract references(
    tx: Queryable,
    name: string,
    visibleWorkspaceIds: readonly string[],
  ): Promise<{ references: DatasourceReference[]; hidden: number }>;
}

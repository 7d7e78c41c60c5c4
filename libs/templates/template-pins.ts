import type { Queryable } from '#libs/persistence';

/** One pin of a template version by a stored pipeline version, whatever its status. */
export interface TemplatePinReference {
  pipeline: string;
  pipeline_id: string;
  node_id: string;
  pipeline_version: number;
  pipeline_version_status: string;
  template_version: number;
}

/** A pin by the version of a pipeline that its readers see. */
export type WorkingPin = Omit<TemplatePinReference, 'template_version'>;

export interface TemplatePinReport {
  /** Names, sorted, each once. */
  referencing_pipelines: string[];
  references: TemplatePinReference[];
}

/**
 * Who pins a template version. A port: pipelines know, and templates stand below them.
 * Asked inside the transaction that holds the version's row lock.
 */
export abstract class TemplatePins {
  /** Pins of one version, or of any when `version` is absent. */
  abstract pinsOf(
    tx: Queryable,
    workspaceId: string,
    templateName: string,
    version?: number,
  ): Promise<TemplatePinReport>;

  /** Pins of exactly this version by working versions, by pipeline name and node. */
  abstract usedBy(workspaceId: string, templateName: string, version: number): Promise<WorkingPin[]>;
}

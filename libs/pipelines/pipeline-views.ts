import { toWireStamp, type JsonObject, type JsonValue } from '#libs/kernel';
import { folderOf, type EntityStatus, type VersionStatus } from '#libs/lifecycle';
import type { DraftView, VersionStamps } from '#libs/templates';
import type { DocumentWarning } from './document/notes.js';
import { executeInputs, type ExecuteInput } from './document/execute-inputs.js';
import { storedTree } from './document/stored-document.js';
import type { PipelineVersionRow, TemplateUpgrade } from './pipeline.repository.js';

/** One version without its body: an entry of the version list. */
export interface PipelineVersionSummary extends VersionStamps {
  version: number;
  status: VersionStatus;
  body_hash: string;
  is_current: boolean;
}

/** The record a single read composes around the body (contract 01 §1, 05 §14). */
export interface PipelineRecord {
  id: string;
  folder: string;
  owner: string;
  version: number;
  status: VersionStatus;
  entity_status: EntityStatus;
  body_hash: string;
  current_version: number | null;
  draft?: DraftView;
  /** The pipeline's own stamps. */
  created_at: string;
  updated_at: string;
  /** The stamps of the version shown. */
  version_stamps: VersionStamps;
  /** What an execute request may carry: declared parameters, and the keys of calculators as derived ones. */
  inputs: readonly ExecuteInput[];
  /** Only of a single read: nodes whose template has a higher release than the one they pin. */
  upgrade_available?: readonly TemplateUpgrade[];
  /** Only of the save that answers: what was dropped or replaced. */
  warnings?: readonly DocumentWarning[];
}

/** The keys an author owns, as stored: numbers with their spelling (contract 01 §1). */
const DOCUMENT_KEYS = [
  'schema_version',
  'name',
  'display_name',
  'description',
  'settings',
  'parameters',
  'nodes',
  'checks',
] as const;

/** A single read: the document's own keys and the record around them. Written with `writeJson`. */
export type PipelineView = PipelineRecord & { [K in (typeof DOCUMENT_KEYS)[number]]?: JsonValue };

/** The document alone, as it would be written back. */
export function definitionOf(view: PipelineView): JsonObject {
  const definition = Object.create(null) as JsonObject;
  for (const key of DOCUMENT_KEYS) if (view[key] !== undefined) definition[key] = view[key];
  return definition;
}

/** An entry of a list, search or tree level; `version` and `status` are the working version's. */
export interface PipelineSummary {
  id: string;
  name: string;
  folder: string;
  display_name: string;
  description: string;
  owner: string;
  entity_status: EntityStatus;
  version: number | null;
  status: VersionStatus;
  body_hash: string | null;
  current_version: number | null;
  created_at: string;
  updated_at: string;
}

export interface PipelineSummaryRow {
  id: string;
  name: string;
  displayName: string;
  description: string;
  owner: string;
  currentVersion: number | null;
  createdAt: string;
  updatedAt: string;
  version: number | null;
  status: VersionStatus | null;
  bodyHash: string | null;
}

const stamp = (text: string | null): string | null => (text === null ? null : toWireStamp(text));

function stamps(row: PipelineVersionRow): VersionStamps {
  return {
    created_at: toWireStamp(row.createdAt),
    created_by: row.createdBy,
    created_via: row.createdVia,
    updated_at: stamp(row.updatedAt),
    updated_by: row.updatedBy,
    updated_via: row.updatedVia,
    released_at: stamp(row.releasedAt),
    released_by: row.releasedBy,
    discarded_at: stamp(row.discardedAt),
    discarded_by: row.discardedBy,
  };
}

/** A read without a number shows a DISCARDED version only when every version is. */
export function pipelineView(row: PipelineVersionRow, warnings?: readonly DocumentWarning[]): PipelineView {
  const tree = storedTree(row.body);
  return {
    ...tree,
    id: row.pipelineId,
    folder: folderOf(row.name),
    owner: row.owner,
    version: row.version,
    status: row.status,
    entity_status: row.live ? 'ACTIVE' : 'DISCARDED',
    body_hash: row.bodyHash,
    current_version: row.currentVersion,
    ...(row.draftVersion === null || row.draftHash === null
      ? {}
      : {
          draft: {
            version: row.draftVersion,
            body_hash: row.draftHash,
            updated_by: row.draftUpdatedBy,
            updated_at: stamp(row.draftUpdatedAt),
          },
        }),
    created_at: toWireStamp(row.entityCreatedAt),
    updated_at: toWireStamp(row.entityUpdatedAt),
    version_stamps: stamps(row),
    inputs: executeInputs(tree),
    ...(warnings === undefined ? {} : { warnings }),
  };
}

export function pipelineVersionSummary(row: PipelineVersionRow): PipelineVersionSummary {
  return {
    version: row.version,
    status: row.status,
    body_hash: row.bodyHash,
    is_current: row.version === row.currentVersion,
    ...stamps(row),
  };
}

export function pipelineSummary(row: PipelineSummaryRow, entityStatus: EntityStatus): PipelineSummary {
  return {
    id: row.id,
    name: row.name,
    folder: folderOf(row.name),
    display_name: row.displayName,
    description: row.description,
    owner: row.owner,
    entity_status: entityStatus,
    version: row.version,
    status: row.status ?? 'DISCARDED',
    body_hash: row.bodyHash,
    current_version: row.currentVersion,
    created_at: toWireStamp(row.createdAt),
    updated_at: toWireStamp(row.updatedAt),
  };
}

import { toWireStamp, type JsonObject, type JsonValue } from '#libs/kernel';
import {
  folderOf,
  versionRecord,
  versionStamps,
  type EntityStatus,
  type VersionRecord,
  type VersionStamps,
  type VersionStatus,
} from '#libs/lifecycle';
import type { DocumentWarning } from './document/notes.js';
import { executeInputs, type ExecuteInput } from './document/execute-inputs.js';
import { storedTree } from './document/stored-document.js';
import type { PipelineVersionRow, TemplateUpgrade } from './pipeline.repository.js';

/** The record a single read composes around the body (contract 01 §1, 05 §14). */
export interface PipelineRecord extends VersionRecord {
  id: string;
  folder: string;
  owner: string;
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

/** A read without a number shows a DISCARDED version only when every version is. */
export function pipelineView(row: PipelineVersionRow, warnings?: readonly DocumentWarning[]): PipelineView {
  const tree = storedTree(row.body);
  return {
    ...tree,
    id: row.pipelineId,
    folder: folderOf(row.name),
    owner: row.owner,
    ...versionRecord(row),
    created_at: toWireStamp(row.entityCreatedAt),
    updated_at: toWireStamp(row.entityUpdatedAt),
    version_stamps: versionStamps(row),
    inputs: executeInputs(tree),
    ...(warnings === undefined ? {} : { warnings }),
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

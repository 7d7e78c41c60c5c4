import { toWireStamp } from '#libs/kernel';
import {
  folderOf,
  versionRecord,
  versionStamps,
  versionSummary,
  type EntityStatus,
  type VersionRecord,
  type VersionStamps,
  type VersionStatus,
  type VersionSummary,
} from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import type { TemplateImport } from './pinned-template.js';
import { readImports } from './template-catalog.js';
import type { TemplateVersionRow } from './template.repository.js';

/** One version without its body: an entry of the version list. */
export interface TemplateVersionSummary extends VersionSummary {
  dialect: Dialect;
  is_library: boolean;
}

/** A single read of a template (contract 05 §14): one version in full, and where the template stands. */
export interface TemplateView extends VersionRecord {
  schema_version: 1;
  /** The name; templates have no other id outside the database. */
  id: string;
  folder: string;
  display_name: string;
  description: string;
  engine: 'freemarker';
  type: 'sql';
  dialect: Dialect;
  is_library: boolean;
  imports: readonly TemplateImport[];
  body: string;
  /** The template's own stamps. */
  created_at: string;
  created_by: string;
  updated_at: string;
  /** The stamps of the version shown. */
  version_stamps: VersionStamps;
}

/** An entry of a list, search or tree level; `version` and `status` are the working version's. */
export interface TemplateSummary {
  id: string;
  folder: string;
  display_name: string;
  description: string;
  entity_status: EntityStatus;
  version: number | null;
  status: VersionStatus;
  body_hash: string | null;
  dialect: Dialect | null;
  is_library: boolean | null;
  current_version: number | null;
  created_at: string;
  created_by: string;
  updated_at: string;
}

export interface TemplateSummaryRow {
  name: string;
  displayName: string;
  description: string;
  currentVersion: number | null;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  version: number | null;
  status: VersionStatus | null;
  bodyHash: string | null;
  dialect: Dialect | null;
  isLibrary: boolean | null;
}

/** A read without a number shows a DISCARDED version only when every version is. */
export function templateView(row: TemplateVersionRow): TemplateView {
  return {
    schema_version: 1,
    id: row.name,
    folder: folderOf(row.name),
    display_name: row.displayName,
    description: row.description,
    engine: 'freemarker',
    type: 'sql',
    dialect: row.dialect,
    is_library: row.isLibrary,
    imports: readImports(row.imports),
    body: row.body,
    ...versionRecord(row),
    created_at: toWireStamp(row.entityCreatedAt),
    created_by: row.entityCreatedBy,
    updated_at: toWireStamp(row.entityUpdatedAt),
    version_stamps: versionStamps(row),
  };
}

export function templateVersionSummary(row: TemplateVersionRow): TemplateVersionSummary {
  return { ...versionSummary(row), dialect: row.dialect, is_library: row.isLibrary };
}

export function templateSummary(row: TemplateSummaryRow, entityStatus: EntityStatus): TemplateSummary {
  return {
    id: row.name,
    folder: folderOf(row.name),
    display_name: row.displayName,
    description: row.description,
    entity_status: entityStatus,
    version: row.version,
    status: row.status ?? 'DISCARDED',
    body_hash: row.bodyHash,
    dialect: row.dialect,
    is_library: row.isLibrary,
    current_version: row.currentVersion,
    created_at: toWireStamp(row.createdAt),
    created_by: row.createdBy,
    updated_at: toWireStamp(row.updatedAt),
  };
}

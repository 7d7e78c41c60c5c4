import { toWireStamp } from '#libs/kernel';
import { folderOf, type EntityStatus, type VersionStatus } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import type { TemplateImport } from './pinned-template.js';
import { readImports } from './template-catalog.js';
import type { TemplateVersionRow } from './template.repository.js';

/** The open draft of a template, as reads announce it. */
export interface DraftView {
  version: number;
  body_hash: string;
  updated_by: string | null;
  updated_at: string | null;
}

/** Stamps of one stored version; people by their ids, times as RFC 3339 UTC with milliseconds. */
export interface VersionStamps {
  created_at: string;
  created_by: string;
  created_via: string;
  updated_at: string | null;
  updated_by: string | null;
  updated_via: string;
  released_at: string | null;
  released_by: string | null;
  discarded_at: string | null;
  discarded_by: string | null;
}

/** One version without its body: an entry of the version list. */
export interface TemplateVersionSummary extends VersionStamps {
  version: number;
  status: VersionStatus;
  body_hash: string;
  is_current: boolean;
  dialect: Dialect;
  is_library: boolean;
}

/** A single read of a template (contract 05 §14): one version in full, and where the template stands. */
export interface TemplateView {
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
  version: number;
  status: VersionStatus;
  entity_status: EntityStatus;
  body_hash: string;
  current_version: number | null;
  draft?: DraftView;
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

const stamp = (text: string | null): string | null => (text === null ? null : toWireStamp(text));

function stamps(row: TemplateVersionRow): VersionStamps {
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
    created_by: row.entityCreatedBy,
    updated_at: toWireStamp(row.entityUpdatedAt),
    version_stamps: stamps(row),
  };
}

export function templateVersionSummary(row: TemplateVersionRow): TemplateVersionSummary {
  return {
    version: row.version,
    status: row.status,
    body_hash: row.bodyHash,
    is_current: row.version === row.currentVersion,
    dialect: row.dialect,
    is_library: row.isLibrary,
    ...stamps(row),
  };
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

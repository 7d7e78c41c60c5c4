import { toWireStamp } from '#libs/kernel/pure';
import type { EntityStatus, VersionStatus } from './version-state.js';

/** What every stored version tells of itself, with what its entity tells of the others. Stamps are the database's own. */
export interface VersionColumns {
  version: number;
  status: VersionStatus;
  bodyHash: string;
  /** Whether any version of the entity is a DRAFT or RELEASED. */
  live: boolean;
  currentVersion: number | null;
  createdAt: string;
  createdBy: string;
  createdVia: string;
  updatedAt: string | null;
  updatedBy: string | null;
  updatedVia: string;
  releasedAt: string | null;
  releasedBy: string | null;
  discardedAt: string | null;
  discardedBy: string | null;
  draftVersion: number | null;
  draftHash: string | null;
  draftUpdatedBy: string | null;
  draftUpdatedAt: string | null;
}

/** The open draft of an entity, as reads announce it. */
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
export interface VersionSummary extends VersionStamps {
  version: number;
  status: VersionStatus;
  body_hash: string;
  is_current: boolean;
}

/** Where a version that is read stands among the others (contract 05 §14). */
export interface VersionRecord {
  version: number;
  status: VersionStatus;
  entity_status: EntityStatus;
  body_hash: string;
  current_version: number | null;
  draft?: DraftView;
}

const stamp = (text: string | null): string | null => (text === null ? null : toWireStamp(text));

export function versionStamps(row: VersionColumns): VersionStamps {
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

export function versionRecord(row: VersionColumns): VersionRecord {
  const { draftVersion, draftHash, draftUpdatedBy } = row;
  return {
    version: row.version,
    status: row.status,
    entity_status: row.live ? 'ACTIVE' : 'DISCARDED',
    body_hash: row.bodyHash,
    current_version: row.currentVersion,
    ...(draftVersion === null || draftHash === null
      ? {}
      : {
          draft: {
            version: draftVersion,
            body_hash: draftHash,
            updated_by: draftUpdatedBy,
            updated_at: stamp(row.draftUpdatedAt),
          },
        }),
  };
}

export function versionSummary(row: VersionColumns): VersionSummary {
  const { version, status, bodyHash, currentVersion } = row;
  return { version, status, body_hash: bodyHash, is_current: version === currentVersion, ...versionStamps(row) };
}

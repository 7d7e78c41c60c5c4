import type { VersionStatus, VersionSummary } from '#libs/lifecycle';

/** A version after a change. Null where no stamp of the version tells who or when: a purge, a restore, a switch. */
export interface VersionChange {
  version: number;
  status: VersionStatus;
  body_hash: string;
  updated_by: string | null;
  updated_at: string | null;
}

/** What a read without a number shows: the draft, else the current version, else the highest. */
export function workingOf<V extends VersionSummary>(versions: readonly V[]): V | undefined {
  return (
    versions.find(({ status }) => status === 'DRAFT') ??
    versions.find(({ is_current }) => is_current) ??
    versions.toSorted((a, b) => b.version - a.version)[0]
  );
}

/** The version as it stands, with its newest stamp. */
export function standing(version: VersionSummary): VersionChange {
  return { ...facts(version), ...newestStamp(version) };
}

/** What became of each version between two looks, lowest number first; of one that is gone, what is worked on instead. */
export function changesBetween(before: readonly VersionSummary[], now: readonly VersionSummary[]): VersionChange[] {
  const known = new Map(before.map((version) => [version.version, version]));
  const changes: VersionChange[] = [];
  for (const version of now.toSorted((a, b) => a.version - b.version)) {
    const old = known.get(version.version);
    known.delete(version.version);
    const stamped = stampOf(version);
    if (old === undefined || stampOf(old) !== stamped) {
      const told = old?.status === 'DISCARDED' ? NOBODY : newestStamp(version);
      changes.push({ ...facts(version), ...told });
    } else if (version.is_current && !old.is_current) {
      changes.push({ ...facts(version), ...NOBODY });
    }
  }
  const working = workingOf(now);
  if (known.size > 0 && working && !changes.some(({ version }) => version === working.version)) {
    changes.push({ ...facts(working), ...NOBODY });
  }
  return changes;
}

const NOBODY = { updated_by: null, updated_at: null };

function facts({ version, status, body_hash }: VersionSummary) {
  return { version, status, body_hash };
}

function stampOf({ status, body_hash, updated_at, released_at, discarded_at }: VersionSummary): string {
  return [status, body_hash, updated_at, released_at, discarded_at].join(' ');
}

function newestStamp(version: VersionSummary): Pick<VersionChange, 'updated_by' | 'updated_at'> {
  const stamps = [
    { updated_by: version.created_by, updated_at: version.created_at },
    { updated_by: version.updated_by, updated_at: version.updated_at },
    { updated_by: version.released_by, updated_at: version.released_at },
    { updated_by: version.discarded_by, updated_at: version.discarded_at },
  ];
  // Wire stamps sort as text; of equal ones the later act counts.
  return stamps.reduce((newest, stamp) => ((stamp.updated_at ?? '') >= (newest.updated_at ?? '') ? stamp : newest));
}

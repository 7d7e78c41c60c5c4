/** Status of one stored version (seed §4.5, §4.9). A RELEASED row never becomes a DRAFT again. */
export const VERSION_STATUSES = ['DRAFT', 'RELEASED', 'DISCARDED'] as const;
export type VersionStatus = (typeof VERSION_STATUSES)[number];

/** Derived, never stored: ACTIVE while any version is a DRAFT or RELEASED. */
export type EntityStatus = 'ACTIVE' | 'DISCARDED';

export interface VersionState {
  version: number;
  status: VersionStatus;
  bodyHash: string;
  /** Last draft writer and when (µs, UTC): what a conflict tells the one who lost. */
  updatedBy?: string | null;
  updatedAt?: string | null;
}

/** What the state machine knows of one pipeline or template: its surviving versions and the sticky pointer. */
export interface EntityState {
  versions: readonly VersionState[];
  currentVersion: number | null;
}

/** `datapipelines.deployment.authoring-enabled`: off, a deployment only receives, reads, switches and executes. */
export interface Posture {
  authoringEnabled: boolean;
}

/** Live versions a pointer may name: RELEASED always, a DRAFT only where authoring is enabled (contract 05 §10). */
export function isEligible(version: Pick<VersionState, 'status'>, posture: Posture): boolean {
  return version.status === 'RELEASED' || (version.status === 'DRAFT' && posture.authoringEnabled);
}

/** The highest-numbered eligible version, or null: where the pointer falls when the version it named is gone. */
export function highest(versions: readonly VersionState[], posture: Posture): number | null {
  let best: number | null = null;
  for (const candidate of versions) {
    if (isEligible(candidate, posture) && (best === null || candidate.version > best)) best = candidate.version;
  }
  return best;
}

/** At most one version is a draft: the partial unique index `uq_*_one_draft` keeps it so. */
export function draftOf(state: EntityState): VersionState | undefined {
  return state.versions.find((version) => version.status === 'DRAFT');
}

/**
 * The version an author reads and runs when none is named: the draft, else the pointer's.
 * Not "the latest release", which would be wrong after a switch down (contract 05 §10).
 */
export function working(state: EntityState): VersionState | undefined {
  return draftOf(state) ?? state.versions.find((version) => version.version === state.currentVersion);
}

/** Numbers are allocated over the surviving rows; a purged draft's number may return. */
export function nextVersion(versions: readonly VersionState[]): number {
  return versions.reduce((most, { version }) => Math.max(most, version), 0) + 1;
}

export function entityStatus(versions: readonly Pick<VersionState, 'status'>[]): EntityStatus {
  return versions.some((version) => version.status !== 'DISCARDED') ? 'ACTIVE' : 'DISCARDED';
}

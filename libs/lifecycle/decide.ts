import {
  draftOf,
  highest,
  isEligible,
  nextVersion,
  working,
  type EntityState,
  type Posture,
  type VersionState,
  type VersionStatus,
} from './version-state.js';

/** What each verb needs to know besides the state. */
export interface VerbInputs {
  create: Record<string, never>;
  /** `sameBody`: the new body equals the working version's. It is only read when that version is RELEASED. */
  write: { baseHash: string; sameBody: boolean };
  release: { baseHash: string };
  /** A `baseHash` that was sent is honoured; the delete forms may omit it. */
  purge: { version: number; baseHash?: string | undefined };
  purgeEntity: { baseHash?: string | undefined };
  discard: { version: number };
  restore: { version: number };
  switch: { version: number };
  import: { version?: number | undefined; bodyHash: string };
}
export type Verb = keyof VerbInputs;

/** One change of stored rows; the SQL for each is in `statements.ts`. */
export type Effect =
  | { kind: 'none' }
  | { kind: 'insertDraft'; version: number }
  | { kind: 'overwriteDraft'; version: number; baseHash: string }
  | { kind: 'insertReleased'; version: number }
  | { kind: 'release'; version: number; baseHash: string }
  | { kind: 'discard'; version: number }
  | { kind: 'restore'; version: number }
  | { kind: 'deleteVersion'; version: number; baseHash?: string | undefined }
  | { kind: 'deleteEntity'; version: number; baseHash?: string | undefined };

/** Short codes of contract 05 §10; `refusal()` gives them their family's catalogued code. */
export type RefusalReason =
  | 'authoring_disabled'
  | 'not_found'
  | 'conflict'
  | 'not_draft'
  | 'not_released'
  | 'not_discarded'
  | 'last_release'
  | 'not_eligible';

export interface Refused {
  allowed: false;
  reason: RefusalReason;
  /** The version the refusal is about, where there is one. */
  subject?: VersionState | undefined;
}
export interface Allowed {
  allowed: true;
  effect: Effect;
  /** The pointer after the verb. */
  currentVersion: number | null;
}
export type Decision = Allowed | Refused;

type Row<V extends Verb> = (state: EntityState, input: VerbInputs[V], posture: Posture) => Decision;

const refuse = (reason: RefusalReason, subject?: VersionState): Refused => ({ allowed: false, reason, subject });
const allow = (effect: Effect, currentVersion: number | null): Allowed => ({ allowed: true, effect, currentVersion });
const find = (state: EntityState, number: number): VersionState | undefined =>
  state.versions.find(({ version }) => version === number);
const stale = (subject: VersionState, baseHash: string | undefined): boolean =>
  baseHash !== undefined && baseHash !== subject.bodyHash;

/** The pointer when `version` leaves the eligible set: it falls to highest() only if it named that version. */
function pointerWithout(state: EntityState, version: number, posture: Posture): number | null {
  if (state.currentVersion !== version) return state.currentVersion;
  return highest(
    state.versions.filter((candidate) => candidate.version !== version),
    posture,
  );
}

/** A verb on a version that must be in exactly one status. */
function fromStatus(
  status: VersionStatus,
  otherwise: RefusalReason,
  then: (state: EntityState, subject: VersionState, posture: Posture) => Decision,
): Row<'discard' | 'restore'> {
  return (state, input, posture) => {
    const subject = find(state, input.version);
    if (!subject) return refuse('not_found');
    return subject.status === status ? then(state, subject, posture) : refuse(otherwise, subject);
  };
}

/** The one table of transitions, for pipelines and templates alike (contract 05 §10). */
const TRANSITIONS: { [V in Verb]: Row<V> } = {
  create: (state) =>
    state.versions.length === 0 ? allow({ kind: 'insertDraft', version: 1 }, null) : refuse('conflict', working(state)),

  write: (state, { baseHash, sameBody }) => {
    const subject = working(state);
    if (!subject) return refuse('conflict', state.versions.at(-1));
    if (stale(subject, baseHash)) return refuse('conflict', subject);
    if (subject.status === 'DRAFT') {
      return allow({ kind: 'overwriteDraft', version: subject.version, baseHash }, state.currentVersion);
    }
    return allow(
      sameBody ? { kind: 'none' } : { kind: 'insertDraft', version: nextVersion(state.versions) },
      state.currentVersion,
    );
  },

  release: (state, { baseHash }) => {
    const draft = draftOf(state);
    if (!draft) return refuse('not_draft', working(state));
    if (stale(draft, baseHash)) return refuse('conflict', draft);
    return allow({ kind: 'release', version: draft.version, baseHash }, draft.version);
  },

  purge: (state, { version, baseHash }, posture) => {
    const subject = find(state, version);
    if (!subject) return refuse('not_found');
    if (subject.status !== 'DRAFT') return refuse('last_release', subject);
    if (stale(subject, baseHash)) return refuse('conflict', subject);
    if (state.versions.length === 1) return allow({ kind: 'deleteEntity', version, baseHash }, null);
    return allow({ kind: 'deleteVersion', version, baseHash }, pointerWithout(state, version, posture));
  },

  purgeEntity: (state, { baseHash }) => {
    const [only, ...others] = state.versions;
    if (!only) return refuse('not_found');
    if (others.length > 0 || only.status !== 'DRAFT') return refuse('last_release', working(state));
    if (stale(only, baseHash)) return refuse('conflict', only);
    return allow({ kind: 'deleteEntity', version: only.version, baseHash }, null);
  },

  discard: fromStatus('RELEASED', 'not_released', (state, { version }, posture) =>
    allow({ kind: 'discard', version }, pointerWithout(state, version, posture)),
  ),

  restore: fromStatus('DISCARDED', 'not_discarded', (state, { version }) => {
    const rises = state.currentVersion === null || version > state.currentVersion;
    return allow({ kind: 'restore', version }, rises ? version : state.currentVersion);
  }),

  switch: (state, { version }, posture) => {
    const subject = find(state, version);
    if (!subject) return refuse('not_found');
    return isEligible(subject, posture) ? allow({ kind: 'none' }, version) : refuse('not_eligible', subject);
  },

  import: (state, { version, bodyHash }) => {
    const number = version ?? nextVersion(state.versions);
    const existing = find(state, number);
    if (!existing) return allow({ kind: 'insertReleased', version: number }, state.currentVersion ?? number);
    const same = existing.status === 'RELEASED' && existing.bodyHash === bodyHash;
    return same ? allow({ kind: 'none' }, state.currentVersion) : refuse('conflict', existing);
  },
};

/** Verbs that stay possible on a deployment that only receives. */
const WITHOUT_AUTHORING: ReadonlySet<Verb> = new Set<Verb>(['switch', 'import']);

/** Judges one verb. Pure: the caller holds the entity's row lock and carries the effect out with guarded SQL. */
export function decide<V extends Verb>(verb: V, state: EntityState, input: VerbInputs[V], posture: Posture): Decision {
  if (!posture.authoringEnabled && !WITHOUT_AUTHORING.has(verb)) return refuse('authoring_disabled');
  return TRANSITIONS[verb](state, input, posture);
}

/** The state after an allowed decision; `bodyHash` is the hash of a row the effect writes. */
export function after(state: EntityState, decision: Allowed, bodyHash = ''): EntityState {
  const { effect, currentVersion } = decision;
  const set = (version: number, status: VersionStatus, hash?: string): VersionState[] => [
    ...state.versions.filter((candidate) => candidate.version !== version),
    { version, status, bodyHash: hash ?? find(state, version)?.bodyHash ?? '' },
  ];
  const versions = ((): readonly VersionState[] => {
    switch (effect.kind) {
      case 'none':
        return state.versions;
      case 'insertDraft':
      case 'overwriteDraft':
        return set(effect.version, 'DRAFT', bodyHash);
      case 'insertReleased':
        return set(effect.version, 'RELEASED', bodyHash);
      case 'release':
      case 'restore':
        return set(effect.version, 'RELEASED');
      case 'discard':
        return set(effect.version, 'DISCARDED');
      case 'deleteVersion':
      case 'deleteEntity':
        return state.versions.filter((candidate) => candidate.version !== effect.version);
    }
  })();
  return { versions: [...versions].sort((a, b) => a.version - b.version), currentVersion };
}

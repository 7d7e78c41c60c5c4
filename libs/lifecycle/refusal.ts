import { PenstockError, toWireStamp, type ErrorCode } from '#libs/kernel/pure';
import type { Refused, RefusalReason } from './decide.js';
import type { VersionState } from './version-state.js';

export type VersionedFamily = 'pipeline' | 'template';

/** Sentences that say what to do; `{version}` is the version the refusal is about. */
const SENTENCES: Record<RefusalReason, string> = {
  authoring_disabled: 'This deployment only receives released content: author on the development deployment.',
  not_found: 'There is no such version.',
  conflict: 'The version changed since it was read: read it again and repeat with its body_hash.',
  not_draft: 'There is no draft: write a change first, then release it.',
  not_released: 'Only a RELEASED version can be discarded; a DRAFT is purged instead.',
  not_discarded: 'Only a DISCARDED version can be restored.',
  last_release: 'Only a DRAFT is purged; a version that was released is discarded instead, and its number stays taken.',
  not_eligible: 'The pointer can only name a released version (or, where authoring is enabled, a draft).',
};

/** The catalogued code of a refusal, per family (contract 05 §10, §15). */
export function refusalCode(family: VersionedFamily, reason: RefusalReason): ErrorCode {
  if (reason === 'authoring_disabled') return `${family}.authoring.disabled`;
  if (reason === 'not_found') return family === 'pipeline' ? 'pipeline.execution.not_found' : 'template.not_found';
  return `${family}.version.${reason}`;
}

/** What stands where a verb wanted to go; a conflict also names the hash to build on, its writer and when. */
function standing(reason: RefusalReason, subject: VersionState): Record<string, unknown> {
  const found = { version: subject.version, current_status: subject.status };
  if (reason !== 'conflict') return found;
  return {
    ...found,
    current_body_hash: subject.bodyHash,
    updated_by: subject.updatedBy ?? null,
    updated_at: subject.updatedAt ? toWireStamp(subject.updatedAt) : null,
  };
}

/** The error of a refused verb; `facts` are further details. */
export function refusal(
  family: VersionedFamily,
  refused: Pick<Refused, 'reason' | 'subject'>,
  facts: Record<string, unknown> = {},
): PenstockError {
  const { reason, subject } = refused;
  return new PenstockError(refusalCode(family, reason), {
    message: SENTENCES[reason],
    details: { ...(subject ? standing(reason, subject) : {}), ...facts },
  });
}

/** Another transaction holds what this one needs, for longer than it may wait (contract 05 §10.1). */
export function busy(family: VersionedFamily): PenstockError {
  return new PenstockError(`${family}.version.conflict`, {
    message: 'Somebody else is changing this right now: try again in a moment.',
    details: { reason: 'busy' },
  });
}

import { PenstockError } from '#libs/kernel';
import type { FailedCheck } from './ports.js';

const MIN_REASON_CHARS = 10;

export function checksFailed(checks: readonly FailedCheck[]): PenstockError {
  return new PenstockError('pipeline.check.failed', {
    message: `${checks.length} of the release checks did not pass; nothing was released.`,
    details: { checks },
  });
}

/**
 * The reason for releasing in spite of failed checks, trimmed.
 * @throws PenstockError `pipeline.execution.invalid_parameter_type` for one that says too little
 */
export function overrideReason(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const reason = given.trim();
  if (reason.length >= MIN_REASON_CHARS) return reason;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `Say in ${MIN_REASON_CHARS} characters or more why the failed checks do not matter.`,
    details: { field: 'override_checks_reason', reason: 'bounds' },
  });
}

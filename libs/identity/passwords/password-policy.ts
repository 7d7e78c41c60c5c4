import { PenstockError } from '#libs/kernel';
import { BreachedPasswords } from './breached-passwords.js';
import { isCommonPassword } from './common-passwords.js';

const MIN_CODE_POINTS = 12;
const MAX_CODE_POINTS = 128;
/** Shorter parts of a name occur in innocent words. */
const MIN_IDENTITY_PART = 4;

const breached = new BreachedPasswords(MIN_CODE_POINTS);

export type PolicyReason = 'too_short' | 'too_long' | 'common' | 'contains_identity';

/**
 * The rule a new password breaks (contract 04 §4.3). Length and novelty are asked for, never composition. Whether it is
 * unchanged only the hash can tell.
 */
export async function policyViolation(
  password: string,
  identity: { email: string; displayName: string },
): Promise<PolicyReason | undefined> {
  const length = Array.from(password).length;
  if (length < MIN_CODE_POINTS) return 'too_short';
  if (length > MAX_CODE_POINTS) return 'too_long';
  if (isCommonPassword(password) || (await breached.has(password))) return 'common';
  const lower = password.toLowerCase();
  if (identityParts(identity).some((part) => lower.includes(part))) return 'contains_identity';
  return undefined;
}

/** Whether a presented password could be stored at all; a longer one is not worth hashing. */
export function isStorable(password: string): boolean {
  return password.length <= 2 * MAX_CODE_POINTS && Array.from(password).length <= MAX_CODE_POINTS;
}

export function refuseByPolicy(reason: PolicyReason | 'unchanged'): never {
  throw new PenstockError('auth.password.policy_violation', {
    message: SENTENCES[reason],
    details: { field: 'new_password', reason },
  });
}

const SENTENCES: Readonly<Record<PolicyReason | 'unchanged', string>> = {
  too_short: `A password has at least ${MIN_CODE_POINTS} characters; a few unrelated words do well.`,
  too_long: `A password has at most ${MAX_CODE_POINTS} characters.`,
  common: 'This password is among the first that an attacker tries; choose one that nobody else would.',
  contains_identity: 'A password must not contain your name or e-mail address.',
  unchanged: 'The new password is the same as the current one.',
};

function identityParts({ email, displayName }: { email: string; displayName: string }): string[] {
  const local = email.split('@')[0] ?? '';
  return [local, ...displayName.split(/\s+/)]
    .map((part) => part.toLowerCase())
    .filter((part) => Array.from(part).length >= MIN_IDENTITY_PART);
}

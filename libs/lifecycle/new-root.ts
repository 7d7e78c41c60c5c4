import { PenstockError } from '#libs/kernel/pure';
import type { VersionedFamily } from './refusal.js';

/** Where things are tried out; nobody is asked about it. */
const TRIAL_ROOT = 'test';
/** Roots that a refusal names. */
const MAX_ROOTS = 100;

/**
 * The refusal of a name whose top-level folder holds nothing yet: agents make new roots on purpose only (contract 05 §2).
 * Undefined when the root is known.
 */
export function newRootRefusal(
  family: VersionedFamily,
  name: string,
  existingRoots: readonly string[],
): PenstockError | undefined {
  const root = name.slice(0, Math.max(0, name.indexOf('/')));
  if (root === '' || root === TRIAL_ROOT || existingRoots.includes(root)) return undefined;
  const known =
    existingRoots.length === 0 ? 'There is none yet.' : `There are: ${existingRoots.slice(0, 20).join(', ')}.`;
  return new PenstockError(`${family}.validation.new_root_requires_confirmation`, {
    message: `“${root}” would be a new top-level folder. ${known} Use one of them, or confirm with confirm_new_root.`,
    details: { root, existing_roots: existingRoots.slice(0, MAX_ROOTS) },
  });
}

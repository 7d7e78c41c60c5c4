import { policyViolation, refuseByPolicy } from './password-policy.js';
import { SecretHasher } from './secret-hasher.js';

/**
 * The value of `auth.local.bootstrap-password-hash` for a first password (contract 04 §4.1). It must be changed at the
 * first sign-in and is held to the rules of passwords all the same, because until then it is one.
 *
 * @throws `auth.password.policy_violation`
 */
export async function hashSeedPassword(password: string): Promise<string> {
  const broken = await policyViolation(password, { email: '', displayName: '' });
  if (broken !== undefined) refuseByPolicy(broken);
  return new SecretHasher().hash(password);
}

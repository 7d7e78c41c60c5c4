import { Injectable } from '@nestjs/common';
import { Database, type Queryable } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { isStorable } from '../passwords/password-policy.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { UserRepository, type FailureCount, type LocalAccount } from '../users/user.repository.js';

/** An account whose password was found right; the hash it was judged by guards the write that follows. */
export type JudgedAccount = LocalAccount & { passwordHash: string };

export type Judgement =
  | { verdict: 'right'; account: JudgedAccount }
  | { verdict: 'wrong'; account?: JudgedAccount }
  | { verdict: 'locked'; account: LocalAccount }
  | { verdict: 'ghost_locked'; lockedUntil: string };

/** One password against one account, and the count of wrong ones (contract 04 §4.2). */
@Injectable()
export class PasswordJudge {
  constructor(
    private readonly db: Database,
    private readonly users: UserRepository,
    private readonly hasher: SecretHasher,
    private readonly settings: IdentitySettings,
  ) {}

  /**
   * Exactly one Argon2 verification, whether or not the account exists or has a password, and none while it is locked.
   * The lock is read inside the gate: a burst of guesses cannot all slip past it while they queue.
   *
   * @param ghostLock end of the lock of an address that no account with a password has
   */
  judge(
    find: (q: Queryable, oneTimeHours: number) => Promise<LocalAccount | undefined>,
    password: string,
    ghostLock: () => Promise<string | undefined> = async () => undefined,
  ): Promise<Judgement> {
    return this.hasher.judged(async (checks): Promise<Judgement> => {
      const account = await find(this.db, this.settings.oneTimePasswordHours);
      if (account?.locked) return { verdict: 'locked', account };
      if (!isLocal(account)) {
        const lockedUntil = await ghostLock();
        if (lockedUntil !== undefined) return { verdict: 'ghost_locked', lockedUntil };
        await checks.matchesNothing(isStorable(password) ? password : '');
        return { verdict: 'wrong' };
      }
      if (!isStorable(password)) {
        await checks.matchesNothing('');
        return { verdict: 'wrong', account };
      }
      const right = await checks.matches(account.passwordHash, password);
      return { verdict: right ? 'right' : 'wrong', account };
    });
  }

  /** Counts a wrong password in the caller's transaction; undefined when the account was locked meanwhile. */
  countFailure(tx: Queryable, account: LocalAccount): Promise<FailureCount | undefined> {
    return this.users.countFailure(tx, account.id, this.settings.lockoutFailures, this.settings.lockoutMinutes);
  }
}

/** OIDC-only rows have no hash, and no sign-in path accepts the system actor. */
function isLocal(account: LocalAccount | undefined): account is JudgedAccount {
  return account !== undefined && account.passwordHash !== null && account.provider !== 'system';
}

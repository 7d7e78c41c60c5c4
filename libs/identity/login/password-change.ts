import { Injectable } from '@nestjs/common';
import { AuditLog, AuditObserver } from '#libs/audit';
import { Clock, PenstockError, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { authoriseSelf } from '../authorise.js';
import { Invalidations } from '../liveness/invalidations.js';
import { policyViolation, refuseByPolicy } from '../passwords/password-policy.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { SessionIssuer } from '../sessions/session-issuer.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { UserRepository } from '../users/user.repository.js';
import { lockRefusal } from './lock-refusal.js';
import { PasswordJudge, type JudgedAccount } from './password-judge.js';

/** Changing one's own password; wrong current ones count like wrong logins (contract 04 §4.3). */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly db: Database,
    private readonly users: UserRepository,
    private readonly judge: PasswordJudge,
    private readonly hasher: SecretHasher,
    private readonly sessions: SessionRepository,
    private readonly issuer: SessionIssuer,
    private readonly audit: AuditLog,
    private readonly observer: AuditObserver,
    private readonly invalidations: Invalidations,
    private readonly clock: Clock,
  ) {}

  /**
   * Sets the password, clears the forced change and ends the other sessions.
   *
   * @throws `auth.password.no_local_account`, `auth.login.locked`, `auth.password.current_invalid`,
   *   `auth.password.policy_violation` with the `reason`
   */
  async change(principal: Principal, current: string, next: string): Promise<void> {
    authoriseSelf(principal, 'profile.password');
    const judgement = await this.judge.judge((q, hours) => this.users.accountById(q, principal.userId, hours), current);
    if (judgement.verdict === 'locked') throw lockRefusal(judgement.account.lockedUntil);
    if (!('account' in judgement) || !judgement.account) throw new PenstockError('auth.password.no_local_account');
    if (judgement.verdict === 'wrong') return this.#refuseWrong(principal, judgement.account);
    await this.#requirePolicy(principal, judgement.account, current, next);

    const { account } = judgement;
    const passwordHash = await this.hasher.hash(next);
    const changed = await this.db.transaction(async (tx) => {
      if (!(await this.users.changePassword(tx, account.id, account.passwordHash, passwordHash))) return false;
      const now = this.clock.now();
      const ended = await this.sessions.revokeOthers(tx, account.id, principal.sessionId, now, 'password_changed');
      await this.issuer.recordEnds(tx, principal, ended, 'password_changed');
      await this.audit.append(tx, principal, 'auth.password.changed', {});
      this.invalidations.announce(tx, 'user', account.id);
      return true;
    });
    // Somebody else changed or locked it meanwhile: what was presented as current is so no more.
    if (!changed) throw new PenstockError('auth.password.current_invalid');
  }

  async #requirePolicy(principal: Principal, account: JudgedAccount, current: string, next: string): Promise<void> {
    const reason = next === current ? 'unchanged' : await policyViolation(next, account);
    if (reason === undefined) return;
    await this.observer.observe(principal, 'auth.password.change_failed', { reason });
    refuseByPolicy(reason);
  }

  async #refuseWrong(principal: Principal, account: JudgedAccount): Promise<never> {
    const counted = await this.db.transaction(async (tx) => {
      const count = await this.judge.countFailure(tx, account);
      if (count) await this.audit.append(tx, principal, 'auth.password.change_failed', { reason: 'current_invalid' });
      if (count?.lockedUntil) await this.audit.append(tx, principal, 'auth.password.change_locked', {});
      return count;
    });
    if (!counted) throw lockRefusal(account.lockedUntil);
    throw new PenstockError('auth.password.current_invalid', { details: { field: 'current_password' } });
  }
}

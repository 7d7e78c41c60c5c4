import { Injectable } from '@nestjs/common';
import type { AuditActor } from '#libs/audit';
import { PenstockError, type Principal } from '#libs/kernel';
import { IdentitySettings } from '../identity-settings.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { SessionService } from '../sessions/session.service.js';
import { normalEmail } from '../users/email.js';
import { UserRepository } from '../users/user.repository.js';
import { GhostLockouts } from './ghost-lockouts.js';
import { LoginRefusals } from './login-refusals.js';
import { PasswordChange } from './password-change.js';
import { PasswordJudge, type JudgedAccount } from './password-judge.js';
import { SignIn, type LoginFacts, type LoginOutcome } from './sign-in.js';

/** Signing in with a local password, changing it, signing out (contract 04 §4.2–4.4). */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UserRepository,
    private readonly judge: PasswordJudge,
    private readonly hasher: SecretHasher,
    private readonly ghosts: GhostLockouts,
    private readonly signIn: SignIn,
    private readonly refusals: LoginRefusals,
    private readonly sessions: SessionService,
    private readonly passwords: PasswordChange,
    private readonly settings: IdentitySettings,
  ) {}

  /**
   * @throws `auth.login.bad_credentials` for an unknown address, an account without a password, a wrong and a dead
   *   one-time password alike; `auth.login.locked`, `auth.login.user_inactive`, `auth.user.email_invalid`;
   *   `request.not_found` where local accounts are off
   */
  async login(email: string, password: string, facts: LoginFacts): Promise<LoginOutcome> {
    if (!this.settings.localAccounts) throw new PenstockError('request.not_found');
    const address = normalEmail(email);
    const judgement = await this.judge.judge(
      (q, hours) => this.users.accountByEmail(q, address, hours),
      password,
      () => this.ghosts.lockedUntil(address),
    );
    if (judgement.verdict === 'ghost_locked') {
      return this.refusals.locked(facts, { email: address, lockedUntil: judgement.lockedUntil });
    }
    const actor: AuditActor = { ...facts, userId: judgement.account?.id };
    switch (judgement.verdict) {
      case 'locked':
        return this.refusals.locked(actor, judgement.account);
      case 'wrong':
        return this.refusals.wrong(actor, address, judgement.account);
      case 'right':
        return this.#enter(actor, judgement.account, password, facts);
    }
  }

  logout(principal: Principal): Promise<void> {
    return this.sessions.logout(principal);
  }

  changePassword(principal: Principal, current: string, next: string): Promise<void> {
    return this.passwords.change(principal, current, next);
  }

  async #enter(actor: AuditActor, account: JudgedAccount, password: string, facts: LoginFacts): Promise<LoginOutcome> {
    if (!account.isActive) return this.refusals.inactive(actor, account);
    if (account.oneTimeExpired) return this.refusals.badCredentials(actor, account.email, 'one_time_expired');
    const { id, passwordHash } = account;
    const renewed = this.hasher.isOutdated(passwordHash) ? await this.hasher.hash(password) : undefined;
    const outcome = await this.signIn.complete('pwd', facts, async (tx) => {
      const login = await this.users.enterLogin(tx, id, passwordHash);
      if (login && renewed !== undefined) await this.users.rehash(tx, id, passwordHash, renewed);
      return login && { user: account, firstLogin: login.firstLogin };
    });
    return outcome ?? this.refusals.overtaken(actor, account);
  }
}

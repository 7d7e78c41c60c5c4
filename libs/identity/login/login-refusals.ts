import { Injectable } from '@nestjs/common';
import { AuditLog, AuditObserver, type AuditActor } from '#libs/audit';
import { PenstockError, toWireStamp } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { UserRepository, type LocalAccount } from '../users/user.repository.js';
import { GhostLockouts } from './ghost-lockouts.js';
import { lockRefusal } from './lock-refusal.js';
import { PasswordJudge, type JudgedAccount } from './password-judge.js';

/** The ways a password login ends without a session, each with its count, its audit row and its code. */
@Injectable()
export class LoginRefusals {
  constructor(
    private readonly db: Database,
    private readonly users: UserRepository,
    private readonly judge: PasswordJudge,
    private readonly ghosts: GhostLockouts,
    private readonly audit: AuditLog,
    private readonly observer: AuditObserver,
    private readonly settings: IdentitySettings,
  ) {}

  /** An unknown address and a wrong password look alike from outside; both are counted. */
  async wrong(actor: AuditActor, email: string, account: JudgedAccount | undefined): Promise<never> {
    if (!account) return this.#wrongGhost(actor, email);
    const counted = await this.db.transaction(async (tx) => {
      const count = await this.judge.countFailure(tx, account);
      if (count) await this.audit.append(tx, actor, 'auth.login.bad_credentials', { email });
      if (count?.lockedUntil) {
        await this.audit.append(tx, actor, 'auth.login.locked', {
          email,
          locked_until: toWireStamp(count.lockedUntil),
        });
      }
      return count;
    });
    if (!counted) return this.overtaken(actor, account);
    throw new PenstockError('auth.login.bad_credentials');
  }

  /** Counted like an account's, or a lock would tell which addresses have one. */
  async #wrongGhost(actor: AuditActor, email: string): Promise<never> {
    const count = await this.ghosts.count(email);
    await this.observer.observe(actor, 'auth.login.bad_credentials', { email });
    if (count?.lockedUntil !== undefined) {
      const locked_until = toWireStamp(count.lockedUntil);
      await this.observer.observe(actor, 'auth.login.locked', { email, locked_until });
    }
    throw new PenstockError('auth.login.bad_credentials');
  }

  async badCredentials(actor: AuditActor, email: string, reason?: string): Promise<never> {
    await this.observer.observe(actor, 'auth.login.bad_credentials', { email, reason });
    throw new PenstockError('auth.login.bad_credentials');
  }

  async locked(actor: AuditActor, { email, lockedUntil }: Pick<LocalAccount, 'email' | 'lockedUntil'>): Promise<never> {
    await this.observer.observe(actor, 'auth.login.bad_credentials', { email, reason: 'locked' });
    throw lockRefusal(lockedUntil);
  }

  async inactive(actor: AuditActor, { email, provider }: LocalAccount): Promise<never> {
    await this.observer.observe(actor, 'auth.login.user_inactive', { email, provider });
    throw new PenstockError('auth.login.user_inactive');
  }

  /** The account changed between judgement and write: it was locked, deactivated or given another password. */
  async overtaken(actor: AuditActor, account: LocalAccount): Promise<never> {
    const now = await this.users.accountById(this.db, account.id, this.settings.oneTimePasswordHours);
    if (now?.locked) return this.locked(actor, now);
    return this.badCredentials(actor, account.email, 'changed');
  }
}

import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog, AuditObserver, inetOf, type AuditActor } from '#libs/audit';
import { isPenstockError, Logger, newId, PenstockError } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import { Database } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { FifoGate } from '../passwords/fifo-gate.js';
import { policyViolation, refuseByPolicy } from '../passwords/password-policy.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { AccessEnds } from '../sessions/access-ends.js';
import { normalEmail } from '../users/email.js';
import { ResetTokenRepository, type LiveResetToken } from './reset-token.repository.js';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Requests that are worked on at once, and that wait. */
const AT_ONCE = 2;
const WAITING = 200;

/** Choosing a new password without the old one, by a link in a mail (contract 04 §4.5). */
@Injectable()
export class PasswordReset {
  readonly #gate = new FifoGate(AT_ONCE, WAITING);
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly db: Database,
    private readonly tokens: ResetTokenRepository,
    private readonly hasher: SecretHasher,
    private readonly ends: AccessEnds,
    private readonly mail: MailNotices,
    private readonly audit: AuditLog,
    private readonly observer: AuditObserver,
    private readonly settings: IdentitySettings,
    private readonly log: Logger,
  ) {}

  get enabled(): boolean {
    return this.settings.localAccounts && this.settings.selfServiceReset && this.mail.enabled;
  }

  /**
   * Answers before it looks: whoever asks learns nothing of the account, by the answer or by its time. A link goes to an
   * open local account, at most so many an hour.
   *
   * @throws `auth.user.email_invalid`; `request.not_found` where this is off
   */
  request(address: string, facts: AuditActor): void {
    this.#requireEnabled();
    const email = normalEmail(address);
    const work = this.#mintQuietly(email, facts).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /**
   * Sets the password, ends every session and every other link of the person.
   *
   * @throws `auth.password.reset_invalid`, one answer for whatever is wrong with the link;
   *   `auth.password.policy_violation`, which leaves the link alive; `request.not_found` where this is off
   */
  async confirm(token: string, next: string, facts: AuditActor): Promise<void> {
    this.#requireEnabled();
    const live = TOKEN.test(token) ? await this.tokens.findLive(this.db, hashOf(token)) : undefined;
    if (!live) throw new PenstockError('auth.password.reset_invalid');
    const actor = { ...facts, userId: live.userId };
    await this.#requirePolicy(live, next, actor);
    const passwordHash = await this.hasher.hash(next);
    await this.db.transaction(async (tx) => {
      if (!(await this.tokens.use(tx, live.id)) || !(await this.tokens.setPassword(tx, live, passwordHash))) {
        throw new PenstockError('auth.password.reset_invalid');
      }
      await this.audit.append(tx, actor, 'auth.password.reset_completed', { token_id: live.id });
      await this.ends.everythingOf(tx, actor, live.userId, 'password_reset');
    });
  }

  /** Waits for the requests under way; for shutdown and tests. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Nobody waits for this, so nobody can be told: a failure is logged. */
  async #mintQuietly(email: string, facts: AuditActor): Promise<void> {
    try {
      await this.#gate.run(() => this.#mint(email, facts));
    } catch (error) {
      const reason = isPenstockError(error) ? error.code : 'failed';
      this.log.warn('A reset link could not be made; the person may ask again.', { reason, error });
    }
  }

  async #mint(email: string, facts: AuditActor): Promise<void> {
    const { resetMaxPerHour, resetTokenMinutes } = this.settings;
    await this.db.transaction(async (tx) => {
      const person = await this.tokens.holdResettable(tx, email);
      if (!person || (await this.tokens.mintedWithinAnHour(tx, person.id)) >= resetMaxPerHour) return;
      const secret = randomBytes(TOKEN_BYTES).toString('base64url');
      const id = newId();
      await this.tokens.insert(tx, {
        id,
        userId: person.id,
        tokenHash: hashOf(secret),
        minutes: resetTokenMinutes,
        requestedIp: inetOf(facts.sourceIp),
      });
      const actor = { ...facts, userId: person.id };
      await this.audit.append(tx, actor, 'auth.password.reset_requested', { token_id: id });
      await this.mail.announce(tx, actor, { kind: 'password_reset', person, actId: id, resetToken: secret });
    });
  }

  async #requirePolicy(live: LiveResetToken, next: string, actor: AuditActor): Promise<void> {
    const broken = await policyViolation(next, live);
    const reason = broken ?? ((await this.hasher.matches(live.passwordHash, next)) ? 'unchanged' : undefined);
    if (reason === undefined) return;
    await this.observer.observe(actor, 'auth.password.change_failed', { reason });
    refuseByPolicy(reason);
  }

  #requireEnabled(): void {
    if (!this.enabled) throw new PenstockError('request.not_found');
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

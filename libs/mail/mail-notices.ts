import { Injectable } from '@nestjs/common';
import type { AuditActor } from '#libs/audit';
import { Logger, newId } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { MailClaimRepository } from './mail-claims.repository.js';
import { MailDispatcher } from './mail-dispatcher.js';
import { MailSettings } from './mail-settings.js';
import { actOf, domainOf, type Notice } from './notice.js';

/** What the product has to say by mail (contract 04 §11). */
@Injectable()
export class MailNotices {
  constructor(
    private readonly claims: MailClaimRepository,
    private readonly dispatcher: MailDispatcher,
    private readonly settings: MailSettings,
    private readonly log: Logger,
  ) {}

  /** Whether messages are sent at all; where they are not, a one-time password is shown to whoever minted it. */
  get enabled(): boolean {
    return this.settings.via !== undefined;
  }

  /**
   * Claims a message in the transaction of the act it tells about, and sends it after the commit. An act that is rolled
   * back sends nothing; one that was told about before is not told about again.
   */
  async announce(tx: Transaction, actor: AuditActor, notice: Notice): Promise<void> {
    const { kind, person } = notice;
    const recipient = kind === 'new_user' ? this.settings.opsTo : person.email;
    if (recipient === undefined) return;
    if (!this.enabled) {
      tx.afterCommit(() => this.log.info('mail.skipped', { kind, domain: domainOf(recipient) }));
      return;
    }
    const claim = { id: newId(), userId: person.id, kind, actId: actOf(notice), recipient };
    if (!(await this.claims.claim(tx, claim))) return;
    tx.afterCommit(() => this.dispatcher.submit({ claim, notice, actor }));
  }
}

import { Injectable } from '@nestjs/common';
import { toWireStamp, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { MailClaimRepository, mailPlace, type MailKind, type MailSendRow } from '#libs/mail';
import { Database } from '#libs/persistence';
import { authoriseInstance } from '../authorise.js';

/** A message of ours, wire form; its body is nowhere. */
export interface MailSendView {
  id: string;
  user_id: string;
  kind: MailKind;
  recipient: string;
  /** PENDING: on its way, or its server died; the remedy is a new act. */
  status: 'PENDING' | 'SENT' | 'FAILED';
  claimed_at: string;
  sent_at: string | null;
  message_id: string | null;
  error: string | null;
  /** Its place in the list, for `after` and `before`. */
  cursor: string;
}

/** What was sent to whom, the newest first, for super administrators (contract 04 §11). */
@Injectable()
export class MailLedger {
  constructor(
    private readonly db: Database,
    private readonly claims: MailClaimRepository,
  ) {}

  async list(principal: Principal, page: KeysetPage): Promise<KeysetListing<MailSendView>> {
    authoriseInstance(principal, 'mail.read');
    const found = await this.claims.page(this.db, page);
    return { ...found, items: found.items.map(toView) };
  }

  async count(principal: Principal): Promise<number> {
    authoriseInstance(principal, 'mail.read');
    return this.claims.count(this.db);
  }
}

function toView(row: MailSendRow): MailSendView {
  return {
    id: row.id,
    user_id: row.userId,
    kind: row.kind,
    recipient: row.recipient,
    status: row.sentAt !== null ? 'SENT' : row.error !== null ? 'FAILED' : 'PENDING',
    claimed_at: toWireStamp(row.claimedAt),
    sent_at: row.sentAt === null ? null : toWireStamp(row.sentAt),
    message_id: row.messageId,
    error: row.error,
    cursor: mailPlace(row),
  };
}

import { Injectable } from '@nestjs/common';
import { keysetItems, KeysetOrder, type KeysetListing, type KeysetPage } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
import type { MailKind } from './notice.js';

export interface MailClaim {
  id: string;
  userId: string;
  kind: MailKind;
  actId: string;
  recipient: string;
}

/** A row of the ledger; neither stamp nor error set means that it is not known yet. */
export interface MailSendRow extends MailClaim {
  claimedAt: string;
  sentAt: string | null;
  messageId: string | null;
  error: string | null;
}

const COLUMNS = `id, user_id AS "userId", kind, act_id AS "actId", recipient, claimed_at AS "claimedAt",
  sent_at AS "sentAt", message_id AS "messageId", error`;
const UNSETTLED = 'sent_at IS NULL AND error IS NULL';

/** SQL of a pattern that finds a text and nothing else. */
const literally = (text: string): string => `regexp_replace(${text}, '([][^$*+?(){}|.\\\\])', '\\\\\\1', 'g')`;

const NEWEST_FIRST = new KeysetOrder(
  { sql: 'claimed_at', kind: 'timestamptz', descending: true },
  { sql: 'id', kind: 'uuid' },
);

/** A row's place in the ledger, for `after` and `before`. */
export function mailPlace({ claimedAt, id }: MailSendRow): string {
  return KeysetOrder.place(claimedAt, id);
}

/** The rows behind messages. They are never deleted, and settled once (contract 04 §11). */
@Injectable()
export class MailClaimRepository {
  /** False when this message was claimed before: whoever inserts the row is the one to send. */
  async claim(tx: Queryable, claim: MailClaim): Promise<boolean> {
    const claimed = await tx.execute(
      `INSERT INTO mail_sends (id, user_id, kind, act_id, recipient) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [claim.id, claim.userId, claim.kind, claim.actId, claim.recipient],
    );
    return claimed === 1;
  }

  /**
   * The recipient as the row has it now: an erasure while the message was on its way took the address out (04 §3).
   * Undefined where the row was settled before.
   */
  async markSent(tx: Queryable, id: string, messageId: string): Promise<string | undefined> {
    const [row] = await tx.query<{ recipient: string }>(
      `UPDATE mail_sends SET sent_at = NOW(), message_id = $2 WHERE id = $1 AND ${UNSETTLED} RETURNING recipient`,
      [id, messageId],
    );
    return row?.recipient;
  }

  /** The same with the error as it was kept: without an address that the row itself has no longer. */
  async markFailed(
    tx: Queryable,
    { id, recipient }: Pick<MailClaim, 'id' | 'recipient'>,
    error: string,
  ): Promise<{ recipient: string; error: string } | undefined> {
    const [row] = await tx.query<{ recipient: string; error: string }>(
      `UPDATE mail_sends
          SET error = CASE WHEN recipient = $2 THEN $3
                           ELSE regexp_replace($3, ${literally('$2::text')}, '***', 'gi') END
        WHERE id = $1 AND ${UNSETTLED} RETURNING recipient, error`,
      [id, recipient, error],
    );
    return row;
  }

  /**
   * What was sent to somebody keeps its time and kind, but no address: not one of before the address changed, and none
   * that a server repeated (04 §3). What went to the operators keeps theirs.
   */
  async redactRecipient(tx: Queryable, userId: string, address: string, redacted: string): Promise<void> {
    await tx.execute(
      `UPDATE mail_sends SET recipient = CASE WHEN kind = 'new_user' THEN recipient ELSE $3 END,
              error = (
                SELECT regexp_replace(error, string_agg(${literally('held')}, '|'), '***', 'gi')
                  FROM (SELECT $2::text UNION
                        SELECT recipient FROM mail_sends WHERE user_id = $1 AND kind <> 'new_user') AS addresses (held))
        WHERE user_id = $1`,
      [userId, address, redacted],
    );
  }

  /** The newest first. */
  async page(q: Queryable, page: KeysetPage): Promise<KeysetListing<MailSendRow>> {
    const values: unknown[] = [];
    const beyond = NEWEST_FIRST.beyond(page, values);
    const tail = NEWEST_FIRST.tail(page, values);
    return keysetItems(
      await q.query<MailSendRow>(`SELECT ${COLUMNS} FROM mail_sends WHERE ${beyond} ${tail}`, values),
      page,
    );
  }

  async count(q: Queryable): Promise<number> {
    const [row] = await q.query<{ total: number }>('SELECT count(*)::int AS total FROM mail_sends');
    return row?.total ?? 0;
  }
}

import { Injectable } from '@nestjs/common';
import { isStamp, isUuid, type KeysetListing, type KeysetPage, type OffsetPage } from '#libs/kernel';
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

  async markSent(tx: Queryable, id: string, messageId: string): Promise<void> {
    await tx.execute(`UPDATE mail_sends SET sent_at = NOW(), message_id = $2 WHERE id = $1 AND ${UNSETTLED}`, [
      id,
      messageId,
    ]);
  }

  async markFailed(tx: Queryable, id: string, error: string): Promise<void> {
    await tx.execute(`UPDATE mail_sends SET error = $2 WHERE id = $1 AND ${UNSETTLED}`, [id, error]);
  }

  /** What was sent to somebody keeps its time and kind, but no address, not even one that a server repeated (04 §3). */
  async redactRecipient(tx: Queryable, userId: string, address: string, redacted: string): Promise<void> {
    await tx.execute(
      `UPDATE mail_sends SET recipient = CASE WHEN recipient = $2 THEN $3 ELSE recipient END,
              error = regexp_replace(error, $4, '***', 'gi')
        WHERE user_id = $1`,
      [userId, address, redacted, literal(address)],
    );
  }

  /** The newest first. */
  async list(q: Queryable, page: OffsetPage): Promise<MailSendRow[]> {
    return q.query<MailSendRow>(`SELECT ${COLUMNS} FROM mail_sends ORDER BY claimed_at DESC, id LIMIT $1 OFFSET $2`, [
      page.limit,
      page.offset,
    ]);
  }

  /** By key: `after` and `before` are `<claimed_at>~<id>`; undefined for one that is no such text. */
  async keyset(q: Queryable, page: KeysetPage): Promise<KeysetListing<MailSendRow> | undefined> {
    const backwards = page.last !== undefined;
    const cursor = backwards ? page.before : page.after;
    const place = cursor === undefined ? undefined : placeOf(cursor);
    if (place === null) return undefined;
    const size = page.last ?? page.first ?? 50;
    const rows = await q.query<MailSendRow>(
      `SELECT ${COLUMNS} FROM mail_sends
        WHERE $1::timestamptz IS NULL OR ${
          backwards
            ? '(claimed_at > $1 OR (claimed_at = $1 AND id < $2))'
            : '(claimed_at < $1 OR (claimed_at = $1 AND id > $2))'
        }
        ORDER BY ${backwards ? 'claimed_at, id DESC' : 'claimed_at DESC, id'} LIMIT $3`,
      [place?.claimedAt ?? null, place?.id ?? null, size + 1],
    );
    const more = rows.length > size;
    const items = rows.slice(0, size);
    return backwards
      ? { items: items.reverse(), hasNext: place !== undefined, hasPrevious: more }
      : { items, hasNext: more, hasPrevious: place !== undefined };
  }

  async count(q: Queryable): Promise<number> {
    const [row] = await q.query<{ total: number }>('SELECT count(*)::int AS total FROM mail_sends');
    return row?.total ?? 0;
  }
}

function placeOf(cursor: string): { claimedAt: string; id: string } | null {
  const [claimedAt = '', id = '', ...more] = cursor.split('~');
  return more.length === 0 && isStamp(claimedAt) && isUuid(id) ? { claimedAt, id } : null;
}

/** A text as a pattern that matches itself. */
function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '\\$&');
}

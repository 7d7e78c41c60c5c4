import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';

export interface NewResetToken {
  id: string;
  userId: string;
  tokenHash: Buffer;
  minutes: number;
  requestedIp: string | null;
}

/** A token that still opens its account. */
export interface LiveResetToken {
  id: string;
  userId: string;
  email: string;
  displayName: string;
  /** The hash it would replace; the write that follows is guarded by it. */
  passwordHash: string;
}

/** Somebody may be sent a link: an open account with a local password. */
const RESETTABLE = `u.is_active AND u.password_hash IS NOT NULL AND u.provider NOT IN ('system', 'erased')`;
const LIVE = 't.used_at IS NULL AND t.expires_at > NOW()';

/** Reset links. Only the SHA-256 of a token is stored (contract 04 §4.4, §4.5). */
@Injectable()
export class ResetTokenRepository {
  /** Holds the account, so that the links of an hour are counted one request after the other. */
  async holdResettable(
    tx: Queryable,
    email: string,
  ): Promise<{ id: string; email: string; displayName: string } | undefined> {
    const [row] = await tx.query<{ id: string; email: string; displayName: string }>(
      `SELECT u.id, u.email, u.display_name AS "displayName" FROM users u
        WHERE u.email = $1 AND ${RESETTABLE} FOR NO KEY UPDATE`,
      [email],
    );
    return row;
  }

  async mintedWithinAnHour(tx: Queryable, userId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM password_reset_tokens
        WHERE user_id = $1 AND created_at > NOW() - INTERVAL '1 hour'`,
      [userId],
    );
    return row?.count ?? 0;
  }

  async insert(tx: Queryable, token: NewResetToken): Promise<void> {
    await tx.execute(
      `INSERT INTO password_reset_tokens (id, user_id, token_hash, expires_at, requested_ip)
       VALUES ($1, $2, $3, NOW() + make_interval(mins => $4), $5)`,
      [token.id, token.userId, token.tokenHash, token.minutes, token.requestedIp],
    );
  }

  /** Undefined for one that is unknown, used, too old, or older than the password it would replace. */
  async findLive(q: Queryable, tokenHash: Buffer): Promise<LiveResetToken | undefined> {
    const [row] = await q.query<LiveResetToken>(
      `SELECT t.id, u.id AS "userId", u.email, u.display_name AS "displayName", u.password_hash AS "passwordHash"
         FROM password_reset_tokens t JOIN users u ON u.id = t.user_id
        WHERE t.token_hash = $1 AND ${LIVE} AND ${RESETTABLE}
          AND (u.password_changed_at IS NULL OR u.password_changed_at <= t.created_at)`,
      [tokenHash],
    );
    return row;
  }

  /** The one winner of all who present the token at once. */
  async use(tx: Queryable, id: string): Promise<boolean> {
    const used = await tx.execute(`UPDATE password_reset_tokens t SET used_at = NOW() WHERE t.id = $1 AND ${LIVE}`, [
      id,
    ]);
    return used === 1;
  }

  /** False when the account was closed or given another password since the token was looked up. */
  async setPassword(tx: Queryable, token: LiveResetToken, passwordHash: string): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE users u
          SET password_hash = $3, password_changed_at = NOW(), must_change_password = FALSE, failed_login_count = 0,
              locked_until = NULL, updated_at = NOW()
        WHERE u.id = $1 AND u.password_hash = $2 AND ${RESETTABLE}`,
      [token.userId, token.passwordHash, passwordHash],
    );
    return changed === 1;
  }

  /** What is left of somebody's links. */
  async useUp(tx: Queryable, userId: string): Promise<void> {
    await tx.execute('UPDATE password_reset_tokens SET used_at = NOW() WHERE user_id = $1 AND used_at IS NULL', [
      userId,
    ]);
  }

  /** One batch of links that died before a moment; how many went. */
  async purge(q: Queryable, before: Date, batch: number): Promise<number> {
    return q.execute(
      `DELETE FROM password_reset_tokens WHERE id IN (
         SELECT id FROM password_reset_tokens WHERE expires_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [before, batch],
    );
  }
}

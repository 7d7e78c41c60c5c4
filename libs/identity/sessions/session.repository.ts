import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';
import type { AuthenticationMethod } from './session-jwt.js';

export interface SessionRecord {
  id: string;
  userId: string;
  amr: AuthenticationMethod;
  expiresAt: string;
  lastSeenAt: string;
}

export interface SessionRow {
  id: string;
  amr: AuthenticationMethod;
  provider: string;
  createdAt: string;
  expiresAt: string;
  lastSeenAt: string;
  sourceIp: string | null;
  userAgent: string | null;
}

export interface NewSession {
  id: string;
  tokenHash: Buffer;
  userId: string;
  amr: AuthenticationMethod;
  provider: string;
  createdAt: Date;
  expiresAt: Date;
  sourceIp: string | null;
  userAgent: string | null;
}

export type RevocationReason =
  | 'logout'
  | 'replaced'
  | 'over_limit'
  | 'revoked'
  | 'password_changed'
  | 'password_reset'
  | 'password_disabled'
  | 'user_deactivated'
  | 'user_erased'
  | 'identity_reset';

export interface RevokedSession {
  id: string;
  /** Hex SHA-256 of the `sid`: the name under which instances cache the session. */
  hash: string;
}

const ENDED = `RETURNING id, encode(token_hash, 'hex') AS hash`;

/** Sessions are revoked, never deleted here; a job purges them long after their end (contract 04 §4.4). */
@Injectable()
export class SessionRepository {
  /** Undefined for an unknown and for a revoked session alike. */
  async findLive(q: Queryable, hash: Buffer): Promise<SessionRecord | undefined> {
    const [session] = await q.query<SessionRecord>(
      `SELECT id, user_id AS "userId", amr, expires_at AS "expiresAt", last_seen_at AS "lastSeenAt"
       FROM user_sessions WHERE token_hash = $1 AND revoked_at IS NULL`,
      [hash],
    );
    return session;
  }

  async listLive(q: Queryable, userId: string, now: Date, idleMinutes: number): Promise<SessionRow[]> {
    return q.query<SessionRow>(
      `SELECT id, amr, provider, created_at AS "createdAt", expires_at AS "expiresAt", last_seen_at AS "lastSeenAt",
              host(source_ip) AS "sourceIp", user_agent AS "userAgent"
       FROM user_sessions
       WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2
         AND ($3 = 0 OR last_seen_at > $2::timestamptz - make_interval(mins => $3))
       ORDER BY created_at DESC, id`,
      [userId, now, idleMinutes],
    );
  }

  async insert(q: Queryable, session: NewSession): Promise<void> {
    await q.execute(
      `INSERT INTO user_sessions (id, token_hash, user_id, amr, provider, created_at, expires_at, last_seen_at,
                                  source_ip, user_agent)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $6, $8, $9)`,
      [
        session.id,
        session.tokenHash,
        session.userId,
        session.amr,
        session.provider,
        session.createdAt,
        session.expiresAt,
        session.sourceIp,
        session.userAgent,
      ],
    );
  }

  /** At most one write a minute and session, whichever instance sees it. */
  async touch(q: Queryable, id: string, now: Date): Promise<void> {
    await q.execute(
      `UPDATE user_sessions SET last_seen_at = $2
       WHERE id = $1 AND revoked_at IS NULL AND last_seen_at <= $2::timestamptz - INTERVAL '1 minute'`,
      [id, now],
    );
  }

  async revokeByHash(q: Queryable, hash: Buffer, now: Date, reason: RevocationReason): Promise<RevokedSession[]> {
    return q.query<RevokedSession>(
      `UPDATE user_sessions SET revoked_at = $2, revoked_reason = $3 WHERE token_hash = $1 AND revoked_at IS NULL ${ENDED}`,
      [hash, now, reason],
    );
  }

  async revokeOwn(
    q: Queryable,
    userId: string,
    id: string,
    now: Date,
    reason: RevocationReason,
  ): Promise<RevokedSession[]> {
    return q.query<RevokedSession>(
      `UPDATE user_sessions SET revoked_at = $3, revoked_reason = $4
       WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL ${ENDED}`,
      [userId, id, now, reason],
    );
  }

  async revokeOthers(
    q: Queryable,
    userId: string,
    keptId: string | undefined,
    now: Date,
    reason: RevocationReason,
  ): Promise<RevokedSession[]> {
    return q.query<RevokedSession>(
      `UPDATE user_sessions SET revoked_at = $3, revoked_reason = $4
       WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid AND revoked_at IS NULL AND expires_at > $3 ${ENDED}`,
      [userId, keptId ?? null, now, reason],
    );
  }

  /** Ends the oldest live sessions beyond `limit`; the caller holds the user's row. */
  async revokeOverLimit(q: Queryable, userId: string, limit: number, now: Date): Promise<RevokedSession[]> {
    return q.query<RevokedSession>(
      `UPDATE user_sessions SET revoked_at = $3, revoked_reason = 'over_limit'
       WHERE id IN (
         SELECT id FROM user_sessions
         WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $3
         ORDER BY created_at DESC, id DESC OFFSET $2)
       ${ENDED}`,
      [userId, limit, now],
    );
  }

  /** One batch of sessions that expired before a moment; how many went. */
  async purge(q: Queryable, expiredBefore: Date, batch: number): Promise<number> {
    return q.execute(
      `DELETE FROM user_sessions WHERE id IN (
         SELECT id FROM user_sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [expiredBefore, batch],
    );
  }
}

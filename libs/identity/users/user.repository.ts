import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';

/** A user as the authenticator needs one. */
export interface UserRecord {
  id: string;
  email: string;
  displayName: string;
  provider: string;
  isActive: boolean;
  isAdmin: boolean;
  mustChangePassword: boolean;
}

/** A user as a password is judged against. */
export interface LocalAccount extends UserRecord {
  /** null: no local password was ever set. */
  passwordHash: string | null;
  /** The lock holds at this moment, by the database's clock. */
  locked: boolean;
  lockedUntil: string | null;
  /** A one-time password past its lifetime. */
  oneTimeExpired: boolean;
}

export interface NewUser {
  id: string;
  email: string;
  displayName: string;
  provider: string;
  subject: string;
  passwordHash?: string;
}

/** What a failed judgement left behind. */
export interface FailureCount {
  failures: number;
  lockedUntil: string | null;
}

const RECORD = `id, email, display_name AS "displayName", provider, is_active AS "isActive", is_admin AS "isAdmin",
  must_change_password AS "mustChangePassword"`;

const ACCOUNT = `${RECORD}, password_hash AS "passwordHash", locked_until AS "lockedUntil",
  COALESCE(locked_until > NOW(), FALSE) AS "locked",
  must_change_password AND COALESCE(password_changed_at < NOW() - make_interval(hours => $2), FALSE) AS "oneTimeExpired"`;

const UNLOCKED = '(locked_until IS NULL OR locked_until <= NOW())';

@Injectable()
export class UserRepository {
  async find(q: Queryable, id: string): Promise<UserRecord | undefined> {
    const [user] = await q.query<UserRecord>(`SELECT ${RECORD} FROM users WHERE id = $1`, [id]);
    return user;
  }

  async accountByEmail(q: Queryable, email: string, oneTimeHours: number): Promise<LocalAccount | undefined> {
    const [account] = await q.query<LocalAccount>(`SELECT ${ACCOUNT} FROM users WHERE email = $1`, [
      email,
      oneTimeHours,
    ]);
    return account;
  }

  async accountById(q: Queryable, id: string, oneTimeHours: number): Promise<LocalAccount | undefined> {
    const [account] = await q.query<LocalAccount>(`SELECT ${ACCOUNT} FROM users WHERE id = $1`, [id, oneTimeHours]);
    return account;
  }

  /** An account without rights. Undefined when the address or the identity is taken. */
  async insert(q: Queryable, user: NewUser): Promise<string | undefined> {
    const [row] = await q.query<{ id: string }>(
      `INSERT INTO users (id, email, display_name, provider, provider_subject, password_hash, password_changed_at,
                          must_change_password)
       VALUES ($1, $2, $3, $4, $5, $6::text, CASE WHEN $6::text IS NULL THEN NULL ELSE NOW() END, $6::text IS NOT NULL)
       ON CONFLICT DO NOTHING
       RETURNING id`,
      [user.id, user.email, user.displayName, user.provider, user.subject, user.passwordHash ?? null],
    );
    return row?.id;
  }

  /**
   * Counts one wrong password: the limit sets the lock, a lock that has passed starts from nothing. Undefined when
   * another attempt has locked the account meanwhile; the count then stays as it is (contract 04 §4.2).
   */
  async countFailure(q: Queryable, id: string, limit: number, lockMinutes: number): Promise<FailureCount | undefined> {
    const [row] = await q.query<FailureCount>(
      `UPDATE users
       SET failed_login_count = CASE WHEN locked_until IS NULL THEN failed_login_count + 1 ELSE 1 END,
           locked_until = CASE
             WHEN (CASE WHEN locked_until IS NULL THEN failed_login_count + 1 ELSE 1 END) >= $2
             THEN NOW() + make_interval(mins => $3)
           END,
           updated_at = NOW()
       WHERE id = $1 AND ${UNLOCKED}
       RETURNING failed_login_count AS failures, locked_until AS "lockedUntil"`,
      [id, limit, lockMinutes],
    );
    return row;
  }

  /**
   * Enters a login whose password was right. Undefined when the account was locked, deactivated or given another
   * password since it was judged. `firstLogin` is true for the first one ever.
   */
  async enterLogin(q: Queryable, id: string, judgedHash: string): Promise<{ firstLogin: boolean } | undefined> {
    // The row is locked first, so that logins of one person follow each other and count each other's sessions.
    const [before] = await q.query<{ firstLogin: boolean }>(
      `SELECT last_login_at IS NULL AS "firstLogin" FROM users
       WHERE id = $1 AND is_active AND password_hash = $2 AND ${UNLOCKED}
       FOR NO KEY UPDATE`,
      [id, judgedHash],
    );
    if (!before) return undefined;
    await q.execute(
      `UPDATE users SET failed_login_count = 0, locked_until = NULL, last_login_at = NOW(), updated_at = NOW()
       WHERE id = $1`,
      [id],
    );
    return before;
  }

  /** The same password under today's parameters. */
  async rehash(q: Queryable, id: string, judgedHash: string, passwordHash: string): Promise<void> {
    await q.execute('UPDATE users SET password_hash = $3, updated_at = NOW() WHERE id = $1 AND password_hash = $2', [
      id,
      judgedHash,
      passwordHash,
    ]);
  }

  /** False when the account was locked, deactivated or given another password since it was judged. */
  async changePassword(q: Queryable, id: string, judgedHash: string, passwordHash: string): Promise<boolean> {
    const changed = await q.execute(
      `UPDATE users
       SET password_hash = $3, password_changed_at = NOW(), must_change_password = FALSE, failed_login_count = 0,
           locked_until = NULL, updated_at = NOW()
       WHERE id = $1 AND password_hash = $2 AND is_active AND ${UNLOCKED}`,
      [id, judgedHash, passwordHash],
    );
    return changed === 1;
  }

  /** Arms a one-time password again that nobody used in time; false when it was used or still lives. */
  async rearmOneTimePassword(q: Queryable, id: string, passwordHash: string, oneTimeHours: number): Promise<boolean> {
    const changed = await q.execute(
      `UPDATE users
       SET password_hash = $2, password_changed_at = NOW(), failed_login_count = 0, locked_until = NULL, updated_at = NOW()
       WHERE id = $1 AND must_change_password AND is_active
         AND password_changed_at < NOW() - make_interval(hours => $3)`,
      [id, passwordHash, oneTimeHours],
    );
    return changed === 1;
  }
}

/** Row creation and invitation of one address wait for each other, so that no invitation is orphaned (04 §7.4). */
export async function lockEmail(tx: Queryable, email: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('penstock.email:' || $1, 0))::text`, [email]);
}

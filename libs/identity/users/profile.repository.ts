import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';

export type Theme = 'dark' | 'light';

export interface ActorRow {
  id: string;
  email: string;
  displayName: string;
  profilePictureUrl: string | null;
}

/** One's own account; what only a sign-in needs is not among its columns. */
export interface AccountRow {
  id: string;
  email: string;
  displayName: string;
  profilePictureUrl: string | null;
  provider: string;
  isActive: boolean;
  isAdmin: boolean;
  theme: string | null;
  hasPassword: boolean;
  passwordChangedAt: string | null;
  mustChangePassword: boolean;
  failedLoginCount: number;
  lockedUntil: string | null;
  createdAt: string;
  updatedAt: string;
  lastLoginAt: string | null;
}

export const ACCOUNT_COLUMNS = `id, email, display_name AS "displayName", profile_picture_url AS "profilePictureUrl", provider,
  is_active AS "isActive", is_admin AS "isAdmin", theme_preference AS theme, password_hash IS NOT NULL AS "hasPassword",
  password_changed_at AS "passwordChangedAt", must_change_password AS "mustChangePassword",
  failed_login_count AS "failedLoginCount", locked_until AS "lockedUntil", created_at AS "createdAt",
  updated_at AS "updatedAt", last_login_at AS "lastLoginAt"`;

@Injectable()
export class ProfileRepository {
  async theme(q: Queryable, userId: string): Promise<string | null> {
    const [row] = await q.query<{ theme: string | null }>('SELECT theme_preference AS theme FROM users WHERE id = $1', [
      userId,
    ]);
    return row?.theme ?? null;
  }

  /** NULL means no choice, not the default of today (seed §4.1). */
  async setTheme(q: Queryable, userId: string, theme: Theme | null): Promise<void> {
    await q.execute('UPDATE users SET theme_preference = $2, updated_at = NOW() WHERE id = $1', [userId, theme]);
  }

  async account(q: Queryable, userId: string): Promise<AccountRow | undefined> {
    const [row] = await q.query<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE id = $1`, [userId]);
    return row;
  }

  async actors(q: Queryable, ids: readonly string[]): Promise<ActorRow[]> {
    return q.query<ActorRow>(
      `SELECT id, email, display_name AS "displayName", profile_picture_url AS "profilePictureUrl"
       FROM users WHERE id = ANY($1::uuid[])`,
      [ids],
    );
  }

  /** Of the given users, those who share a workspace that `adminId` administers. */
  async administeredBy(q: Queryable, adminId: string, ids: readonly string[]): Promise<string[]> {
    const rows = await q.query<{ id: string }>(
      `SELECT DISTINCT other.user_id AS id
       FROM workspace_members mine JOIN workspace_members other ON other.workspace_id = mine.workspace_id
       WHERE mine.user_id = $1 AND mine.admin AND other.user_id = ANY($2::uuid[])`,
      [adminId, ids],
    );
    return rows.map(({ id }) => id);
  }
}

import { Injectable } from '@nestjs/common';
import { keysetItems, KeysetOrder, type KeysetListing, type KeysetPage } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
import { ACCOUNT_COLUMNS, type AccountRow } from '../users/profile.repository.js';

/** Somebody an administrator acts on, held until the commit. */
export interface HeldPerson {
  id: string;
  email: string;
  displayName: string;
  provider: string;
  isActive: boolean;
  isAdmin: boolean;
  hasPassword: boolean;
}

/** The system actor is no person; who was anonymised is still listed, because history names the row. */
const PEOPLE = `provider <> 'system'`;
const MATCHING = `${PEOPLE} AND ($1 = '' OR strpos(lower(email), $1) > 0 OR strpos(lower(display_name), $1) > 0)`;
const BY_ADDRESS = new KeysetOrder({ sql: 'email', kind: 'text' });
const NO_FAILURES = 'failed_login_count = 0, locked_until = NULL, updated_at = NOW()';

/** Users as administrators see and change them. */
@Injectable()
export class AdministrationRepository {
  /** By address, which `after` and `before` are. `search` is in lower case, part of an address or a name; empty finds everybody. */
  async page(q: Queryable, search: string, page: KeysetPage): Promise<KeysetListing<AccountRow>> {
    const values: unknown[] = [search];
    const beyond = BY_ADDRESS.beyond(page, values);
    const rows = await q.query<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM users WHERE ${MATCHING} AND ${beyond} ${BY_ADDRESS.tail(page, values)}`,
      values,
    );
    return keysetItems(rows, page);
  }

  async count(q: Queryable, search: string): Promise<number> {
    const [row] = await q.query<{ total: number }>(`SELECT count(*)::int AS total FROM users WHERE ${MATCHING}`, [
      search,
    ]);
    return row?.total ?? 0;
  }

  async find(q: Queryable, id: string): Promise<AccountRow | undefined> {
    const [row] = await q.query<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE id = $1 AND ${PEOPLE}`, [id]);
    return row;
  }

  /**
   * Holds the person together with every active super administrator, always in the order of their ids: who is counted
   * as one stays one until the commit, and two who demote each other wait for each other (contract 04 §3). The lock is
   * `NO KEY`, which orders all of this and lets rows that merely name a user pass.
   */
  async hold(tx: Queryable, id: string | undefined): Promise<{ person?: HeldPerson; superAdmins: string[] }> {
    const rows = await tx.query<HeldPerson>(
      `SELECT id, email, display_name AS "displayName", provider, is_active AS "isActive", is_admin AS "isAdmin",
              password_hash IS NOT NULL AS "hasPassword"
         FROM users
        WHERE (id = $1 AND provider NOT IN ('system', 'erased')) OR (is_admin AND is_active)
        ORDER BY id FOR NO KEY UPDATE`,
      [id ?? null],
    );
    const superAdmins = rows.filter(({ isAdmin, isActive }) => isAdmin && isActive).map((row) => row.id);
    const person = rows.find((row) => row.id === id);
    return person ? { person, superAdmins } : { superAdmins };
  }

  async setActive(tx: Queryable, id: string, active: boolean): Promise<void> {
    await tx.execute('UPDATE users SET is_active = $2, updated_at = NOW() WHERE id = $1', [id, active]);
  }

  async setAdmin(tx: Queryable, id: string, admin: boolean): Promise<void> {
    await tx.execute('UPDATE users SET is_admin = $2, updated_at = NOW() WHERE id = $1', [id, admin]);
  }

  async setOneTimePassword(tx: Queryable, id: string, passwordHash: string): Promise<void> {
    await tx.execute(
      `UPDATE users SET password_hash = $2, password_changed_at = NOW(), must_change_password = TRUE, ${NO_FAILURES}
        WHERE id = $1`,
      [id, passwordHash],
    );
  }

  async removePassword(tx: Queryable, id: string): Promise<void> {
    await tx.execute(
      `UPDATE users SET password_hash = NULL, password_changed_at = NULL, must_change_password = FALSE, ${NO_FAILURES}
        WHERE id = $1`,
      [id],
    );
  }

  /** False when nothing was counted against the person. */
  async unlock(tx: Queryable, id: string): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE users SET ${NO_FAILURES} WHERE id = $1 AND (failed_login_count > 0 OR locked_until IS NOT NULL)`,
      [id],
    );
    return changed === 1;
  }

  /** Back to a row that waits for its person: the next verified sign-in with the address is linked to it. */
  async resetIdentity(tx: Queryable, id: string): Promise<void> {
    await tx.execute(
      `UPDATE users SET provider = 'bootstrap', provider_subject = email, updated_at = NOW() WHERE id = $1`,
      [id],
    );
  }

  /** Nothing of the person is left in the row; its id stays, because history points at it. The new address. */
  async anonymise(tx: Queryable, id: string): Promise<string> {
    const email = `erased-${id}@erased.invalid`;
    await tx.execute(
      `UPDATE users
          SET email = $2, display_name = 'Erased user', profile_picture_url = NULL, provider = 'erased',
              provider_subject = $1::text, is_admin = FALSE, password_hash = NULL, password_changed_at = NULL,
              must_change_password = FALSE, theme_preference = NULL, ${NO_FAILURES}
        WHERE id = $1::uuid`,
      [id, email],
    );
    await tx.execute('UPDATE user_sessions SET source_ip = NULL, user_agent = NULL WHERE user_id = $1', [id]);
    await tx.execute('UPDATE api_keys SET last_used_ip = NULL, last_used_user_agent = NULL WHERE user_id = $1', [id]);
    await tx.execute('UPDATE password_reset_tokens SET requested_ip = NULL WHERE user_id = $1', [id]);
    return email;
  }

  /** The ids of the keys that lived until now. */
  async revokeKeys(tx: Queryable, userId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      'UPDATE api_keys SET is_revoked = TRUE WHERE user_id = $1 AND NOT is_revoked RETURNING id',
      [userId],
    );
    return rows.map(({ id }) => id);
  }
}

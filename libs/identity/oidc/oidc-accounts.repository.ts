import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';
import type { UserRecord } from '../users/user.repository.js';
import type { OidcIdentity } from './oidc-claims.js';

/** A row that an identity may belong to. */
export interface OidcAccount extends UserRecord {
  firstLogin: boolean;
}

const RECORD = `id, email, display_name AS "displayName", provider, is_active AS "isActive", is_admin AS "isAdmin",
  must_change_password AS "mustChangePassword", last_login_at IS NULL AS "firstLogin"`;

/** The rows behind identities of providers. Every read holds the row, so logins of one person follow each other. */
@Injectable()
export class OidcAccountRepository {
  async byIdentity(tx: Queryable, { provider, subject }: OidcIdentity): Promise<OidcAccount | undefined> {
    const [row] = await tx.query<OidcAccount>(
      `SELECT ${RECORD} FROM users WHERE provider = $1 AND provider_subject = $2 FOR NO KEY UPDATE`,
      [provider, subject],
    );
    return row;
  }

  async byEmail(tx: Queryable, email: string): Promise<OidcAccount | undefined> {
    const [row] = await tx.query<OidcAccount>(`SELECT ${RECORD} FROM users WHERE email = $1 FOR NO KEY UPDATE`, [
      email,
    ]);
    return row;
  }

  /** An account without rights. Undefined when the address or the identity is taken. */
  async insert(
    tx: Queryable,
    id: string,
    { email, displayName, pictureUrl, provider, subject }: OidcIdentity,
  ): Promise<OidcAccount | undefined> {
    const [row] = await tx.query<OidcAccount>(
      `INSERT INTO users (id, email, display_name, profile_picture_url, provider, provider_subject)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT DO NOTHING
       RETURNING ${RECORD}`,
      [id, email, displayName, pictureUrl, provider, subject],
    );
    return row;
  }

  /** Name, picture and time of login as the provider has them now. */
  async refresh(tx: Queryable, id: string, { displayName, pictureUrl }: OidcIdentity): Promise<void> {
    await tx.execute(
      `UPDATE users SET display_name = $2, profile_picture_url = $3, last_login_at = NOW(), updated_at = NOW()
       WHERE id = $1`,
      [id, displayName, pictureUrl],
    );
  }

  /** False when somebody else has the address. */
  async changeEmail(tx: Queryable, id: string, email: string): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE users SET email = $2, updated_at = NOW()
       WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM users other WHERE other.email = $2)`,
      [id, email],
    );
    return changed === 1;
  }

  async link(tx: Queryable, id: string, { provider, subject }: OidcIdentity): Promise<void> {
    await tx.execute('UPDATE users SET provider = $2, provider_subject = $3, updated_at = NOW() WHERE id = $1', [
      id,
      provider,
      subject,
    ]);
  }
}

import { Injectable } from '@nestjs/common';
import { AuditLog, type AuditActor } from '#libs/audit';
import type { Queryable, Transaction } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { normalEmail } from './email.js';

const EMBEDDED_EMAIL = 'admin@penstock.local';

/**
 * The right that the configuration gives: the account *created* with the configured address administers the instance,
 * and no other one ever does by configuration, whatever the setting says later (contract 04 §3).
 */
@Injectable()
export class BootstrapGrant {
  /** The address in its stored form; undefined when none is configured. */
  readonly email: string | undefined;

  constructor(
    private readonly audit: AuditLog,
    { bootstrapAdminEmail, embedded }: IdentitySettings,
  ) {
    const configured = bootstrapAdminEmail ?? (embedded ? EMBEDDED_EMAIL : undefined);
    this.email = configured === undefined ? undefined : normalEmail(configured);
  }

  /** Until the commit no other boot makes the administrator, whatever address it is configured with. */
  async hold(tx: Transaction): Promise<void> {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('penstock.bootstrap-admin', 0))::text`);
  }

  /** Who was made administrator so, whether or not he still is. */
  async holder(q: Queryable): Promise<string | undefined> {
    const [row] = await q.query<{ id: string }>('SELECT user_id AS id FROM bootstrap_admin');
    return row?.id;
  }

  /**
   * Gives the right to a row that this transaction has just inserted, if it is due to it. Everything that creates people
   * asks here. The table's only key decides between two servers that were started with different addresses.
   */
  async ofNew(tx: Transaction, actor: AuditActor, person: { id: string; email: string }): Promise<boolean> {
    if (person.email !== this.email) return false;
    const granted = await tx.execute('INSERT INTO bootstrap_admin (user_id) VALUES ($1) ON CONFLICT DO NOTHING', [
      person.id,
    ]);
    if (granted === 0) return false;
    await tx.execute('UPDATE users SET is_admin = TRUE, updated_at = NOW() WHERE id = $1', [person.id]);
    await this.audit.append(tx, actor, 'auth.user.admin_granted', { actor: 'bootstrap', target_user_id: person.id });
    return true;
  }
}

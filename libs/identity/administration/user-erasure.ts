import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { isUuid, PenstockError, type Principal } from '#libs/kernel';
import { MailClaimRepository } from '#libs/mail';
import { Database, type Transaction } from '#libs/persistence';
import { authoriseInstance } from '../authorise.js';
import { IdentitySettings } from '../identity-settings.js';
import { Invalidations } from '../liveness/invalidations.js';
import { AccessEnds } from '../sessions/access-ends.js';
import type { AccountView } from '../users/account-view.js';
import { lockEmail } from '../users/user.repository.js';
import { AdministrationRepository, type HeldPerson } from './administration.repository.js';
import { Departures } from './departures.js';
import { HeldPeople } from './held-people.js';

/**
 * Erasing a person, as `privacy.user-erasure` says: close the account, or also take everything of the person out of it.
 * The row stays, because runs and versions name it; audit rows stay until their retention (contract 04 §3).
 */
@Injectable()
export class UserErasure {
  constructor(
    private readonly db: Database,
    private readonly people: HeldPeople,
    private readonly users: AdministrationRepository,
    private readonly ends: AccessEnds,
    private readonly departures: Departures,
    private readonly mails: MailClaimRepository,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly settings: IdentitySettings,
  ) {}

  /**
   * @throws `auth.user.not_found`, `auth.user.last_super_admin`, what participants refuse (`workspace.last_admin`); the
   *   generic 400 with `field` for oneself
   */
  async erase(principal: Principal, id: string): Promise<AccountView> {
    authoriseInstance(principal, 'user.erase');
    if (id.toLowerCase() === principal.userId) {
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: 'Nobody erases himself: let another super administrator do it.',
        details: { field: 'id', reason: 'self' },
      });
    }
    const before = isUuid(id) ? await this.users.find(this.db, id) : undefined;
    if (!before) throw new PenstockError('auth.user.not_found');
    return this.db.transaction(async (tx) => {
      // As an invitation does, before any row: nobody makes the person a member of something meanwhile.
      await lockEmail(tx, before.email);
      const { person, requireAnotherSuperAdmin } = await this.people.hold(tx, principal, 'user.erase', before.id);
      requireAnotherSuperAdmin();
      await this.#close(tx, principal, person);
      if (this.settings.userErasure === 'anonymise') await this.#anonymise(tx, principal, person);
      await this.audit.append(tx, principal, 'auth.user.erased', { mode: this.settings.userErasure });
      return this.people.view(tx, principal, person.id);
    });
  }

  /** Recorded even where the account was closed before: this row tells who was erased. */
  async #close(tx: Transaction, principal: Principal, person: HeldPerson): Promise<void> {
    const { id } = person;
    await this.users.setActive(tx, id, false);
    await this.audit.append(tx, principal, 'auth.user.deactivated', { actor: principal.userId, target_user_id: id });
    await this.ends.everythingOf(tx, principal, id, 'user_erased');
    const kind = this.settings.userErasure === 'anonymise' ? 'anonymised' : 'deactivated';
    await this.departures.run(tx, principal, person, kind);
  }

  async #anonymise(tx: Transaction, principal: Principal, { id, email }: HeldPerson): Promise<void> {
    for (const keyId of await this.users.revokeKeys(tx, id)) {
      await this.audit.append(tx, { ...principal, keyId }, 'auth.api_key.revoked', {
        owner_id: id,
        actor: principal.userId,
        reason: 'owner_erased',
      });
      this.invalidations.announce(tx, 'api_key', keyId);
    }
    const redacted = await this.users.anonymise(tx, id);
    await this.mails.redactRecipient(tx, id, email, redacted);
  }
}

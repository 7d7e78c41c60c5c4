import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import type { Principal } from '#libs/kernel';
import { Invalidations } from '../liveness/invalidations.js';
import { AccessEnds } from '../sessions/access-ends.js';
import type { AccountView } from '../users/account-view.js';
import { AdministrationRepository } from './administration.repository.js';
import { Departures } from './departures.js';
import { HeldPeople } from './held-people.js';

/** Whether somebody may come in, and whether he administers the instance (contract 04 §3). Doing it twice is no error. */
@Injectable()
export class UserStanding {
  constructor(
    private readonly people: HeldPeople,
    private readonly users: AdministrationRepository,
    private readonly ends: AccessEnds,
    private readonly departures: Departures,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
  ) {}

  /** Opens the account again; keys work again with it. @throws `auth.user.not_found` */
  activate(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.manage', id, async (tx, { person }) => {
      if (person.isActive) return;
      await this.users.setActive(tx, person.id, true);
      await this.audit.append(tx, principal, 'auth.user.activated', target(principal, person.id));
      this.invalidations.announce(tx, 'user', person.id);
    });
  }

  /**
   * Closes the account: sessions end, keys are refused while it is closed, runs go on.
   *
   * @throws `auth.user.not_found`, `auth.user.last_super_admin`
   */
  deactivate(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.manage', id, async (tx, { person, requireAnotherSuperAdmin }) => {
      if (!person.isActive) return;
      requireAnotherSuperAdmin();
      await this.users.setActive(tx, person.id, false);
      await this.audit.append(tx, principal, 'auth.user.deactivated', target(principal, person.id));
      await this.ends.everythingOf(tx, principal, person.id, 'user_deactivated');
      await this.departures.run(tx, principal, person, 'deactivated');
    });
  }

  /** @throws `auth.user.not_found` */
  grantAdmin(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.manage', id, async (tx, { person }) => {
      if (person.isAdmin) return;
      await this.users.setAdmin(tx, person.id, true);
      await this.audit.append(tx, principal, 'auth.user.admin_granted', target(principal, person.id));
      this.invalidations.announce(tx, 'user', person.id);
    });
  }

  /** @throws `auth.user.not_found`, `auth.user.last_super_admin` */
  revokeAdmin(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.manage', id, async (tx, { person, requireAnotherSuperAdmin }) => {
      if (!person.isAdmin) return;
      requireAnotherSuperAdmin();
      await this.users.setAdmin(tx, person.id, false);
      await this.audit.append(tx, principal, 'auth.user.admin_revoked', target(principal, person.id));
      this.invalidations.announce(tx, 'user', person.id);
    });
  }

  /**
   * Cuts the row loose from its provider, for an address that now belongs to another identity: the next verified
   * sign-in with it is linked. A row that waits for its person already stays as it is.
   *
   * @throws `auth.user.not_found`
   */
  resetIdentity(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.identity_reset', id, async (tx, { person }) => {
      if (person.provider === 'bootstrap' || person.provider === 'local') return;
      await this.users.resetIdentity(tx, person.id);
      // The event's own keys have no place for the person, and the row's user is who acted.
      await this.audit.append(tx, principal, 'auth.user.identity_reset', {
        from: { target_user_id: person.id, provider: person.provider },
        to: { target_user_id: person.id, provider: 'bootstrap' },
      });
      await this.ends.everythingOf(tx, principal, person.id, 'identity_reset');
    });
  }

  /** Signs the person out everywhere. @throws `auth.user.not_found` */
  async revokeSessions(principal: Principal, id: string): Promise<void> {
    await this.people.change(principal, 'user.sessions', id, (tx, { person }) =>
      this.ends.sessionsOf(tx, principal, person.id, 'revoked'),
    );
  }
}

function target({ userId }: Principal, id: string): { actor: string; target_user_id: string } {
  return { actor: userId, target_user_id: id };
}

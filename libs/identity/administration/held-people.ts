import { Injectable } from '@nestjs/common';
import { isUuid, PenstockError, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { authoriseInstance } from '../authorise.js';
import type { InstanceOperation } from '../operations.js';
import { toAccountView, type AccountView } from '../users/account-view.js';
import { AdministrationRepository, type HeldPerson } from './administration.repository.js';

/** Somebody held for a change, and whether he may lose his rights. */
export interface Holding {
  person: HeldPerson;
  /** @throws `auth.user.last_super_admin` when nobody would be left to administer the instance */
  requireAnotherSuperAdmin(): void;
}

/** Every change of a person by an administrator: one transaction, under one order of locks. */
@Injectable()
export class HeldPeople {
  constructor(
    private readonly db: Database,
    private readonly users: AdministrationRepository,
  ) {}

  /**
   * Holds the person, lets `change` act, and returns the account as it is then. `id` is what a caller wrote, in any case;
   * what is done and announced names the person held.
   *
   * @throws `auth.user.not_found`, for the system actor and who was anonymised too
   */
  async change(
    principal: Principal,
    operation: InstanceOperation,
    id: string,
    change: (tx: Transaction, holding: Holding) => Promise<void>,
  ): Promise<AccountView> {
    authoriseInstance(principal, operation);
    if (!isUuid(id)) throw new PenstockError('auth.user.not_found');
    return this.db.transaction(async (tx) => {
      const holding = await this.hold(tx, principal, operation, id.toLowerCase());
      await change(tx, holding);
      return this.view(tx, principal, holding.person.id);
    });
  }

  async hold(tx: Transaction, principal: Principal, operation: InstanceOperation, id: string): Promise<Holding> {
    const { person, superAdmins } = await this.users.hold(tx, id);
    this.#requireStanding(principal, operation, superAdmins);
    if (!person) throw new PenstockError('auth.user.not_found');
    const requireAnotherSuperAdmin = (): void => {
      if (superAdmins.includes(id) && superAdmins.length === 1) throw new PenstockError('auth.user.last_super_admin');
    };
    return { person, requireAnotherSuperAdmin };
  }

  /** For an act on nobody who exists yet. */
  async requireSuperAdmin(tx: Transaction, principal: Principal, operation: InstanceOperation): Promise<void> {
    const { superAdmins } = await this.users.hold(tx, undefined);
    this.#requireStanding(principal, operation, superAdmins);
  }

  async view(tx: Transaction, principal: Principal, id: string): Promise<AccountView> {
    const row = await this.users.find(tx, id);
    if (!row) throw new PenstockError('auth.user.not_found');
    return toAccountView(row, principal);
  }

  /** By the rows: a right that was remembered a moment ago must not let somebody act who has just lost it. */
  #requireStanding(principal: Principal, operation: InstanceOperation, superAdmins: readonly string[]): void {
    if (principal.method === 'system' || superAdmins.includes(principal.userId)) return;
    authoriseInstance({ ...principal, superAdmin: false }, operation);
  }
}

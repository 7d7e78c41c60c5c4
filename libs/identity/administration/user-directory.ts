import { Injectable } from '@nestjs/common';
import { isUuid, PenstockError, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MembershipRepository, type Membership } from '../access/membership.repository.js';
import { SuperAdminReach } from '../access/super-admin-reach.js';
import { authoriseInstance } from '../authorise.js';
import { toAccountView, type AccountView } from '../users/account-view.js';
import { AdministrationRepository } from './administration.repository.js';

const MAX_SEARCH = 254;

/** Everybody who has an account, for super administrators. */
@Injectable()
export class UserDirectory {
  constructor(
    private readonly db: Database,
    private readonly users: AdministrationRepository,
    private readonly rows: MembershipRepository,
    private readonly reach: SuperAdminReach,
  ) {}

  /** By address, which `after` and `before` are; `q` is part of an address or a name, in any case. */
  async list(principal: Principal, q: string | undefined, page: KeysetPage): Promise<KeysetListing<AccountView>> {
    authoriseInstance(principal, 'user.read');
    const found = await this.users.page(this.db, searchOf(q), page);
    return { ...found, items: found.items.map((row) => toAccountView(row, principal)) };
  }

  async count(principal: Principal, q: string | undefined): Promise<number> {
    authoriseInstance(principal, 'user.read');
    return this.users.count(this.db, searchOf(q));
  }

  /** Memberships of active workspaces of several people, the oldest first, in one statement. */
  async memberships(principal: Principal, userIds: readonly string[]): Promise<Map<string, Membership[]>> {
    authoriseInstance(principal, 'user.read');
    const held = await this.rows.membershipsOfAll(this.db, userIds);
    const shown = held.map(({ workspaceId: id, workspaceName: name }) => ({ id, name }));
    await this.reach.into(principal, 'user.read', shown);
    return Map.groupBy(held, ({ userId }) => userId);
  }

  /** @throws `auth.user.not_found` */
  async read(principal: Principal, id: string): Promise<AccountView> {
    authoriseInstance(principal, 'user.read');
    const row = isUuid(id) ? await this.users.find(this.db, id) : undefined;
    if (!row) throw new PenstockError('auth.user.not_found');
    return toAccountView(row, principal);
  }
}

/** Longer than any address: it finds nobody, and is not worth a scan. */
function searchOf(q = ''): string {
  const search = q.trim().normalize('NFC').toLowerCase();
  if (search.length <= MAX_SEARCH) return search;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `q has at most ${MAX_SEARCH} characters.`,
    details: { field: 'q', reason: 'field' },
  });
}

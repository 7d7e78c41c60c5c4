import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { newId, PenstockError, type Principal } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import { Database } from '#libs/persistence';
import { authoriseInstance } from '../authorise.js';
import { IdentitySettings } from '../identity-settings.js';
import { WorkspaceEntry } from '../login/workspace-entry.js';
import { oneTimePassword } from '../passwords/one-time-password.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { AccessEnds } from '../sessions/access-ends.js';
import type { AccountView } from '../users/account-view.js';
import { BootstrapGrant } from '../users/bootstrap-grant.js';
import { normalEmail } from '../users/email.js';
import { lockEmail, UserRepository } from '../users/user.repository.js';
import { AdministrationRepository } from './administration.repository.js';
import { HeldPeople } from './held-people.js';

const MAX_NAME = 200;
/** Rows whose password is their own way in; others belong to a provider. */
const LOCAL = new Set(['local', 'bootstrap']);

export interface NewLocalAccount {
  email: unknown;
  /** Absent: what stands before the `@`. */
  display_name?: unknown;
}

/** An account whose password was just minted. The password is here only where no mail takes it to its owner. */
export interface Minted {
  user: AccountView;
  oneTimePassword?: string;
}

/** Local passwords as administrators handle them: minted, never chosen for somebody (contract 04 §4.1). */
@Injectable()
export class LocalAccounts {
  constructor(
    private readonly db: Database,
    private readonly people: HeldPeople,
    private readonly users: AdministrationRepository,
    private readonly rows: UserRepository,
    private readonly hasher: SecretHasher,
    private readonly ends: AccessEnds,
    private readonly entry: WorkspaceEntry,
    private readonly mail: MailNotices,
    private readonly audit: AuditLog,
    private readonly settings: IdentitySettings,
    private readonly grant: BootstrapGrant,
  ) {}

  /**
   * Invitations of the address become memberships with the account.
   *
   * @throws `auth.user.email_invalid`, `auth.user.email_taken`; `request.not_found` where local accounts are off
   */
  async create(principal: Principal, request: NewLocalAccount): Promise<Minted> {
    authoriseInstance(principal, 'user.local');
    this.#requireLocalAccounts();
    const email = normalEmail(typeof request.email === 'string' ? request.email : refuseField('email'));
    const displayName = nameOf(request.display_name ?? email.slice(0, email.indexOf('@')));
    const { password, passwordHash } = await this.#mint();
    const id = newId();
    const user = await this.db.transaction(async (tx) => {
      await lockEmail(tx, email);
      await this.people.requireSuperAdmin(tx, principal, 'user.local');
      const account = { id, email, displayName, provider: 'local', subject: email, passwordHash };
      if ((await this.rows.insert(tx, account)) === undefined) throw new PenstockError('auth.user.email_taken');
      const target = { actor: principal.userId, target_user_id: id };
      await this.audit.append(tx, principal, 'auth.user.created', { ...target, email, method: 'local' });
      await this.grant.ofNew(tx, principal, { id, email });
      await this.entry.materialise(tx, principal, { userId: id, email });
      const person = { id, email, displayName };
      await this.mail.announce(tx, principal, { kind: 'welcome', person, oneTimePassword: password });
      await this.mail.announce(tx, principal, { kind: 'new_user', person, origin: 'an administrator' });
      return this.people.view(tx, principal, id);
    });
    return this.#shown(user, password);
  }

  /**
   * A new one-time password; sessions, locks and reset links end with the old one.
   *
   * @throws `auth.user.not_found`; `auth.password.no_local_account` for somebody who signs in through a provider only
   */
  async resetPassword(principal: Principal, id: string): Promise<Minted> {
    authoriseInstance(principal, 'user.local');
    this.#requireLocalAccounts();
    const { password, passwordHash } = await this.#mint();
    const user = await this.people.change(principal, 'user.local', id, async (tx, { person }) => {
      if (!person.hasPassword && !LOCAL.has(person.provider)) {
        throw new PenstockError('auth.password.no_local_account');
      }
      await this.users.setOneTimePassword(tx, person.id, passwordHash);
      await this.audit.append(tx, principal, 'auth.password.reset', {
        actor: principal.userId,
        target_user_id: person.id,
      });
      await this.ends.everythingOf(tx, principal, person.id, 'password_reset');
      const notice = { kind: 'password_reset', person, actId: newId(), oneTimePassword: password } as const;
      await this.mail.announce(tx, principal, notice);
    });
    return this.#shown(user, password);
  }

  /** Takes the password away. @throws `auth.user.not_found`, `auth.password.no_local_account` */
  disable(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.local', id, async (tx, { person }) => {
      if (!person.hasPassword) throw new PenstockError('auth.password.no_local_account');
      await this.users.removePassword(tx, person.id);
      await this.audit.append(tx, principal, 'auth.password.disabled', {
        actor: principal.userId,
        target_user_id: person.id,
      });
      await this.ends.everythingOf(tx, principal, person.id, 'password_disabled');
    });
  }

  /** Forgets wrong passwords. @throws `auth.user.not_found` */
  unlock(principal: Principal, id: string): Promise<AccountView> {
    return this.people.change(principal, 'user.local', id, async (tx, { person }) => {
      if (!(await this.users.unlock(tx, person.id))) return;
      await this.audit.append(tx, principal, 'auth.user.unlocked', {
        actor: principal.userId,
        target_user_id: person.id,
      });
    });
  }

  async #mint(): Promise<{ password: string; passwordHash: string }> {
    const password = oneTimePassword();
    return { password, passwordHash: await this.hasher.hash(password) };
  }

  #shown(user: AccountView, password: string): Minted {
    return this.mail.enabled ? { user } : { user, oneTimePassword: password };
  }

  #requireLocalAccounts(): void {
    if (!this.settings.localAccounts) throw new PenstockError('request.not_found');
  }
}

function nameOf(text: unknown): string {
  const name = typeof text === 'string' ? text.normalize('NFC').trim() : '';
  if (name === '' || Array.from(name).length > MAX_NAME || /\p{Cc}/u.test(name)) refuseField('display_name');
  return name;
}

function refuseField(field: string): never {
  throw new PenstockError('pipeline.execution.invalid_parameter_type', { details: { field, reason: 'field' } });
}

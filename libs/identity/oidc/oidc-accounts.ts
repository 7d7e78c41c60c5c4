import { Injectable } from '@nestjs/common';
import { AuditLog, type AuditActor } from '#libs/audit';
import { newId, PenstockError } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import type { Transaction } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { Invalidations } from '../liveness/invalidations.js';
import { BootstrapGrant } from '../users/bootstrap-grant.js';
import { lockEmail } from '../users/user.repository.js';
import { OidcAccountRepository, type OidcAccount } from './oidc-accounts.repository.js';
import type { OidcIdentity } from './oidc-claims.js';

export type Resolution =
  | { verdict: 'entered'; account: OidcAccount }
  | { verdict: 'inactive'; account: OidcAccount }
  | { verdict: 'mismatch'; storedProvider: string };

/** Rows that only wait for their person to arrive; a verified address links them. */
const PLACEHOLDERS = new Set(['bootstrap', 'local']);
/** Rows that nobody ever signs in to. */
const CLOSED = new Set(['system', 'erased']);

/**
 * The user row of an identity: found, linked, or made (contract 04 §3, table "Row found by"). A recycled address never
 * inherits an account, and linking never grants administration.
 */
@Injectable()
export class OidcAccounts {
  constructor(
    private readonly accounts: OidcAccountRepository,
    private readonly audit: AuditLog,
    private readonly mail: MailNotices,
    private readonly settings: IdentitySettings,
    private readonly invalidations: Invalidations,
    private readonly grant: BootstrapGrant,
  ) {}

  /** Writes only when the verdict is `entered`. */
  async resolve(tx: Transaction, identity: OidcIdentity, facts: AuditActor): Promise<Resolution> {
    // Invitations of the address and other first logins with it wait here (04 §7.4).
    await lockEmail(tx, identity.email);
    const resolution = await this.#find(tx, identity, facts);
    if (resolution) return resolution;
    const made = await this.accounts.insert(tx, newId(), identity);
    if (!made) {
      // The same person arrived under another address at this moment, and was first.
      const found = await this.#find(tx, identity, facts);
      if (found) return found;
      throw new PenstockError('internal', { message: 'A new account was neither made nor found.' });
    }
    await this.#recordCreation(tx, made, identity, facts);
    const isAdmin = await this.grant.ofNew(tx, { ...facts, userId: made.id }, made);
    await this.accounts.refresh(tx, made.id, identity);
    return { verdict: 'entered', account: { ...made, isAdmin } };
  }

  async #find(tx: Transaction, identity: OidcIdentity, facts: AuditActor): Promise<Resolution | undefined> {
    const known = await this.accounts.byIdentity(tx, identity);
    if (known) return this.#enter(tx, known, identity, facts);
    const sameEmail = await this.accounts.byEmail(tx, identity.email);
    if (!sameEmail) return undefined;
    if (!this.#mayLink(sameEmail, identity)) return { verdict: 'mismatch', storedProvider: sameEmail.provider };
    if (!sameEmail.isActive) return { verdict: 'inactive', account: sameEmail };
    await this.accounts.link(tx, sameEmail.id, identity);
    await this.audit.append(tx, { ...facts, userId: sameEmail.id }, 'auth.user.identity_linked', {
      from: sameEmail.provider,
      to: identity.provider,
    });
    return this.#refreshed(tx, { ...sameEmail, provider: identity.provider }, identity);
  }

  async #enter(
    tx: Transaction,
    known: OidcAccount,
    identity: OidcIdentity,
    facts: AuditActor,
  ): Promise<Resolution | undefined> {
    if (!known.isActive) return { verdict: 'inactive', account: known };
    if (known.email === identity.email) return this.#refreshed(tx, known, identity);
    if (!(await this.accounts.changeEmail(tx, known.id, identity.email))) {
      return { verdict: 'mismatch', storedProvider: known.provider };
    }
    await this.audit.append(tx, { ...facts, userId: known.id }, 'auth.user.email_changed', {
      from: known.email,
      to: identity.email,
    });
    return this.#refreshed(tx, { ...known, email: identity.email }, identity);
  }

  async #refreshed(tx: Transaction, account: OidcAccount, identity: OidcIdentity): Promise<Resolution> {
    await this.accounts.refresh(tx, account.id, identity);
    // Open sessions and keys show the address and name of now, on every instance.
    this.invalidations.announce(tx, 'user', account.id);
    return { verdict: 'entered', account: { ...account, displayName: identity.displayName } };
  }

  #mayLink(account: OidcAccount, identity: OidcIdentity): boolean {
    if (CLOSED.has(account.provider) || account.provider === identity.provider) return false;
    // An administrator who can sign in with a password is not taken over on trust; one that was prepared has no other way.
    if (account.provider === 'local' && account.isAdmin) return identity.emailVerified === 'literally';
    if (PLACEHOLDERS.has(account.provider)) return true;
    return this.settings.relinkPolicy === 'verified-email' && identity.emailVerified === 'literally';
  }

  async #recordCreation(
    tx: Transaction,
    { id, email, displayName }: OidcAccount,
    { provider }: OidcIdentity,
    facts: AuditActor,
  ): Promise<void> {
    const actor = { ...facts, userId: id };
    const target = { actor: id, target_user_id: id };
    await this.audit.append(tx, actor, 'auth.user.created', { ...target, email, method: 'oidc' });
    const person = { id, email, displayName };
    await this.mail.announce(tx, actor, { kind: 'new_user', person, origin: `a first sign-in through ${provider}` });
  }
}

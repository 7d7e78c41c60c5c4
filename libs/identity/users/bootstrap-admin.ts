import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { newId } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import { Database, type Transaction } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { WorkspaceEntry } from '../login/workspace-entry.js';
import { oneTimePassword } from '../passwords/one-time-password.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { normalEmail } from './email.js';
import { lockEmail, UserRepository, type LocalAccount } from './user.repository.js';

const PROVIDER = 'bootstrap';
const NAME = 'Administrator';
const EMBEDDED_EMAIL = 'admin@penstock.local';

export interface BootstrapOutcome {
  created: boolean;
  /** Absent when no bootstrap administrator is configured. */
  email?: string;
  /** Made up by this very call, to be shown once; it is stored as a hash only. */
  oneTimePassword?: string;
  /** A one-time password still waits to be changed: worth a warning at each boot. */
  pending: boolean;
  /** Another address was configured when the administrator was made: nothing was done, which is worth a warning. */
  mismatch?: true;
}

/** The first super administrator with a local password (contract 04 §3, §4.1). */
@Injectable()
export class BootstrapAdmin {
  constructor(
    private readonly db: Database,
    private readonly users: UserRepository,
    private readonly hasher: SecretHasher,
    private readonly audit: AuditLog,
    private readonly entry: WorkspaceEntry,
    private readonly mail: MailNotices,
    private readonly settings: IdentitySettings,
  ) {}

  /**
   * Creates the account if there is none with its address; an existing row keeps its rights, its password and its state.
   * Only a one-time password that died unused is armed again: nobody else could ever let the operator in.
   */
  async ensure(): Promise<BootstrapOutcome> {
    const { embedded, bootstrapAdminEmail, localAccounts } = this.settings;
    const configured = bootstrapAdminEmail ?? (embedded ? EMBEDDED_EMAIL : undefined);
    if (configured === undefined || !localAccounts) return { created: false, pending: false };
    const email = normalEmail(configured);
    const existing = await this.#account(email);
    if (existing && !this.#isDead(existing)) return { created: false, email, pending: isPending(existing) };

    if (!existing && (await this.users.hasOther(this.db, PROVIDER, email))) {
      return { created: false, email, pending: false, mismatch: true };
    }
    const credential = await this.#credential();
    if (!credential) return { created: false, email, pending: false };
    const outcome = await this.db.transaction(async (tx) => {
      await lockEmail(tx, email);
      return existing ? this.#rearm(tx, existing, credential.hash) : this.#create(tx, email, credential.hash);
    });
    const shown = outcome.armed ? credential.shown : undefined;
    return {
      created: outcome.created,
      email,
      pending: true,
      ...(shown === undefined ? {} : { oneTimePassword: shown }),
    };
  }

  #account(email: string): Promise<LocalAccount | undefined> {
    return this.users.accountByEmail(this.db, email, this.settings.oneTimePasswordHours);
  }

  #isDead(account: LocalAccount): boolean {
    return account.provider === PROVIDER && account.oneTimeExpired && account.isActive;
  }

  /** The configured seed, or one made up for the embedded mode. */
  async #credential(): Promise<{ hash: string; shown?: string } | undefined> {
    const { bootstrapPassword, bootstrapPasswordHash, embedded } = this.settings;
    if (bootstrapPasswordHash !== undefined) return { hash: bootstrapPasswordHash };
    if (bootstrapPassword !== undefined) return { hash: await this.hasher.hash(bootstrapPassword) };
    if (!embedded) return undefined;
    const shown = oneTimePassword();
    return { hash: await this.hasher.hash(shown), shown };
  }

  async #create(tx: Transaction, email: string, passwordHash: string): Promise<{ created: boolean; armed: boolean }> {
    const id = await this.users.insert(tx, {
      id: newId(),
      email,
      displayName: NAME,
      provider: PROVIDER,
      subject: email,
      isAdmin: true,
      passwordHash,
    });
    // Another instance booted at the same moment and was first.
    if (id === undefined) return { created: false, armed: false };
    const actor = { userId: id, correlationId: newId() };
    const target = { actor: PROVIDER, target_user_id: id };
    await this.audit.append(tx, actor, 'auth.user.created', { ...target, email, method: PROVIDER });
    await this.audit.append(tx, actor, 'auth.user.admin_granted', target);
    await this.audit.append(tx, actor, 'auth.password.seeded', {});
    await this.entry.materialise(tx, actor, { userId: id, email });
    const person = { id, email, displayName: NAME };
    await this.mail.announce(tx, actor, { kind: 'new_user', person, origin: 'the configuration' });
    return { created: true, armed: true };
  }

  async #rearm(tx: Transaction, account: LocalAccount, hash: string): Promise<{ created: boolean; armed: boolean }> {
    const armed = await this.users.rearmOneTimePassword(tx, account.id, hash, this.settings.oneTimePasswordHours);
    const actor = { userId: account.id, correlationId: newId() };
    if (armed) await this.audit.append(tx, actor, 'auth.password.seeded', {});
    return { created: false, armed };
  }
}

function isPending(account: LocalAccount): boolean {
  return account.mustChangePassword && account.passwordHash !== null;
}

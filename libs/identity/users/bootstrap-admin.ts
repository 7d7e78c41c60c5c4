import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { newId } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import { Database, type Transaction } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { WorkspaceEntry } from '../login/workspace-entry.js';
import { oneTimePassword } from '../passwords/one-time-password.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { BootstrapGrant } from './bootstrap-grant.js';
import { lockEmail, UserRepository, type LocalAccount } from './user.repository.js';

const PROVIDER = 'bootstrap';
const NAME = 'Administrator';

export interface BootstrapOutcome {
  created: boolean;
  /** Absent when no bootstrap administrator is configured. */
  email?: string;
  /** Made up by this very call, to be shown once; it is stored as a hash only. */
  oneTimePassword?: string;
  /** A one-time password still waits to be changed: worth a warning at each boot. */
  pending: boolean;
  /**
   * The configured address is not the one of whom the configuration made administrator: it was changed, or set when
   * its account was there already. Nothing was done, which is worth a warning.
   */
  mismatch?: true;
}

interface Settled {
  created: boolean;
  /** The credential of this call is the one that lets him in. */
  armed: boolean;
}

/** The first super administrator: his row, and with a seed his local password (contract 04 §3, §4.1). */
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
    private readonly grant: BootstrapGrant,
  ) {}

  /**
   * Creates the account if there is none with its address; an existing row keeps its rights, its password and its state.
   * Only a one-time password that died unused is armed again: nobody else could ever let the operator in.
   */
  async ensure(): Promise<BootstrapOutcome> {
    const { email } = this.grant;
    if (email === undefined) return { created: false, pending: false };
    const { existing, mismatch } = await this.db.transaction((tx) => this.#standing(tx, email));
    const pending = existing !== undefined && isPending(existing);
    if (mismatch) return { created: false, email, pending, mismatch };
    if (existing && !this.#isDead(existing)) return { created: false, email, pending };

    const credential = this.settings.localAccounts ? await this.#credential() : undefined;
    if (!credential && (existing || !this.settings.bootstrapPrepared)) return { created: false, email, pending };
    const outcome = await this.db.transaction((tx) => this.#settle(tx, email, credential?.hash));
    const shown = outcome.armed ? credential?.shown : undefined;
    return {
      created: outcome.created,
      email,
      pending: credential !== undefined,
      ...(shown === undefined ? {} : { oneTimePassword: shown }),
    };
  }

  /** Who has the address and whether that is whom the configuration made administrator; true until the commit. */
  async #standing(tx: Transaction, email: string): Promise<{ existing?: LocalAccount; mismatch?: true }> {
    await this.grant.hold(tx);
    await lockEmail(tx, email);
    const existing = await this.users.accountByEmail(tx, email, this.settings.oneTimePasswordHours);
    const holder = await this.grant.holder(tx);
    return { ...(existing ? { existing } : {}), ...(holder === existing?.id ? {} : { mismatch: true }) };
  }

  /** Another instance may have booted since, and been first. */
  async #settle(tx: Transaction, email: string, passwordHash?: string): Promise<Settled> {
    const { existing, mismatch } = await this.#standing(tx, email);
    if (mismatch) return { created: false, armed: false };
    if (!existing) return this.#create(tx, email, passwordHash);
    return passwordHash === undefined ? { created: false, armed: false } : this.#rearm(tx, existing, passwordHash);
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

  async #create(tx: Transaction, email: string, passwordHash?: string): Promise<Settled> {
    const id = newId();
    const made = await this.users.insert(tx, {
      id,
      email,
      displayName: NAME,
      provider: PROVIDER,
      subject: email,
      ...(passwordHash === undefined ? {} : { passwordHash }),
    });
    if (made === undefined) return { created: false, armed: false };
    const actor = { userId: id, correlationId: newId() };
    const target = { actor: PROVIDER, target_user_id: id };
    await this.audit.append(tx, actor, 'auth.user.created', { ...target, email, method: PROVIDER });
    await this.grant.ofNew(tx, actor, { id, email });
    if (passwordHash !== undefined) await this.audit.append(tx, actor, 'auth.password.seeded', {});
    await this.entry.materialise(tx, actor, { userId: id, email });
    const person = { id, email, displayName: NAME };
    await this.mail.announce(tx, actor, { kind: 'new_user', person, origin: 'the configuration' });
    return { created: true, armed: passwordHash !== undefined };
  }

  async #rearm(tx: Transaction, account: LocalAccount, hash: string): Promise<Settled> {
    const armed = await this.users.rearmOneTimePassword(tx, account.id, hash, this.settings.oneTimePasswordHours);
    const actor = { userId: account.id, correlationId: newId() };
    if (armed) await this.audit.append(tx, actor, 'auth.password.seeded', {});
    return { created: false, armed };
  }
}

function isPending(account: LocalAccount): boolean {
  return account.mustChangePassword && account.passwordHash !== null;
}

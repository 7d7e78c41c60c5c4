import { Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { AuditLog, AuditObserver, type AuditActor } from '#libs/audit';
import { EgressPolicy } from '#libs/egress';
import { Clock, Logger, newId, PenstockError } from '#libs/kernel';
import { TransientStore, TransientUnavailable } from '#libs/transient';
import { IdentitySettings } from '../identity-settings.js';
import { SignIn, type LoginFacts, type LoginOutcome } from '../login/sign-in.js';
import { OidcAccounts, type Resolution } from './oidc-accounts.js';
import type { OidcIdentity } from './oidc-claims.js';
import { OidcClient } from './oidc-client.js';
import { OidcRefusal } from './oidc-refusal.js';
import { OidcTransactions, TRANSACTION_SECONDS } from './oidc-transaction.js';
import { returnPath } from './return-path.js';

/** A provider as the sign-in page shows it. */
export interface ProviderView {
  name: string;
  display_name: string;
}

/** Signing in through an identity provider (contract 04 §3). */
@Injectable()
export class OidcLoginService {
  readonly #clients: ReadonlyMap<string, OidcClient>;

  constructor(
    private readonly settings: IdentitySettings,
    egress: EgressPolicy,
    private readonly transactions: OidcTransactions,
    private readonly accounts: OidcAccounts,
    private readonly signIn: SignIn,
    private readonly audit: AuditLog,
    private readonly observer: AuditObserver,
    private readonly store: TransientStore,
    clock: Clock,
    private readonly log: Logger,
  ) {
    this.#clients = new Map(
      settings.providers.map((setting) => {
        const redirectUri = `${settings.baseUrl ?? ''}/login/oauth2/code/${setting.name}`;
        return [setting.name, new OidcClient(setting, redirectUri, egress, clock)];
      }),
    );
  }

  providers(): ProviderView[] {
    return [...this.#clients.values()].map(({ setting: { name, displayName } }) => ({
      name,
      display_name: displayName,
    }));
  }

  /** Asks every provider ahead of the first person, so that the log of the start names one that does not answer. */
  async warm(): Promise<void> {
    await Promise.all(
      [...this.#clients.values()].map((client) =>
        client.warm().catch((error: unknown) => this.#warn(client.setting.name, error)),
      ),
    );
  }

  /**
   * Where to send the browser, and the transaction it carries.
   *
   * @throws `request.not_found` for an unknown provider, `auth.login.oidc_error` while it does not answer
   */
  async begin(
    provider: string,
    returnTo: unknown,
    facts: LoginFacts,
  ): Promise<{ location: string; transaction: string; maxAgeSeconds: number }> {
    const client = this.#client(provider);
    const transaction = {
      id: newId(),
      provider,
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      codeVerifier: openid.randomPKCECodeVerifier(),
      returnTo: returnPath(returnTo),
    };
    return this.#audited(provider, facts, async () => ({
      location: (await client.authorizationUrl(transaction)).href,
      transaction: await this.transactions.seal(transaction),
      maxAgeSeconds: TRANSACTION_SECONDS,
    }));
  }

  /**
   * Ends the sign-in with a session.
   *
   * @param query of the callback, raw
   * @param sealed the transaction the browser brought back
   * @throws `auth.login.oidc_error`, `auth.login.domain_not_allowed`, `auth.login.identity_mismatch`,
   *   `auth.login.user_inactive`; `request.not_found` for an unknown provider
   */
  async finish(
    provider: string,
    query: string,
    sealed: string | undefined,
    facts: LoginFacts,
  ): Promise<LoginOutcome & { returnTo: string }> {
    const client = this.#client(provider);
    const { identity, returnTo } = await this.#audited(provider, facts, async () => {
      const transaction = await this.transactions.open(sealed, provider);
      if (!(await this.#isFirstUse(transaction.id))) throw new OidcRefusal('state_mismatch');
      return { identity: await client.identity(query, transaction), returnTo: transaction.returnTo };
    });
    await this.#requireDomain(identity, facts);
    return { ...(await this.#enter(identity, facts)), returnTo };
  }

  /** The cookie is deleted with its use; a copy of it is refused here. While the store is away the provider's own check of the code stands alone. */
  async #isFirstUse(id: string): Promise<boolean> {
    try {
      return await this.store.useOnce(`oidc:${id}`, TRANSACTION_SECONDS);
    } catch (error) {
      if (error instanceof TransientUnavailable) return true;
      throw error;
    }
  }

  async #enter(identity: OidcIdentity, facts: LoginFacts): Promise<LoginOutcome> {
    const { email, provider } = identity;
    let resolution: Resolution | undefined;
    const outcome = await this.signIn.complete('oidc', facts, async (tx) => {
      resolution = await this.accounts.resolve(tx, identity, facts);
      if (resolution.verdict !== 'entered') return undefined;
      const { account } = resolution;
      if (identity.emailVerified === 'assumed') {
        await this.audit.append(tx, { ...facts, userId: account.id }, 'auth.login.email_verified_assumed', {
          provider,
        });
      }
      return { user: account, firstLogin: account.firstLogin };
    });
    if (outcome) return outcome;
    if (resolution?.verdict === 'inactive') {
      const actor: AuditActor = { ...facts, userId: resolution.account.id };
      await this.observer.observe(actor, 'auth.login.user_inactive', { email, provider });
      throw new PenstockError('auth.login.user_inactive');
    }
    await this.observer.observe(facts, 'auth.login.identity_mismatch', {
      email,
      stored_provider: resolution?.verdict === 'mismatch' ? resolution.storedProvider : provider,
      incoming_provider: provider,
    });
    throw new PenstockError('auth.login.identity_mismatch');
  }

  async #requireDomain({ email, provider }: OidcIdentity, facts: LoginFacts): Promise<void> {
    const { allowedDomains } = this.settings;
    if (allowedDomains.length === 0 || allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1))) return;
    await this.observer.observe(facts, 'auth.login.domain_not_allowed', { email, provider });
    throw new PenstockError('auth.login.domain_not_allowed');
  }

  async #audited<T>(provider: string, facts: LoginFacts, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof OidcRefusal)) throw error;
      if (error.reason === 'provider_unavailable') this.#warn(provider, error);
      await this.observer.observe(facts, 'auth.login.oidc_error', { provider, reason: error.reason });
      throw new PenstockError('auth.login.oidc_error', { cause: error });
    }
  }

  #warn(provider: string, error: unknown): void {
    this.log.warn(`The identity provider ${provider} does not answer; people cannot sign in through it for now.`, {
      event: 'auth.oidc.provider_unavailable',
      provider,
      error,
    });
  }

  #client(provider: string): OidcClient {
    const client = this.#clients.get(provider);
    if (!client) throw new PenstockError('request.not_found');
    return client;
  }
}

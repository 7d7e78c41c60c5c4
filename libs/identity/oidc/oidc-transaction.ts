import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { Clock } from '#libs/kernel';
import { IdentitySettings } from '../identity-settings.js';
import { OidcRefusal } from './oidc-refusal.js';

/** How long somebody may take at the provider (contract 04 §3). */
export const TRANSACTION_SECONDS = 600;
const MAX_COOKIE = 4096;
const AUDIENCE = 'dp_oauth2_authz';

/** What the browser carries from the start of a sign-in to its end, readable by us alone. */
export interface OidcTransaction {
  id: string;
  provider: string;
  state: string;
  nonce: string;
  codeVerifier: string;
  returnTo: string;
}

/** Seals transactions into the cookie `dp_oauth2_authz`: a JWE under a key derived from the session secret. */
@Injectable()
export class OidcTransactions {
  readonly #keys: readonly Uint8Array[];

  constructor(
    settings: IdentitySettings,
    private readonly clock: Clock,
  ) {
    this.#keys = settings.jwtSecrets.map(
      (secret) => new Uint8Array(hkdfSync('sha256', secret, '', 'penstock oidc transaction', 32)),
    );
  }

  seal({ id, provider, state, nonce, codeVerifier, returnTo }: OidcTransaction): Promise<string> {
    const now = this.clock.now();
    return new EncryptJWT({ provider, state, nonce, cv: codeVerifier, rt: returnTo })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setAudience(AUDIENCE)
      .setJti(id)
      .setIssuedAt(now)
      .setExpirationTime(new Date(now.getTime() + TRANSACTION_SECONDS * 1000))
      .encrypt(this.#keys[0] as Uint8Array);
  }

  /** @throws OidcRefusal `state_mismatch` for no cookie, a foreign, an altered, an expired one and another provider's */
  async open(sealed: string | undefined, provider: string): Promise<OidcTransaction> {
    if (sealed === undefined || sealed.length > MAX_COOKIE) throw new OidcRefusal('state_mismatch');
    for (const key of this.#keys) {
      const claims = await this.#claims(sealed, key);
      if (claims) return transactionOf(claims, provider);
    }
    throw new OidcRefusal('state_mismatch');
  }

  /** Undefined when another secret may have sealed it. */
  async #claims(sealed: string, key: Uint8Array): Promise<Record<string, unknown> | undefined> {
    try {
      const { payload } = await jwtDecrypt(sealed, key, {
        audience: AUDIENCE,
        currentDate: this.clock.now(),
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp', 'jti'],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWEDecryptionFailed) return undefined;
      throw new OidcRefusal('state_mismatch', { cause: error });
    }
  }
}

/** Compares what came back with what was sent, in constant time. */
export function sameText(sent: string, came: string): boolean {
  const [left, right] = [Buffer.from(sent), Buffer.from(came)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function transactionOf(claims: Record<string, unknown>, provider: string): OidcTransaction {
  const { jti: id, provider: sent, state, nonce, cv: codeVerifier, rt: returnTo } = claims;
  if (
    sent !== provider ||
    typeof id !== 'string' ||
    typeof state !== 'string' ||
    typeof nonce !== 'string' ||
    typeof codeVerifier !== 'string' ||
    typeof returnTo !== 'string'
  ) {
    throw new OidcRefusal('state_mismatch');
  }
  return { id, provider, state, nonce, codeVerifier, returnTo };
}

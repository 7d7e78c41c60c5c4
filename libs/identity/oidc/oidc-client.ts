import { createRemoteJWKSet, customFetch as jwksFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import * as openid from 'openid-client';
import { egressFetch, type EgressPolicy } from '#libs/egress';
import { isPenstockError, type Clock, type OidcProviderSetting } from '#libs/kernel';
import { hasEmail, identityOf, type Claims, type OidcIdentity } from './oidc-claims.js';
import { OidcRefusal } from './oidc-refusal.js';
import { sameText, type OidcTransaction } from './oidc-transaction.js';

const SCOPE = 'openid profile email';
const TOLERANCE_SECONDS = 30;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** A provider that did not answer is not asked again for so long: people must not queue behind its timeouts. */
const UNAVAILABLE_MS = 60_000;
/** After this, what the provider published is read again; the old stays in use if that fails. */
const FRESH_MS = 3_600_000;
/** Unknown key ids cause at most one read of the keys in this time, so a rotation is seen and a flood is not passed on. */
const KEYS_COOLDOWN_MS = 1_000;

interface Discovered {
  configuration: openid.Configuration;
  keys: JWTVerifyGetKey;
  until: number;
}

/** One provider: what it published, where people are sent, and what their return proves (contract 04 §3). */
export class OidcClient {
  #discovered: Discovered | undefined;
  #discovering: Promise<Discovered> | undefined;
  #unavailableUntil = 0;

  constructor(
    readonly setting: OidcProviderSetting,
    private readonly redirectUri: string,
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
  ) {}

  /** Where the browser goes. @throws OidcRefusal `provider_unavailable` */
  async authorizationUrl({ state, nonce, codeVerifier }: OidcTransaction): Promise<URL> {
    const { configuration } = await this.#discover();
    return openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * What the provider sent the browser back with, turned into an identity.
   *
   * @param query of the callback, raw
   * @throws OidcRefusal with the reason of the step that failed
   */
  async identity(query: string, transaction: OidcTransaction): Promise<OidcIdentity> {
    const answer = new URLSearchParams(query);
    const { configuration, keys } = await this.#discover();
    const { issuer, authorization_response_iss_parameter_supported: namesIssuer } = configuration.serverMetadata();
    if (!sameText(transaction.state, only(answer, 'state') ?? '')) throw new OidcRefusal('state_mismatch');
    // Another provider's code brought here under our state is the mix-up attack.
    const iss = only(answer, 'iss');
    if (iss === undefined ? namesIssuer === true : iss !== issuer) throw new OidcRefusal('state_mismatch');
    if (answer.has('error')) throw new OidcRefusal('provider_refused');
    if (only(answer, 'code') === undefined) throw new OidcRefusal('state_mismatch');
    return this.#proved(async () => {
      const tokens = await openid.authorizationCodeGrant(configuration, new URL(`${this.redirectUri}?${query}`), {
        pkceCodeVerifier: transaction.codeVerifier,
        expectedState: transaction.state,
        expectedNonce: transaction.nonce,
        idTokenExpected: true,
      });
      const claims = await this.#verified(tokens.id_token ?? '', keys, issuer);
      const subject = claims['sub'];
      if (hasEmail(claims)) return identityOf(this.setting, subject, claims);
      const info = await this.#userInfo(configuration, tokens.access_token, String(subject));
      return identityOf(this.setting, subject, info);
    });
  }

  /** Reads what the provider publishes, ahead of the first person. @throws OidcRefusal `provider_unavailable` */
  async warm(): Promise<void> {
    await this.#discover();
  }

  /** The library checks the claims; the signature, its algorithm and whom the token is for are checked here. */
  async #verified(idToken: string, keys: JWTVerifyGetKey, issuer: string): Promise<Claims> {
    const { clientId, signingAlgorithms } = this.setting;
    const { payload } = await jwtVerify(idToken, keys, {
      algorithms: [...signingAlgorithms],
      issuer,
      audience: clientId,
      clockTolerance: TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
    });
    const several = Array.isArray(payload.aud) && payload.aud.length > 1;
    const azp = payload['azp'];
    if (azp === undefined ? several : azp !== clientId) throw new OidcRefusal('token_invalid');
    return payload;
  }

  async #userInfo(configuration: openid.Configuration, accessToken: string, subject: string): Promise<Claims> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) throw new OidcRefusal('email_missing');
    return openid.fetchUserInfo(configuration, accessToken, subject);
  }

  async #proved<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof OidcRefusal) throw error;
      throw new OidcRefusal(isUnreachable(error) ? 'provider_unavailable' : 'token_invalid', { cause: error });
    }
  }

  async #discover(): Promise<Discovered> {
    const now = this.clock.now().getTime();
    const held = this.#discovered;
    if (held && held.until > now) return held;
    if (!held && this.#unavailableUntil > now) throw new OidcRefusal('provider_unavailable');
    this.#discovering ??= this.#read().finally(() => (this.#discovering = undefined));
    try {
      return await this.#discovering;
    } catch (error) {
      this.#unavailableUntil = this.clock.now().getTime() + UNAVAILABLE_MS;
      if (!held) throw new OidcRefusal('provider_unavailable', { cause: error });
      held.until = this.#unavailableUntil;
      return held;
    }
  }

  async #read(): Promise<Discovered> {
    const { issuerUri, clientId, clientSecret } = this.setting;
    const plain = !issuerUri.startsWith('https:');
    const fetch: openid.CustomFetch = (url, { method, headers, body, signal }) =>
      this.#fetch(url, { method, headers, body: textOf(body), signal });
    const found = await openid.discovery(new URL(issuerUri), clientId, undefined, openid.None(), {
      execute: plain ? [openid.allowInsecureRequests] : [],
      timeout: TIMEOUT_MS / 1000,
      [openid.customFetch]: fetch,
    });
    const metadata = found.serverMetadata();
    if (metadata.jwks_uri === undefined) throw new OidcRefusal('provider_unavailable');
    const methods = metadata.token_endpoint_auth_methods_supported;
    const posts = methods !== undefined && !methods.includes('client_secret_basic');
    const authentication = posts ? openid.ClientSecretPost(clientSecret) : openid.ClientSecretBasic(clientSecret);
    const client = { [openid.clockTolerance]: TOLERANCE_SECONDS };
    const configuration = new openid.Configuration(metadata, clientId, client, authentication);
    configuration[openid.customFetch] = fetch;
    configuration.timeout = TIMEOUT_MS / 1000;
    if (plain) openid.allowInsecureRequests(configuration);
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
      cooldownDuration: KEYS_COOLDOWN_MS,
      timeoutDuration: TIMEOUT_MS,
      [jwksFetch]: (url, { headers, signal }) => this.#fetch(url, { headers: Object.fromEntries(headers), signal }),
    });
    return { configuration, keys, until: this.clock.now().getTime() + FRESH_MS };
  }

  /** A provider reached over https never sends us to an address without it. */
  #fetch(
    address: string,
    request: { method?: string; headers: Record<string, string>; body?: string; signal?: AbortSignal },
  ): Promise<Response> {
    const url = new URL(address);
    if (this.setting.issuerUri.startsWith('https:') && url.protocol !== 'https:') {
      throw new OidcRefusal('provider_unavailable');
    }
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES };
    return egressFetch(this.egress, url, request, limits);
  }
}

/** A parameter that stands there exactly once. */
function only(answer: URLSearchParams, name: string): string | undefined {
  const values = answer.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  return body instanceof URLSearchParams || typeof body === 'string' ? String(body) : undefined;
}

/** The provider did not answer, as against answering something wrong; libraries wrap the failure of a fetch. */
function isUnreachable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (isPenstockError(at) || at instanceof errors.JWKSTimeout || UNREACHABLE.has(at.name)) return true;
    if ('syscall' in at) return true;
  }
  return false;
}

const UNREACHABLE = new Set(['TimeoutError', 'AbortError', 'HostUnresolved', 'AnswerTooLarge']);

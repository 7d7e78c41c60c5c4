import type { Request } from 'express';
import type { AccessTrail, CsrfTokens } from '#libs/identity';
import { PenstockError } from '#libs/kernel';
import type { Cookies } from './cookies.js';
import { contextOf } from './request-context.js';

/** Spends a budget. @throws when none is left */
type Charge = () => Promise<void>;

/**
 * Proof that a state change with a cookie was meant by our own page (04 §9.2): the header repeats the cookie, the
 * cookie was made for this session, and `Origin`, if sent, is ours.
 */
export class CsrfCheck {
  constructor(
    private readonly tokens: CsrfTokens,
    private readonly cookies: Cookies,
    private readonly trail: AccessTrail,
    /** Origin of `auth.base-url`, if set; otherwise the request's own Host is ours. */
    private readonly baseOrigin: string | undefined,
    /** Origins that CORS lets in besides ours. */
    private readonly allowedOrigins: ReadonlySet<string> = new Set(),
  ) {}

  /**
   * `sessionId` is `anon` before sign-in. `charge` makes a stranger pay for the refusal, and comes before its row: whoever
   * is over his budget is told so and leaves none.
   *
   * @throws `auth.csrf.invalid` with `reason` `missing`, `mismatch` or `origin`; audited. What `charge` throws, unaudited
   */
  async require(request: Request, sessionId: string, charge?: Charge): Promise<void> {
    const reason = this.#defect(request, sessionId);
    if (reason !== undefined) await this.#refuse(request, reason, charge);
  }

  /**
   * Where cookies are never read: `Origin`, if sent, is ours or one that CORS allows (06 §12).
   *
   * @throws `auth.csrf.invalid` with `reason: origin`; audited. What `charge` throws, unaudited
   */
  async requireOrigin(request: Request, charge: Charge): Promise<void> {
    const origin = request.get('Origin');
    if (origin === undefined || this.allowedOrigins.has(origin)) return;
    if (!this.#isOurs(origin, request.get('Host'))) await this.#refuse(request, 'origin', charge);
  }

  async #refuse(request: Request, reason: 'missing' | 'mismatch' | 'origin', charge?: Charge): Promise<never> {
    await charge?.();
    const { principal, correlationId, sourceIp, userAgent, path } = contextOf(request);
    await this.trail.csrfRejected(principal ?? { correlationId, sourceIp, userAgent }, path.path, reason);
    throw new PenstockError('auth.csrf.invalid', { details: { reason } });
  }

  #defect(request: Request, sessionId: string): 'missing' | 'mismatch' | 'origin' | undefined {
    const origin = request.get('Origin');
    if (origin !== undefined && !this.#isOurs(origin, request.get('Host'))) return 'origin';
    const verdict = this.tokens.verify(this.cookies.csrf(request), request.get('DP-CSRF-Token'), sessionId);
    return verdict === 'ok' ? undefined : verdict;
  }

  /** Without a base URL the scheme is not compared: a proxy that ends TLS speaks plain HTTP to us. */
  #isOurs(origin: string, host: string | undefined): boolean {
    if (this.baseOrigin !== undefined) return origin === this.baseOrigin;
    return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
  }
}

import type { NextFunction, Request, Response } from 'express';
import { addressBlock } from '#libs/identity';
import { isPenstockError, PenstockError, type Logger } from '#libs/kernel';
import { TransientUnavailable, type TransientStore } from '#libs/transient';
import { LocalWindows } from './local-windows.js';
import { contextOf } from './request-context.js';

export interface RateLimits {
  perSecond: number;
  perMinute: number;
  unauthenticatedPerMinute: number;
  loginPerMinute: number;
}

/** Probes and files cost nothing worth limiting, and a monitor must never be told to slow down. */
const EXEMPT = new Set(['probe', 'asset', 'docs', 'public_page']);

/** Signing in needs the database only, so it goes on while the store is down (04 §9.3). */
const SIGN_IN = new Set(['login', 'oidc', 'password_reset']);

/** Windows are shared through the store, so replicas do not multiply a budget. Fails closed (03 §2). */
export class RateLimiter {
  readonly #local = new LocalWindows();
  #storeIsDown = false;

  constructor(
    private readonly store: Pick<TransientStore, 'hit'>,
    private readonly limits: RateLimits,
    private readonly log: Logger,
  ) {}

  /**
   * Before authentication: requests per address on the sign-in paths, the page of the form among them. Without the store
   * each instance counts for itself, because signing in needs the database only (04 §2 step 5, §9.3).
   */
  damper() {
    return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
      const { path, sourceIp } = contextOf(request);
      if (SIGN_IN.has(path.class)) {
        const window: Window = ['minute', 60, this.limits.loginPerMinute];
        const subject = `login:${addressBlock(sourceIp)}`;
        const [budget] = await this.#countHereIfNowhere(subject, window);
        refuseIfOver(budget as Budget, response);
      }
      next();
    };
  }

  /** As soon as the principal is known, so that refusals spend too; a key spends its owner's budget. */
  perPrincipal() {
    return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
      const { path, principal, sourceIp } = contextOf(request);
      if (EXEMPT.has(path.class)) return next();
      const windows: Window[] = principal
        ? [
            ['second', 1, this.limits.perSecond],
            ['minute', 60, this.limits.perMinute],
          ]
        : [['minute', 60, this.limits.unauthenticatedPerMinute]];
      const subject = principal ? principal.userId : `ip:${addressBlock(sourceIp)}`;
      const spend = async (requests: number): Promise<void> => {
        for (let spent = 0; spent < requests; spent++) {
          const budgets = SIGN_IN.has(path.class)
            ? await this.#countHereIfNowhere(subject, windows[0] as Window)
            : await this.#count(subject, windows);
          refuseIfOver(tightest(budgets), response);
        }
      };
      await spend(1);
      contextOf(request).spend = spend;
      next();
    };
  }

  /** A failed authentication spends the address's budget, so guessing keys is limited too. */
  async spendFailure(sourceIp: string, response: Response): Promise<void> {
    const window: Window = ['minute', 60, this.limits.unauthenticatedPerMinute];
    refuseIfOver(tightest(await this.#count(`ip:${addressBlock(sourceIp)}`, [window])), response);
  }

  /** As {@link #count}; what the store cannot count this instance counts for itself. */
  async #countHereIfNowhere(subject: string, window: Window): Promise<Budget[]> {
    try {
      return await this.#count(subject, [window]);
    } catch (error) {
      if (!isPenstockError(error)) throw error;
      return [toBudget(this.#local.hit(subject, window[1]), window)];
    }
  }

  /** @throws `rate_limit.unavailable` when the store does not count; one warning per outage */
  async #count(subject: string, windows: readonly Window[]): Promise<Budget[]> {
    try {
      const hits = await this.store.hit(
        subject,
        windows.map(([, seconds, limit]) => ({ seconds, limit })),
      );
      this.#storeIsDown = false;
      return hits.map((hit, index) => toBudget(hit, windows[index] as Window));
    } catch (error) {
      if (!(error instanceof TransientUnavailable)) throw error;
      if (!this.#storeIsDown)
        this.log.warn('The store of rate limits does not answer: requests are refused.', { error });
      this.#storeIsDown = true;
      throw new PenstockError('rate_limit.unavailable', { details: { retry_after_seconds: 1 }, cause: error });
    }
  }
}

type Window = ['second' | 'minute', seconds: number, limit: number];

interface Budget {
  window: 'second' | 'minute';
  limit: number;
  remaining: number;
  resetIn: number;
  resetAt: number;
  over: boolean;
}

/** The headers describe the window with the least left; a refusal carries them too. */
function refuseIfOver(budget: Budget, response: Response): void {
  response.setHeader('RateLimit-Limit', String(budget.limit));
  response.setHeader('RateLimit-Remaining', String(budget.remaining));
  response.setHeader('RateLimit-Reset', String(budget.resetAt));
  if (!budget.over) return;
  throw new PenstockError('rate_limit.exceeded', {
    details: { limit: budget.limit, window: budget.window, retry_after_seconds: Math.max(1, budget.resetIn) },
  });
}

function tightest(budgets: readonly Budget[]): Budget {
  const over = budgets.find((budget) => budget.over);
  return over ?? budgets.reduce((least, budget) => (budget.remaining < least.remaining ? budget : least));
}

function toBudget(
  hit: { count: number; resetAtSeconds: number; nowSeconds: number },
  [window, , limit]: Window,
): Budget {
  return {
    window,
    limit,
    remaining: Math.max(0, limit - hit.count),
    resetAt: hit.resetAtSeconds,
    resetIn: hit.resetAtSeconds - hit.nowSeconds,
    over: hit.count > limit,
  };
}

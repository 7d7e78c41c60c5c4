import type { NextFunction, Request, Response } from 'express';
import { PenstockError } from '#libs/kernel';
import type { TransientStore } from '#libs/transient';
import { contextOf } from './request-context.js';

export interface RateLimits {
  perSecond: number;
  perMinute: number;
  unauthenticatedPerMinute: number;
  loginPerMinute: number;
}

/** Windows are shared through the store, so replicas do not multiply a budget. Fails closed (03 §2). */
export class RateLimiter {
  constructor(
    private readonly store: TransientStore,
    private readonly limits: RateLimits,
  ) {}

  /** Before authentication: attempts per address on the sign-in paths. */
  damper() {
    return async (request: Request, _response: Response, next: NextFunction): Promise<void> => {
      const { path, sourceIp } = contextOf(request);
      if (path.class === 'login' && request.method === 'POST') {
        await this.#spend(`login:${addressBlock(sourceIp)}`, [['minute', 60, this.limits.loginPerMinute]]);
      }
      next();
    };
  }

  /** As soon as the principal is known: a key spends its owner's budget. */
  perPrincipal() {
    return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
      const { path, principal, sourceIp } = contextOf(request);
      if (path.class === 'probe' || path.class === 'asset' || path.class === 'page' || path.class === 'docs')
        return next();
      const windows: Window[] = principal
        ? [
            ['second', 1, this.limits.perSecond],
            ['minute', 60, this.limits.perMinute],
          ]
        : [['minute', 60, this.limits.unauthenticatedPerMinute]];
      const tightest = await this.#spend(principal ? principal.userId : `ip:${addressBlock(sourceIp)}`, windows);
      response.setHeader('RateLimit-Limit', String(tightest.limit));
      response.setHeader('RateLimit-Remaining', String(tightest.remaining));
      response.setHeader('RateLimit-Reset', String(tightest.resetAt));
      next();
    };
  }

  /** A failed authentication spends the address's budget, so guessing keys is limited too. */
  async spendFailure(sourceIp: string): Promise<void> {
    await this.#spend(`ip:${addressBlock(sourceIp)}`, [['minute', 60, this.limits.unauthenticatedPerMinute]]);
  }

  async #spend(subject: string, windows: readonly Window[]): Promise<Budget> {
    const hits = await this.store.hit(
      subject,
      windows.map(([, seconds, limit]) => ({ seconds, limit })),
    );
    const budgets = hits.map((hit, index) => toBudget(hit, windows[index] as Window));
    const over = budgets.find((budget) => budget.over);
    if (over) {
      throw new PenstockError('rate_limit.exceeded', {
        details: { limit: over.limit, window: over.window, retry_after_seconds: Math.max(1, over.resetIn) },
      });
    }
    return budgets.reduce((tightest, budget) => (budget.remaining < tightest.remaining ? budget : tightest));
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

/** IPv6 clients own a /64, not an address. */
function addressBlock(address: string): string {
  return address.includes(':') ? `${address.split(':').slice(0, 4).join(':')}::/64` : address;
}

import { describe, expect, it } from '@jest/globals';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { callApp } from '../../../test/fixtures/serve-app.js';
import type { AccessTrail, CsrfTokens } from '#libs/identity';
import { isPenstockError, newId, SilentLogger } from '#libs/kernel';
import { authentication, forgedSignIn, type AuthenticationParts } from './authentication.js';
import { CsrfCheck } from './csrf.js';
import type { Cookies } from './cookies.js';
import { RateLimiter } from './rate-limit.js';
import { classifyPath } from './raw-path.js';
import { attachContext } from './request-context.js';

const BUDGET = 3;
const LIMITS = { perSecond: 1000, perMinute: 1000, unauthenticatedPerMinute: BUDGET, loginPerMinute: 1000 };

/** A store whose minute does not end. */
function endless() {
  const spent = new Map<string, number>();
  return {
    hit: (subject: string) => {
      const count = (spent.get(subject) ?? 0) + 1;
      spent.set(subject, count);
      return Promise.resolve([{ count, resetAtSeconds: 60, nowSeconds: 0 }]);
    },
  };
}

/** The two steps alone, before strangers whose token is always wrong, and the rows that they leave. */
function strangers(): { app: Express; rows: string[] } {
  const rows: string[] = [];
  const trail = {
    csrfRejected: (_actor: unknown, path: string, reason: string) =>
      Promise.resolve(void rows.push(`${path} ${reason}`)),
  };
  const csrf = new CsrfCheck(
    { verify: () => 'missing' } as unknown as CsrfTokens,
    { csrf: () => undefined } as unknown as Cookies,
    trail as unknown as AccessTrail,
    'https://data.example.com',
  );
  const parts = {
    csrf,
    csrfCookie: { ownerOf: () => Promise.resolve('anon') },
    limiter: new RateLimiter(endless(), LIMITS, new SilentLogger()),
  } as unknown as AuthenticationParts;
  const app = express();
  app.use((request: Request, _response: Response, next: NextFunction) => {
    const path = classifyPath(request.originalUrl);
    attachContext(request, { correlationId: newId(), path, sourceIp: '192.0.2.1', userAgent: undefined });
    next();
  });
  app.use(forgedSignIn(parts), authentication(parts));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(isPenstockError(error) ? error.status : 500).end();
  });
  return { app, rows };
}

describe('a forged request of a stranger', () => {
  it.each([
    ['/login', {}, 'missing'],
    ['/mcp', { Origin: 'https://evil.example' }, 'origin'],
  ])('at %s spends the budget of its network, and beyond it leaves no row', async (path, headers, reason) => {
    const { app, rows } = strangers();
    const answers: number[] = [];
    for (let n = 0; n < BUDGET + 2; n++) answers.push((await callApp(app, 'POST', path, headers)).status);
    expect(answers).toEqual([403, 403, 403, 429, 429]);
    expect(rows).toEqual(Array.from({ length: BUDGET }, () => `${path} ${reason}`));
  });
});

import type { NextFunction, Request, Response } from 'express';
import type { Authenticator } from '#libs/identity';
import { isPenstockError, PenstockError, type Principal } from '#libs/kernel';
import type { Cookies } from './cookies.js';
import type { CsrfCookie } from './csrf-cookie.js';
import type { CsrfCheck } from './csrf.js';
import { redirectToSignIn, isNavigation } from './navigation.js';
import type { RateLimiter } from './rate-limit.js';
import { presentedKey } from './presented-key.js';
import { isPublic, type PathClass } from './raw-path.js';
import { contextOf, factsOf, type RequestContext } from './request-context.js';

const SAFE = new Set(['GET', 'HEAD']);
/** Where a cookie is never looked at (03 §1, 06 §12). */
const KEYS_ONLY: ReadonlySet<PathClass> = new Set(['endpoint', 'mcp']);

export interface AuthenticationParts {
  authenticator: Authenticator;
  csrf: CsrfCheck;
  csrfCookie: CsrfCookie;
  cookies: Cookies;
  limiter: RateLimiter;
}

/**
 * Step 3 of 04 §2 where no session is asked for: signing in. It comes before the damper: what a page of somebody else's
 * sends is no attempt to sign in and costs none. It spends the budget of strangers, like every refusal.
 */
export function forgedSignIn({ csrf, csrfCookie, limiter }: AuthenticationParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const { path, sourceIp } = contextOf(request);
    if (path.class !== 'login' || SAFE.has(request.method)) return next();
    await csrf.require(request, await csrfCookie.ownerOf(request), () => limiter.spendFailure(sourceIp, response));
    next();
  };
}

/**
 * Steps 3 and 6–9 of 04 §2: who is this? A presented key decides alone, whether or not a good cookie came with it.
 * Whoever cannot say spends the budget of the address, so that guessing is limited before it can be tried often.
 */
export function authentication(parts: AuthenticationParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const context = contextOf(request);
    if (isPublic(context.path.class)) return next();
    // No cookie counts there, so there is no token to ask for; a page of somebody else's is refused all the same.
    if (context.path.class === 'mcp') {
      await parts.csrf.requireOrigin(request, () => parts.limiter.spendFailure(context.sourceIp, response));
    }
    try {
      context.principal = await identify(parts, request, response, context);
    } catch (error) {
      if (isPenstockError(error)) await parts.limiter.spendFailure(context.sourceIp, response);
      if (isUnknown(error) && isNavigation(request)) return redirectToSignIn(request, response);
      throw context.path.class === 'endpoint' ? asEndpointRefusal(error) : error;
    }
    next();
  };
}

async function identify(
  parts: AuthenticationParts,
  request: Request,
  response: Response,
  context: RequestContext,
): Promise<Principal | undefined> {
  const pathClass = context.path.class;
  if (pathClass === 'promotion') {
    // No other credential is looked at there, good or bad, and no cookie means no forged request (04 §2 step 4).
    return parts.authenticator.authenticatePromotion(request.get('DP-Promotion-Key'), factsOf(request, 'api_key'));
  }
  const key = presentedKey(request);
  const surface = pathClass === 'mcp' ? 'mcp' : 'api_key';
  if (key !== undefined) return parts.authenticator.authenticateKey(key, factsOf(request, surface));
  const session = KEYS_ONLY.has(pathClass) ? undefined : parts.cookies.session(request);
  if (session !== undefined) return identifySession(parts, request, response, context, session);
  // The GraphQL console's page is for everybody; it holds nothing but the way to sign in (03 §12).
  if (pathClass === 'graphql' && SAFE.has(request.method)) return undefined;
  throw new PenstockError('auth.api_key.missing');
}

async function identifySession(
  parts: AuthenticationParts,
  request: Request,
  response: Response,
  context: RequestContext,
  token: string,
): Promise<Principal> {
  try {
    const principal = await parts.authenticator.authenticateSession(token, {
      ...factsOf(request, 'session'),
      workspaceHeader: request.get('DP-Workspace'),
    });
    context.principal = principal;
  } catch (error) {
    if (isPenstockError(error) && error.code === 'auth.session.invalid') parts.cookies.clear(response);
    throw error;
  }
  const { principal } = context;
  if (!SAFE.has(request.method)) await parts.csrf.require(request, principal.sessionId ?? 'anon');
  return principal;
}

/** What an inactive workspace publishes is not there, for its own keys as for everybody (03 §7, 04 §7). */
function asEndpointRefusal(error: unknown): unknown {
  const inactive = isPenstockError(error) && error.code === 'auth.key_workspace_inactive';
  return inactive ? new PenstockError('endpoint.not_found', { cause: error }) : error;
}

function isUnknown(error: unknown): boolean {
  return isPenstockError(error) && error.status === 401;
}

import type { NextFunction, Request, Response } from 'express';
import type { AccessTrail, Authenticator, CsrfTokens, RequestFacts } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import type { Cookies } from './cookies.js';
import type { RateLimiter } from './rate-limit.js';
import { contextOf, type RequestContext } from './request-context.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Reachable by everyone; the handlers behind these classes are marked `public` and frozen by a test. */
const PUBLIC = new Set(['login', 'public_rest', 'probe', 'docs', 'asset', 'page']);
/** What a signed-in person may still do before a forced password change (04 §4.3). */
const BEFORE_PASSWORD_CHANGE = new Set(['/api/v1/auth/me', '/api/v1/auth/password', '/logout']);

export interface AuthenticationParts {
  authenticator: Authenticator;
  csrf: CsrfTokens;
  cookies: Cookies;
  limiter: RateLimiter;
  trail: AccessTrail;
  /** Origin of `auth.base-url`, if set; otherwise the request's own Host is ours. */
  baseOrigin: string | undefined;
}

/**
 * Steps 3 and 6–10 of 04 §2: CSRF, then the credential. A presented key decides alone, whether or not a good cookie
 * came with it.
 */
export function authentication(parts: AuthenticationParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const context = contextOf(request);
    const key = request.get('DP-API-Key');
    const session = parts.cookies.session(request);
    if (context.path.class === 'login' && request.method === 'POST') await requireCsrf(parts, request, context, 'anon');

    if (key !== undefined) {
      context.principal = await authenticateKey(parts, request, context, key);
      if (request.get('DP-Workspace') !== undefined) throw new PenstockError('workspace.header_forbidden');
    } else if (session !== undefined && needsPrincipal(context) && context.path.class !== 'endpoint') {
      context.principal = await authenticateCookie(parts, request, response, context, session);
    }
    if (!context.principal && needsPrincipal(context)) throw new PenstockError('auth.api_key.missing');
    requireChangedPassword(context);
    next();
  };
}

/** A refused key spends the address's budget: guessing is limited before it can be tried often. */
async function authenticateKey(
  parts: AuthenticationParts,
  request: Request,
  context: RequestContext,
  key: string,
): Promise<Principal> {
  try {
    return await parts.authenticator.authenticateKey(key, facts(request, context, 'api_key'));
  } catch (error) {
    await parts.limiter.spendFailure(context.sourceIp);
    throw error;
  }
}

function needsPrincipal(context: RequestContext): boolean {
  return !PUBLIC.has(context.path.class);
}

async function authenticateCookie(
  parts: AuthenticationParts,
  request: Request,
  response: Response,
  context: RequestContext,
  session: string,
): Promise<Principal> {
  let principal: Principal;
  try {
    principal = await parts.authenticator.authenticateSession(session, {
      ...facts(request, context, 'session'),
      workspaceHeader: request.get('DP-Workspace'),
    });
  } catch (error) {
    if (error instanceof PenstockError && error.code === 'auth.session.invalid') parts.cookies.clear(response);
    throw error;
  }
  if (!SAFE.has(request.method))
    await requireCsrf(parts, request, { ...context, principal }, principal.sessionId ?? 'anon');
  return principal;
}

async function requireCsrf(
  parts: AuthenticationParts,
  request: Request,
  context: RequestContext,
  sessionId: string,
): Promise<void> {
  const reason = csrfDefect(parts, request, sessionId);
  if (reason === undefined) return;
  const { principal, correlationId, sourceIp, userAgent } = context;
  await parts.trail.csrfRejected(principal ?? { correlationId, sourceIp, userAgent }, context.path.path, reason);
  throw new PenstockError('auth.csrf.invalid', { details: { reason } });
}

function csrfDefect(parts: AuthenticationParts, request: Request, sessionId: string): string | undefined {
  const origin = request.get('Origin');
  const ours = parts.baseOrigin ?? `${request.protocol}://${request.get('Host')}`;
  if (origin !== undefined && origin !== ours) return 'origin';
  const verdict = parts.csrf.verify(parts.cookies.csrf(request), request.get('DP-CSRF-Token'), sessionId);
  return verdict === 'ok' ? undefined : verdict;
}

function requireChangedPassword(context: RequestContext): void {
  const { principal, path } = context;
  if (!principal || principal.amr !== 'pwd' || !principal.mustChangePassword || !needsPrincipal(context)) return;
  if (!BEFORE_PASSWORD_CHANGE.has(path.path)) throw new PenstockError('auth.password.change_required');
}

function facts(request: Request, context: RequestContext, surface: 'session' | 'api_key'): RequestFacts {
  return {
    correlationId: context.correlationId,
    sourceIp: context.sourceIp,
    userAgent: context.userAgent,
    path: context.path.path,
    method: request.method,
    surface,
  };
}

import type { NextFunction, Request, Response } from 'express';
import type { AccessTrail } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import { isNavigation, redirect } from './navigation.js';
import type { ClassifiedPath } from './raw-path.js';
import { contextOf } from './request-context.js';

/** What a signed-in person may still do before a forced password change (04 §4.3). */
const BEFORE_PASSWORD_CHANGE = new Set(['/api/v1/auth/me', '/api/v1/auth/password', '/logout', '/settings/password']);
/** What an endpoint key may read of the runs it started; which runs those are, the service judges. */
const OWN_RUN = /^\/api\/v1\/executions\/[^/]+(\/result|\/events)?$/;

/**
 * What a known caller may not even ask, whatever the operation (04 §2 steps 7, 8, 10): a key off its surface, a key
 * naming a workspace, a person who has yet to choose a password. A key off its surface leaves the row of a denial; which
 * operation it is after is not known here, so the row names verb and path.
 */
export function standing(trail: Pick<AccessTrail, 'denied'>) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const { principal, path } = contextOf(request);
    if (!principal) return next();
    const refusal = confineKey(principal, path, request.method);
    if (refusal) {
      await trail.denied(principal, `${request.method} ${path.path}`, refusal);
      throw refusal;
    }
    if (principal.method === 'api_key' && request.get('DP-Workspace') !== undefined) {
      throw new PenstockError('workspace.header_forbidden');
    }
    const mustChange = principal.amr === 'pwd' && principal.mustChangePassword;
    if (!mustChange || BEFORE_PASSWORD_CHANGE.has(path.path)) return next();
    if (isNavigation(request)) return redirect(response, '/settings/password');
    throw new PenstockError('auth.password.change_required');
  };
}

function confineKey({ method: credential, keyKind }: Principal, path: ClassifiedPath, method: string) {
  if (credential === 'promotion') return undefined;
  if (keyKind === 'server') return offSurface('server_key_off_surface');
  if (keyKind !== 'endpoint' || path.class === 'endpoint') return undefined;
  if ((method === 'GET' || method === 'HEAD') && OWN_RUN.test(path.path)) return undefined;
  return offSurface('endpoint_key_off_surface');
}

function offSurface(reason: string): PenstockError {
  return new PenstockError('endpoint.key_kind_refused', { details: { reason } });
}

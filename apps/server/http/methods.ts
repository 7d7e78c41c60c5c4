import type { NextFunction, Request, Response } from 'express';
import { PenstockError } from '#libs/kernel';
import { contextOf } from './request-context.js';
import type { RouteTable } from './route-table.js';

/** The published tree answers GET alone, no HEAD either; OPTIONS is its preflight (03 §7). */
const ENDPOINT_METHODS = new Set(['GET', 'OPTIONS']);

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The one verb of `/mcp` besides OPTIONS: there are no sessions to end and no streams to open (06 §12). */
const MCP_METHODS = new Set(['POST', 'OPTIONS']);

/**
 * TRACE and other verbs that nothing here answers (04 §9.1), and OPTIONS that is no preflight: the verbs of the path.
 * `/mcp` says so before it asks who is there: its clients try GET after every start, and some try it for ever. The
 * published tree does as well: no key makes another verb a right one (03 §7).
 */
export function methods(routes: RouteTable) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { path, class: pathClass } = contextOf(request).path;
    if (pathClass === 'endpoint' && !ENDPOINT_METHODS.has(request.method)) {
      response.setHeader('Allow', 'GET');
      throw new PenstockError('endpoint.method_not_allowed');
    }
    const known = pathClass === 'mcp' ? MCP_METHODS : METHODS;
    if (!known.has(request.method)) {
      const allow = routes.allowed(path) ?? ['GET', 'HEAD', 'OPTIONS'];
      response.setHeader('Allow', allow.join(', '));
      throw new PenstockError('request.method_not_allowed', { details: { allow } });
    }
    if (request.method !== 'OPTIONS') return next();
    const allow = routes.allowed(path);
    if (!allow) throw new PenstockError('request.not_found');
    response.setHeader('Allow', allow.join(', '));
    response.setHeader('Cache-Control', 'no-store');
    response.status(204).end();
  };
}

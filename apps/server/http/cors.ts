import type { NextFunction, Request, Response } from 'express';

const REQUEST_HEADERS = [
  'DP-API-Key', 'DP-Correlation-Id', 'DP-CSRF-Token', 'DP-Workspace', 'DP-Result-TTL-Seconds', 'DP-Result-Page-Rows',
  'DP-Promotion-Key', 'DP-Task-Id', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID', 'Prefer',
  'Authorization', 'Content-Type', 'Accept',
  // What the protocol of agents' tools adds to each call, from a page of a known origin as from anywhere (06 §12).
  'MCP-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name',
]; // prettier-ignore
const RESPONSE_HEADERS = [
  'DP-Correlation-Id', 'DP-Execution-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After',
  'ETag', 'Location', 'Idempotent-Replayed', 'Mcp-Session-Id', 'WWW-Authenticate',
]; // prettier-ignore

/** Exact origins only (03 §2); a preflight is answered before credentials and limits. */
export function cors(allowedOrigins: readonly string[]) {
  const allowed = new Set(allowedOrigins);
  return (request: Request, response: Response, next: NextFunction): void => {
    const origin = request.get('Origin');
    response.vary('Origin');
    const known = origin !== undefined && allowed.has(origin);
    if (known) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Allow-Credentials', 'true');
      response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS.join(', '));
    }
    if (request.method !== 'OPTIONS' || request.get('Access-Control-Request-Method') === undefined) return next();
    if (known) {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS');
      response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS.join(', '));
      response.setHeader('Access-Control-Max-Age', '3600');
    }
    response.status(204).end();
  };
}

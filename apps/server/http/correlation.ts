import type { NextFunction, Request, Response } from 'express';
import { isUuid, newId } from '#libs/kernel';
import { clientAddress, type TrustedProxies } from './client-address.js';
import { classifyPath } from './raw-path.js';
import { attachContext } from './request-context.js';

/**
 * First step of every request: a correlation id (the client's own only if it is a UUID), the client's address and
 * the class of the raw path.
 */
export function correlation(proxies: TrustedProxies) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const offered = request.get('DP-Correlation-Id');
    const correlationId = offered && isUuid(offered) ? offered.toLowerCase() : newId();
    response.setHeader('DP-Correlation-Id', correlationId);
    const context = {
      correlationId,
      path: { class: 'page' as const, path: request.path, query: '' },
      sourceIp: clientAddress(request, proxies),
      userAgent: request.get('User-Agent')?.slice(0, 512),
    };
    attachContext(request, context);
    attachContext(request, { ...context, path: classifyPath(request.originalUrl) });
    next();
  };
}

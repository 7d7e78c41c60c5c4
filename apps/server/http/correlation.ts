import type { NextFunction, Request, Response } from 'express';
import { isPenstockError, isUuid, newId, PenstockError } from '#libs/kernel';
import { clientAddress, type TrustedProxies } from './client-address.js';
import { classifyPath } from './raw-path.js';
import { attachContext, contextOf, type RequestContext } from './request-context.js';

/**
 * First step of every request: a correlation id (the client's own only if it is a UUID), the client's address and
 * the class of the raw path. A refused path is answered one step later, so that the refusal carries every header too.
 */
export function correlation(proxies: TrustedProxies) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const offered = request.get('DP-Correlation-Id');
    const correlationId = offered && isUuid(offered) ? offered.toLowerCase() : newId();
    response.setHeader('DP-Correlation-Id', correlationId);
    attachContext(request, {
      correlationId,
      sourceIp: clientAddress(request, proxies),
      userAgent: request.get('User-Agent')?.slice(0, 512),
      ...judgeRequestLine(request),
    });
    next();
  };
}

/** Second step, behind the security headers. */
export function requestLineGuard() {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { refusal } = contextOf(request);
    if (refusal) throw refusal;
    next();
  };
}

function judgeRequestLine(request: Request): Pick<RequestContext, 'path' | 'refusal'> {
  try {
    const path = classifyPath(request.originalUrl);
    if (request.headers.host !== undefined || request.httpVersionMinor === 0) return { path };
    return { path, refusal: new PenstockError('request.malformed', { message: 'The “Host” header is missing.' }) };
  } catch (error) {
    if (!isPenstockError(error)) throw error;
    return { path: { class: 'page', path: '/', query: '' }, refusal: error };
  }
}

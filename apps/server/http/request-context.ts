import type { Request } from 'express';
import type { RequestFacts } from '#libs/identity';
import type { PenstockError, Principal, WriteSurface } from '#libs/kernel';
import type { ClassifiedPath } from './raw-path.js';

/** What the request pipeline has found out so far; later steps and handlers read it, nothing re-derives it. */
export interface RequestContext {
  correlationId: string;
  path: ClassifiedPath;
  /** Why the request line is refused; answered once the security headers are set. */
  refusal?: PenstockError;
  /** Client address after trusted proxies (04 §2.1). */
  sourceIp: string;
  userAgent: string | undefined;
  principal?: Principal;
  /** Charges the caller's budget with more requests, where one is worth several. @throws as the rate limiter does */
  spend?: (requests: number) => Promise<void>;
}

const CONTEXT = Symbol('penstock.request');

interface CarriesContext {
  [CONTEXT]?: RequestContext;
}

export function attachContext(request: Request, context: RequestContext): void {
  (request as Request & CarriesContext)[CONTEXT] = context;
}

/** The context of a request that passed the pipeline's first step. */
export function contextOf(request: Request): RequestContext {
  const context = (request as Request & CarriesContext)[CONTEXT];
  if (!context) throw new TypeError('the request did not pass the pipeline');
  return context;
}

export function findContext(request: Request): RequestContext | undefined {
  return (request as Request & CarriesContext)[CONTEXT];
}

/** The request as identity records it. */
export function factsOf(request: Request, surface: WriteSurface): RequestFacts {
  const { correlationId, sourceIp, userAgent, path } = contextOf(request);
  return { correlationId, sourceIp, userAgent, path: path.path, method: request.method, surface };
}

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import type { NextFunction, Request, Response } from 'express';
import { findContext } from './request-context.js';

const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:', 'https:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  frameAncestors: ["'self'"],
  baseUri: ["'self'"],
  formAction: ["'self'"],
  objectSrc: ["'none'"],
};

/** The headers of 04 §9.1; only the GraphQL console's page may inject styles (03 §12), where there is one. */
export function securityHeaders(options: { https: boolean; hasConsole: boolean }) {
  const strict = policy(CONTENT_SECURITY_POLICY, options.https);
  const graphqlConsole = policy(
    { ...CONTENT_SECURITY_POLICY, styleSrc: ["'self'", "'unsafe-inline'"], fontSrc: ["'self'", 'data:'] },
    options.https,
  );
  return (request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('Permissions-Policy', 'camera=(), microphone=(), geolocation=()');
    const isConsole = options.hasConsole && request.method === 'GET' && findContext(request)?.path.class === 'graphql';
    for (const [name, value] of isConsole ? graphqlConsole : strict) response.setHeader(name, value);
    next();
  };
}

/** What helmet says to every request alike, asked once: it would run a step of its own for each header of each answer. */
function policy(directives: Record<string, string[]>, https: boolean): readonly (readonly [string, string])[] {
  const headers = helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    xFrameOptions: { action: 'sameorigin' },
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: true } : false,
  });
  const request = new IncomingMessage(new Socket());
  const response = new RecordedHeaders(request);
  let answered = false;
  headers(request, response, () => (answered = true));
  if (!answered) throw new TypeError('helmet did not answer at once, so its headers cannot be asked for beforehand');
  return response.recorded;
}

class RecordedHeaders extends ServerResponse {
  readonly recorded: (readonly [string, string])[] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.recorded.push([name, String(value)]);
    return this;
  }
}

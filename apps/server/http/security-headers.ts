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
    (isConsole ? graphqlConsole : strict)(request, response, next);
  };
}

function policy(directives: Record<string, string[]>, https: boolean) {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    xFrameOptions: { action: 'sameorigin' },
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: true } : false,
  });
}

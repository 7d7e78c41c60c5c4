import type { Express } from 'express';
import type { AccessTrail, Authenticator, CsrfTokens } from '#libs/identity';
import type { Configuration } from '#libs/kernel';
import type { TransientStore } from '#libs/transient';
import { authentication } from './authentication.js';
import { announcedSize, parseBody } from './body.js';
import { parseProxies } from './client-address.js';
import type { Cookies } from './cookies.js';
import { correlation } from './correlation.js';
import { cors } from './cors.js';
import { RateLimiter } from './rate-limit.js';
import { securityHeaders } from './security-headers.js';

export interface PipelineParts {
  configuration: Configuration;
  transient: TransientStore;
  authenticator: Authenticator;
  csrf: CsrfTokens;
  trail: AccessTrail;
  cookies: Cookies;
}

/** Every request passes these steps in this order, whatever door it is for (03 §1, 04 §2). */
export function installPipeline(express: Express, { configuration, transient, ...parts }: PipelineParts): void {
  const baseUrl = configuration.get('datapipelines.auth.base-url');
  const limits = {
    request: configuration.get('datapipelines.limits.max-request-bytes'),
    graphql: configuration.get('datapipelines.graphql.max-body-bytes'),
  };
  const limiter = new RateLimiter(transient, {
    perSecond: configuration.get('datapipelines.rate-limit.requests-per-second'),
    perMinute: configuration.get('datapipelines.rate-limit.requests-per-minute'),
    unauthenticatedPerMinute: configuration.get('datapipelines.rate-limit.unauthenticated-per-minute'),
    loginPerMinute: configuration.get('datapipelines.auth.rate-limit.login-per-minute'),
  });
  const origins = [
    ...(baseUrl ? [new URL(baseUrl).origin] : []),
    ...configuration.get('datapipelines.cors.allowed-origins'),
  ];

  express.use(correlation(parseProxies(configuration.get('datapipelines.auth.trusted-proxies'))));
  express.use(securityHeaders({ https: baseUrl?.startsWith('https:') ?? false }));
  express.use(announcedSize(limits));
  express.use(cors(origins));
  express.use(limiter.damper());
  express.use(authentication({ ...parts, limiter, baseOrigin: baseUrl ? new URL(baseUrl).origin : undefined }));
  express.use(limiter.perPrincipal());
  express.use(parseBody(limits));
}

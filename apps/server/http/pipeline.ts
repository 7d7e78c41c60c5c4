import type { Express } from 'express';
import type { AccessTrail, Authenticator, CsrfTokens } from '#libs/identity';
import type { Configuration, Logger } from '#libs/kernel';
import type { TransientStore } from '#libs/transient';
import { authentication, forgedSignIn, type AuthenticationParts } from './authentication.js';
import { bodyLimits } from './body.interceptor.js';
import { announcedSize } from './body.js';
import { parseProxies } from './client-address.js';
import type { Cookies } from './cookies.js';
import { correlation, requestLineGuard } from './correlation.js';
import { cors } from './cors.js';
import { CsrfCookie } from './csrf-cookie.js';
import { CsrfCheck } from './csrf.js';
import { methods } from './methods.js';
import { RateLimiter } from './rate-limit.js';
import type { RouteTable } from './route-table.js';
import { requestMetrics } from './request-metrics.js';
import { requestSpans } from './request-spans.js';
import { securityHeaders } from './security-headers.js';
import { standing } from './standing.js';

export interface PipelineParts {
  configuration: Configuration;
  transient: TransientStore;
  authenticator: Authenticator;
  csrf: CsrfTokens;
  trail: AccessTrail;
  cookies: Cookies;
  routes: RouteTable;
  log: Logger;
}

/** Every request passes these steps in this order, whatever door it is for (03 §1, 04 §2). */
export function installPipeline(express: Express, parts: PipelineParts): void {
  const { configuration, authenticator, cookies, csrf, trail, routes } = parts;
  const baseUrl = configuration.get('datapipelines.auth.base-url');
  const baseOrigin = baseUrl ? new URL(baseUrl).origin : undefined;
  const limiter = new RateLimiter(
    parts.transient,
    {
      perSecond: configuration.get('datapipelines.rate-limit.requests-per-second'),
      perMinute: configuration.get('datapipelines.rate-limit.requests-per-minute'),
      unauthenticatedPerMinute: configuration.get('datapipelines.rate-limit.unauthenticated-per-minute'),
      loginPerMinute: configuration.get('datapipelines.auth.rate-limit.login-per-minute'),
    },
    parts.log,
  );
  const origins = [...(baseOrigin ? [baseOrigin] : []), ...configuration.get('datapipelines.cors.allowed-origins')];

  express.use(requestMetrics());
  express.use(correlation(parseProxies(configuration.get('datapipelines.auth.trusted-proxies'))));
  if (configuration.get('datapipelines.observability.tracing.enabled')) express.use(requestSpans());
  express.use(
    securityHeaders({
      https: baseUrl?.startsWith('https:') ?? false,
      hasConsole: configuration.get('datapipelines.graphql.graphiql'),
    }),
  );
  express.use(requestLineGuard());
  express.use(announcedSize(bodyLimits(configuration)));
  express.use(cors(origins));
  express.use(methods(routes));
  const who: AuthenticationParts = {
    authenticator,
    cookies,
    limiter,
    csrf: new CsrfCheck(csrf, cookies, trail, baseOrigin, new Set(origins)),
    csrfCookie: new CsrfCookie(authenticator, csrf, cookies),
  };
  express.use(forgedSignIn(who));
  express.use(limiter.damper());
  express.use(authentication(who));
  express.use(limiter.perPrincipal());
  express.use(standing(trail));
}

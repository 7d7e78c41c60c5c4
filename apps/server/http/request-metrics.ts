import type { NextFunction, Request, Response } from 'express';
import { Histogram, register } from 'prom-client';
import { findContext } from './request-context.js';

const NAME = 'datapipelines_http_server_requests_seconds';
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * How long requests took, by method, templated URI and status (02 §12). The URI is the route that answered, never the
 * path that was asked: labels are a closed set.
 */
export function requestMetrics() {
  register.removeSingleMetric(NAME);
  const seconds = new Histogram({
    name: NAME,
    help: 'HTTP requests.',
    labelNames: ['method', 'uri', 'status'],
    buckets: BUCKETS,
  });
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = performance.now();
    response.once('close', () => {
      const labels = { method: request.method, uri: templateOf(request), status: String(response.statusCode) };
      seconds.observe(labels, (performance.now() - started) / 1000);
    });
    next();
  };
}

/** The route that answered, or the class of the path when none did. */
export function templateOf(request: Request): string {
  const route = (request as { route?: { path?: unknown } }).route?.path;
  return typeof route === 'string' ? route : `(${findContext(request)?.path.class ?? 'unknown'})`;
}

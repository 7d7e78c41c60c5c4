import type { Request, Response } from 'express';
import { writeJson, type Logger, type PenstockError } from '#libs/kernel';
import { asGraphqlError, formatError } from '../graphql/errors/error-format.js';
import { countError } from '../health/error-metrics.js';
import { isCustomerSystemDown } from './customer-systems.js';
import { toPenstockError } from './failure.js';
import { findContext } from './request-context.js';

/** Writes the error envelope, if an answer can still be written. */
export class ErrorResponses {
  constructor(
    private readonly baseUrl: string,
    private readonly log: Logger,
  ) {}

  send(request: Request, response: Response, failure: unknown): void {
    // Nobody waits for the answer, and that the work was given up for it is no failure.
    if (response.destroyed && failure instanceof DOMException && failure.name === 'AbortError') return;
    const error = toPenstockError(failure);
    const correlationId = findContext(request)?.correlationId ?? '';
    this.record(request, error, correlationId);
    if (response.writableEnded) return;
    if (response.headersSent) {
      // An answer that broke off must not look complete.
      response.destroy();
      return;
    }
    const retryAfter = error.details['retry_after_seconds'];
    if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(Math.ceil(retryAfter)));
    for (const name of OF_AN_ANSWER) response.removeHeader(name);
    response.status(error.status);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.end(writeJson(this.body(request, error, correlationId)));
  }

  /** The envelope, or what GraphQL clients read. */
  private body(request: Request, error: PenstockError, correlationId: string): object {
    const { baseUrl } = this;
    if (findContext(request)?.path.class.startsWith('graphql')) {
      return { errors: [formatError(asGraphqlError(error), { correlationId, baseUrl })] };
    }
    return { schema_version: 1, correlation_id: correlationId, error: error.toBody(baseUrl) };
  }

  private record(request: Request, error: PenstockError, correlationId: string): void {
    countError(error);
    const fields = { correlation_id: correlationId, code: error.code, method: request.method, status: error.status };
    if (isCustomerSystemDown(error.code)) this.log.warn(error.message, fields);
    else if (error.status >= 500) this.log.error(error.message, { ...fields, error: error.cause ?? error });
    else this.log.debug(error.message, fields);
  }
}

/** Headers a handler had set for the answer that did not come. */
const OF_AN_ANSWER = ['ETag', 'Location', 'Content-Disposition', 'Content-Length'];

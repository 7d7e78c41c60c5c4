import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { contextOf } from '../../http/request-context.js';
import { toPenstockError } from '../../http/error-response.js';
import { GraphqlEngine } from '../engine/graphql-engine.js';
import { asGraphqlError } from './error-format.js';

/** What the door refuses before an operation runs leaves in the shape that GraphQL clients read. */
@Catch()
export class GraphqlErrorFilter implements ExceptionFilter {
  constructor(private readonly engine: GraphqlEngine) {}

  catch(failure: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      // An answer that broke off must not look complete.
      response.destroy();
      return;
    }
    const error = toPenstockError(failure);
    const { correlationId } = contextOf(http.getRequest<Request>());
    const { status, body } = this.engine.refusal([asGraphqlError(error)], correlationId);
    const retryAfter = error.details['retry_after_seconds'];
    if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(Math.ceil(retryAfter)));
    response.status(status);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.end(body);
  }
}

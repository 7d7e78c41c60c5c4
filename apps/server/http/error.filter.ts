import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isPenstockError, PenstockError } from '#libs/kernel';
import { sendShell } from '../pages/console-shell.js';
import type { ErrorResponses } from './error-response.js';
import { isNavigation } from './navigation.js';
import { findContext } from './request-context.js';
import type { RouteTable } from './route-table.js';

/** Every failure of a step or a handler leaves through here, as one envelope. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly responses: ErrorResponses,
    private readonly routes: RouteTable,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    // A field that fails does not end the answer: GraphQL says so itself.
    if (host.getType<string>() === 'graphql') throw error;
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const failure = this.translate(error, request, response);
    const context = findContext(request);
    // A browser on a page's address gets the console, which says itself that nothing is there (10 §1).
    if (
      context?.principal &&
      isPenstockError(failure) &&
      failure.code === 'request.not_found' &&
      isNavigation(request)
    ) {
      sendShell(request, response, context.path.path);
      return;
    }
    this.responses.send(request, response, failure);
  }

  /** The framework itself throws for a path or verb that no handler has, and for a path it cannot decode. */
  private translate(error: unknown, request: Request, response: Response): unknown {
    if (!(error instanceof HttpException)) return error;
    if (error.getStatus() === 400) return new PenstockError('request.malformed', { cause: error });
    if (error.getStatus() !== 404) return error;
    const { error: refusal, allow } = this.routes.refusal(findContext(request)?.path.path ?? request.path);
    if (allow) response.setHeader('Allow', allow.join(', '));
    return refusal;
  }
}

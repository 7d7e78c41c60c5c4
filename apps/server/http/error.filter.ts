import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PenstockError } from '#libs/kernel';
import type { ErrorResponses } from './error-response.js';
import type { RouteTable } from './route-table.js';

/** Every failure of a handler leaves through here, as one envelope. GraphQL formats its own. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly responses: ErrorResponses,
    private readonly routes: RouteTable,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    if (host.getType<string>() === 'graphql') throw error;
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    this.responses.send(request, response, this.translate(error, request, response));
  }

  /** The framework itself throws only for a path or verb that no handler has. */
  private translate(error: unknown, request: Request, response: Response): unknown {
    if (!(error instanceof HttpException) || error.getStatus() !== 404) return error;
    return this.routes.refusal(request, response) ?? new PenstockError('request.not_found');
  }
}

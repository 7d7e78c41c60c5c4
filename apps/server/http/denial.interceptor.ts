import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { AccessTrail } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { OPERATION, type HandlerOperation } from './operation.decorator.js';
import { contextOf } from './request-context.js';

/**
 * Writes down what a service refuses after the guard let the operation pass: rights that depend on arguments and rows are
 * judged there (04 §10). The other doors do so for their own fields and tools.
 */
@Injectable()
export class DenialInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly trail: AccessTrail,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType<string>() === 'graphql') return next.handle();
    const operation = this.reflector.get<HandlerOperation>(OPERATION, context.getHandler());
    const { principal } = contextOf(context.switchToHttp().getRequest<Request>());
    if (!principal) return next.handle();
    return next.handle().pipe(catchError((error: unknown) => this.told(principal, operation, error)));
  }

  private async told(principal: Principal, operation: string, error: unknown): Promise<never> {
    await this.trail.denied(principal, operation, error);
    throw error;
  }
}

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Admission } from '#libs/identity';
import { PenstockError } from '#libs/kernel';
import { OPERATION, type HandlerOperation } from './operation.decorator.js';
import { contextOf } from './request-context.js';

/** Judges every handler by its row of the operations table; what depends on arguments the service judges again. */
@Injectable()
export class OperationGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly admission: Admission,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // Root fields have a guard of their own, before the resolver (03 §12).
    if (context.getType<string>() === 'graphql') return true;
    const operation = this.reflector.get<HandlerOperation | undefined>(OPERATION, context.getHandler());
    if (operation === undefined) throw new PenstockError('internal', { message: 'The handler has no operation.' });
    if (operation === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const { principal, path } = contextOf(request);
    if (!principal) throw new PenstockError('auth.api_key.missing');
    await this.admission.admit(principal, operation, { path: path.path, method: request.method });
    return true;
  }
}

import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PenstockError, type Principal } from '#libs/kernel';
import { contextOf } from './request-context.js';

/** The authenticated principal of the request. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = contextOf(context.switchToHttp().getRequest<Request>());
  if (!principal) throw new PenstockError('auth.api_key.missing');
  return principal;
});

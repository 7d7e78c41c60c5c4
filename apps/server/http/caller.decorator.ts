import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PenstockError, type Principal } from '#libs/kernel';
import { contextOf } from './request-context.js';

/** The authenticated principal of the request. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);

/** @throws `auth.api_key.missing` where nobody is known */
export function callerOf(request: Request): Principal {
  const { principal } = contextOf(request);
  if (!principal) throw new PenstockError('auth.api_key.missing');
  return principal;
}

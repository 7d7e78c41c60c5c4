import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { Configuration } from '#libs/kernel';
import { readBody, type BodyLimits } from './body.js';

export function bodyLimits(configuration: Configuration): BodyLimits {
  return {
    request: configuration.get('datapipelines.limits.max-request-bytes'),
    import: configuration.get('datapipelines.limits.max-import-bytes'),
    graphql: configuration.get('datapipelines.graphql.max-body-bytes'),
  };
}

/** Reads the body behind the operation guard: whoever may not act is told so, not what is wrong with his JSON (03 §1). */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  readonly #limits: BodyLimits;

  constructor(configuration: Configuration) {
    this.#limits = bodyLimits(configuration);
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType<string>() === 'graphql') return next.handle();
    const request = context.switchToHttp().getRequest<Request>();
    request.body = await readBody(request, this.#limits);
    return next.handle();
  }
}

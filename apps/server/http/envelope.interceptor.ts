import { createHash } from 'node:crypto';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { writeJson } from '#libs/kernel';
import { namesTag } from './entity-tag.js';
import { contextOf } from './request-context.js';

/** A representation that carries an ETag `"<body_hash>.<r>"`; r covers the whole body, because status moves under one hash. */
export class Versioned {
  constructor(
    readonly data: object,
    readonly bodyHash: string,
  ) {}
}

/** Wraps what a handler returns into the success envelope; `undefined` is 204, an already ended response is left alone. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType<string>() === 'graphql') return next.handle();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    return next.handle().pipe(map((data: unknown) => this.finish(request, response, data)));
  }

  private finish(request: Request, response: Response, data: unknown): string | undefined {
    if (response.headersSent) return undefined;
    if (data === undefined) {
      // A handler that chose a redirect keeps it.
      if (response.statusCode < 300) response.status(204);
      response.setHeader('Cache-Control', 'no-store');
      return undefined;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    const { correlationId } = contextOf(request);
    if (data instanceof Versioned) {
      const body = writeJson(data.data);
      const etag = `"${data.bodyHash}.${createHash('sha256').update(body).digest('hex').slice(0, 8)}"`;
      response.setHeader('ETag', etag);
      response.setHeader('Cache-Control', 'private, no-cache');
      if (namesTag(request.get('If-None-Match'), etag)) {
        response.status(304);
        return undefined;
      }
      return `{"schema_version":1,"correlation_id":"${correlationId}","data":${body}}`;
    }
    response.setHeader('Cache-Control', 'no-store');
    return writeJson({ schema_version: 1, correlation_id: correlationId, data });
  }
}

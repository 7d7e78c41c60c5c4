import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { contextOf } from './request-context.js';
import { templateOf } from './request-metrics.js';

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * A span for each request, below the caller's when it sends `traceparent`; everything the request begins is below it.
 * The path is the route that answered, so no id and no query becomes an attribute.
 */
export function requestSpans() {
  const tracer = trace.getTracer('penstock');
  return (request: Request, response: Response, next: NextFunction): void => {
    const attributes = {
      'http.request.method': request.method,
      'datapipelines.correlation_id': contextOf(request).correlationId,
    };
    const parent = callerOf(request.get('traceparent'));
    const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER, attributes }, parent);
    response.once('close', () => {
      const route = templateOf(request);
      span.updateName(`${request.method} ${route}`);
      span.setAttributes({ 'http.route': route, 'http.response.status_code': response.statusCode });
      if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), next);
  };
}

/** The caller's span; whether we record is for our own sampler to say, not for a stranger's flag. */
function callerOf(header: string | undefined): Context {
  const [, traceId, spanId] = TRACEPARENT.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE, isRemote: true });
}

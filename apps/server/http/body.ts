import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { PenstockError, readJsonBytes, type JsonValue } from '#libs/kernel';
import { contextOf } from './request-context.js';

export interface BodyLimits {
  /** Bytes of an ordinary request body. */
  request: number;
  /** Bytes of a GraphQL request. */
  graphql: number;
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

function limitFor(pathClass: string, limits: BodyLimits): number {
  return pathClass === 'graphql' || pathClass === 'graphql_stream' ? limits.graphql : limits.request;
}

/** Refuses a body that announces itself as too large, before anybody is authenticated. */
export function announcedSize(limits: BodyLimits) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { path } = contextOf(request);
    const limit = limitFor(path.class, limits);
    if (Number(request.get('Content-Length') ?? 0) > limit) throw tooLarge(limit);
    next();
  };
}

/**
 * Reads and parses the body: JSON with exact numbers, or the sign-in form. An absent body is `undefined`.
 * `/graphql` is scanned by the same rules and then parsed plainly, because its variables are doubles by protocol.
 */
export function parseBody(limits: BodyLimits) {
  return async (request: Request, _response: Response, next: NextFunction): Promise<void> => {
    request.body = undefined;
    if (!WITH_BODY.has(request.method)) return next();
    const { path } = contextOf(request);
    const bytes = await readAll(request, limitFor(path.class, limits));
    if (bytes.length === 0) return next();
    const type = (request.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (path.class === 'login' && type === 'application/x-www-form-urlencoded') {
      request.body = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
      return next();
    }
    if (type !== 'application/json') {
      throw new PenstockError('request.unsupported_media_type', { details: { content_type: type.slice(0, 64) } });
    }
    const exact: JsonValue = readJsonBytes(bytes);
    request.body = path.class.startsWith('graphql') ? plainJson(bytes) : exact;
    next();
  };
}

/** Only for text that `readJsonBytes` accepted a moment ago. */
function plainJson(bytes: Buffer): unknown {
  // eslint-disable-next-line no-restricted-properties -- GraphQL variables are doubles by protocol (03 §12)
  return JSON.parse(bytes.toString('utf8'));
}

async function readAll(stream: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(limit: number): PenstockError {
  return new PenstockError('request.body_too_large', {
    message: `The request body is larger than ${limit} bytes.`,
    details: { limit_bytes: limit },
  });
}

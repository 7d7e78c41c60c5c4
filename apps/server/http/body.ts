import type { NextFunction, Request, Response } from 'express';
import { PenstockError, readJsonBytes, type JsonValue } from '#libs/kernel';
import { lingerUnderBody } from './refused-body.js';
import { contextOf } from './request-context.js';

/** Bytes of a request body. */
export interface BodyLimits {
  request: number;
  /** Of pipeline and template imports, and of what another deployment promotes. */
  import: number;
  graphql: number;
}

const IMPORTS = new Set(['/api/v1/pipelines/import', '/api/v1/templates/import', '/api/v1/promotion/push']);
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

function limitFor(request: Request, limits: BodyLimits): number {
  const { path } = contextOf(request);
  if (path.class.startsWith('graphql')) return limits.graphql;
  return IMPORTS.has(path.path) ? limits.import : limits.request;
}

/** Refuses a body that announces itself as too large, before anybody is authenticated. */
export function announcedSize(limits: BodyLimits) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const limit = limitFor(request, limits);
    if (Number(request.get('Content-Length') ?? 0) > limit) throw tooLarge(request, limit);
    next();
  };
}

/**
 * Reads and parses a body: JSON with exact numbers, or the sign-in form. An absent body is `undefined`.
 * `/graphql` is scanned by the same rules and then parsed plainly, because its variables are doubles by protocol;
 * `/mcp` gets the bytes.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (!WITH_BODY.has(request.method)) return void lingerUnderBody(request);
  const { path } = contextOf(request);
  const bytes = await readAll(request, limitFor(request, limits));
  if (bytes.length === 0) return undefined;
  // JSON-RPC says itself what is wrong with its text.
  if (path.class === 'mcp') return bytes;
  const type = mediaType(request);
  if (path.class === 'login' && type === FORM) return formFields(bytes);
  if (type !== 'application/json') {
    throw new PenstockError('request.unsupported_media_type', { details: { content_type: type.slice(0, 64) } });
  }
  const exact: JsonValue = readJsonBytes(bytes);
  return path.class.startsWith('graphql') ? plainJson(bytes) : exact;
}

export const FORM = 'application/x-www-form-urlencoded';

export function mediaType(request: Request): string {
  return (request.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The fields of a form by name. @throws the generic 400 with `reason: repeated` for a name that stands twice */
function formFields(bytes: Buffer): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (fields.has(name)) {
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: `“${name.slice(0, 64)}” stands in the form more than once.`,
        details: { field: name.slice(0, 64), reason: 'repeated' },
      });
    }
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** Only for text that `readJsonBytes` accepted a moment ago. */
function plainJson(bytes: Buffer): unknown {
  // eslint-disable-next-line no-restricted-properties -- GraphQL variables are doubles by protocol (03 §12)
  return JSON.parse(bytes.toString('utf8'));
}

/** The whole body. A refusal leaves the stream standing, for its sender to learn why. */
async function readAll(request: Request, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of pieces) {
      size += chunk.length;
      if (size > limit) throw tooLarge(request, limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof PenstockError) throw error;
    throw new PenstockError('request.malformed', { message: 'The request ended before its body did.', cause: error });
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(request: Request, limit: number): PenstockError {
  lingerUnderBody(request);
  return new PenstockError('request.body_too_large', {
    message: `The request body is larger than ${limit} bytes.`,
    details: { limit_bytes: limit },
  });
}

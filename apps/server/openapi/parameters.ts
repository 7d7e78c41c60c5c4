import type { RequestHeader } from '../http/describe.decorator.js';
import type { JsonSchema } from './json-schema.js';

/** A Parameter Object of OpenAPI 3.1. */
export interface Parameter extends JsonSchema {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

const HEADERS: Readonly<Record<RequestHeader, { about: string; required?: true; schema?: JsonSchema }>> = {
  'If-Match': {
    about: 'The `body_hash` the change is based on, with or without quotes. Stale: 409 with what stands there now.',
    required: true,
  },
  'If-None-Match': { about: 'The `ETag` of an earlier answer: 304 while nothing changed.' },
  'Idempotency-Key': {
    about: '1 to 255 visible ASCII characters. The same key and request attach to the run that was started first.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Prefer: { about: '`respond-async` answers 202 at once; the run goes on by itself.' },
  'Last-Event-ID': { about: 'Resume after this event; wins over `after`.' },
  'DP-Result-TTL-Seconds': {
    about: 'How long the rows are kept, clamped to the bounds of the deployment.',
    schema: { type: 'integer' },
  },
  'DP-Result-Page-Rows': {
    about: 'Rows of the first page, clamped to the bounds of the deployment.',
    schema: { type: 'integer' },
  },
};

export function headerParameters(names: readonly RequestHeader[], { unsafe }: { unsafe: boolean }): Parameter[] {
  const own = names.map((name): Parameter => {
    const { about, required, schema } = HEADERS[name];
    return {
      name,
      in: 'header',
      required: required ?? false,
      description: about,
      schema: schema ?? { type: 'string' },
    };
  });
  if (!unsafe) return own;
  const about =
    'The value of the cookie `dp_csrf` (`__Host-dp_csrf` over https); needed with a session, not with a key.';
  return [
    ...own,
    { name: 'DP-CSRF-Token', in: 'header', required: false, description: about, schema: { type: 'string' } },
  ];
}

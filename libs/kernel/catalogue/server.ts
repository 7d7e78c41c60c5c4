import type { CatalogueEntry } from './entry.js';

/** The request itself, GraphQL, limits, and the server's own state (contract 03 §1, §2, §10, §12). */
export const serverCodes = {
  'request.path_invalid': {
    status: 400,
    title: 'The path contains characters or segments that are not accepted.',
    fix: 'Send the plain path without encoded slashes, backslashes, ";", "." or ".." segments.',
  },
  'request.not_found': {
    status: 404,
    title: 'Nothing answers at this path.',
    fix: 'Check the path, its letter case and that it has no trailing slash.',
  },
  'request.method_not_allowed': {
    status: 405,
    title: 'This path does not answer this method.',
    fix: 'Use a method of the "Allow" header.',
  },
  'request.not_acceptable': {
    status: 406,
    title: 'The answer is not available in a format the request accepts.',
    fix: 'Accept one of the formats listed in the details.',
  },
  'request.body_too_large': {
    status: 413,
    title: 'The request body is too large.',
    fix: 'Send at most the number of bytes in "details.limit_bytes".',
  },
  'request.uri_too_long': {
    status: 414,
    title: 'The URL is too long.',
    fix: 'Keep the URL within 8 KiB; send long values in the body.',
  },
  'request.unsupported_media_type': {
    status: 415,
    title: 'The content type of the body is not accepted.',
    fix: 'Send JSON with "Content-Type: application/json".',
  },
  'request.malformed': {
    status: 400,
    title: 'This is no complete HTTP request.',
    fix: 'Send a well-formed HTTP/1.1 request with a "Host" header and its whole body.',
  },
  'request.timeout': {
    status: 408,
    title: 'The request took too long to arrive.',
    fix: 'Send the headers within 10 seconds and the whole request within a minute.',
  },
  'request.headers_too_large': {
    status: 431,
    title: 'The headers of the request are too large.',
    fix: 'Send fewer or shorter headers and cookies; together they may have 32 KiB.',
  },
  'graphql.document_too_large': {
    status: 400,
    title: 'The GraphQL document is too large.',
    fix: 'Send a smaller document; the limit is in the details.',
  },
  'graphql.too_deep': {
    status: 400,
    title: 'The GraphQL query is nested too deeply.',
    fix: 'Ask for fewer levels at once; the limit is in the details.',
  },
  'graphql.too_complex': {
    status: 400,
    title: 'The GraphQL query asks for too much at once.',
    fix: 'Ask for smaller pages or fewer lists; the limit is in the details.',
  },
  'graphql.too_many_aliases': {
    status: 400,
    title: 'The GraphQL query uses too many aliases.',
    fix: 'Use fewer aliases; the limit is in the details.',
  },
  'graphql.too_many_root_fields': {
    status: 400,
    title: 'The GraphQL operation has too many root fields.',
    fix: 'Send several operations; the limit is in the details.',
  },
  'graphql.pagination_invalid': {
    status: 400,
    title: 'The paging arguments are not valid.',
    fix: 'Give "first" with "after", or "last" with "before", within the page limit.',
  },
  'graphql.cursor_invalid': {
    status: 400,
    title: 'The cursor was not made by this list.',
    fix: 'Start again without a cursor, with the same order and filters throughout.',
  },
  'graphql.batching_disabled': {
    status: 400,
    title: 'Several GraphQL operations in one request are not accepted.',
    fix: 'Send one operation per request.',
  },
  'graphql.introspection_disabled': {
    status: 400,
    title: 'Introspection is switched off on this server.',
    fix: 'Use the published schema file of this release.',
  },
  'graphql.operation_not_allowed': {
    status: 400,
    title: 'This GraphQL operation is not accepted here.',
    fix: 'Send subscriptions to /graphql/stream and everything else to /graphql; where trusted documents are required, send one of those.',
  },
  'graphql.timeout': {
    status: 504,
    title: 'The GraphQL operation took too long.',
    fix: 'Ask for less at once.',
  },
  'rate_limit.exceeded': {
    status: 429,
    title: 'Too many requests.',
    fix: 'Wait for the seconds in the "Retry-After" header, then go on more slowly.',
  },
  'rate_limit.unavailable': {
    status: 429,
    title: 'The request budget cannot be checked now.',
    fix: 'Try again in a moment; tell the operator if it stays.',
  },
  'idempotency.key_reused_for_different_request': {
    status: 409,
    title: 'This idempotency key was used for another request.',
    fix: 'Use a new key for every different request.',
  },
  'idempotency.in_progress': {
    status: 409,
    title: 'The first request with this idempotency key is still being worked on.',
    fix: 'Wait for the seconds in the "Retry-After" header and send the same request again.',
  },
  'server.unavailable': {
    status: 503,
    title: 'The server cannot reach its own database at the moment.',
    fix: 'Send the request again after the seconds in the "Retry-After" header; tell the operator if it stays.',
  },
  'server.draining': {
    status: 503,
    title: 'This server is shutting down and takes no new work.',
    fix: 'Send the request again; another instance will take it.',
  },
  internal: {
    status: 500,
    title: 'Something unexpected failed in the server.',
    fix: 'Try again; if it stays, tell the operator the correlation id.',
  },
} satisfies Record<string, CatalogueEntry>;

import type { Request } from 'express';
import { PenstockError } from '#libs/kernel';
import type { OperationRequest } from './limits/operation-gate.js';
import { isSha256 } from './persisted/document-hash.js';

/** An operation as it was asked for: by its document, by the document's hash, or by both. */
export interface AskedOperation extends Omit<OperationRequest, 'query'> {
  query?: string | undefined;
  sha256?: string | undefined;
}

/** The one version of the protocol of persisted queries there is. */
const PERSISTED_VERSION = 1;

/**
 * The one operation of a request body: `{query?, operationName?, variables?, extensions?}`; `query` may be left out where
 * `extensions.persistedQuery` names its hash.
 *
 * @throws `graphql.batching_disabled` for a list, the generic 400 with `field` for anything else that is no operation
 */
export function operationRequest(request: Request): AskedOperation {
  const body: unknown = request.body;
  if (Array.isArray(body)) throw new PenstockError('graphql.batching_disabled');
  if (!isRecord(body)) throw malformed('body', 'Send a JSON object with “query”.');
  const { operationName, variables } = body;
  const sha256 = persistedHash(body['extensions']);
  const query = body['query'] ?? undefined;
  if (query === undefined ? sha256 === undefined : typeof query !== 'string' || query.trim() === '') {
    throw malformed('query', '“query” must be a document.');
  }
  if (operationName != null && typeof operationName !== 'string') {
    throw malformed('operationName', '“operationName” must be a text.');
  }
  if (variables != null && !isRecord(variables)) throw malformed('variables', '“variables” must be an object.');
  return {
    query: query as string | undefined,
    sha256,
    operationName: operationName || undefined,
    variables: (variables as Record<string, unknown> | null | undefined) ?? undefined,
  };
}

function persistedHash(extensions: unknown): string | undefined {
  const persisted = isRecord(extensions) ? extensions['persistedQuery'] : undefined;
  if (persisted == null) return undefined;
  const { version, sha256Hash } = isRecord(persisted) ? persisted : {};
  if (version !== PERSISTED_VERSION) {
    throw malformed('extensions.persistedQuery.version', 'Only version 1 of persisted queries is known.');
  }
  if (!isSha256(sha256Hash)) {
    throw malformed('extensions.persistedQuery.sha256Hash', 'The hash must be SHA-256, in lower-case hex.');
  }
  return sha256Hash;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(field: string, message: string): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message,
    details: { field, reason: 'field' },
  });
}

import type { Request } from 'express';
import { PenstockError } from '#libs/kernel';
import type { OperationRequest } from './limits/operation-gate.js';

/**
 * The one operation of a request body: `{query, operationName?, variables?, extensions?}`.
 *
 * @throws `graphql.batching_disabled` for a list, the generic 400 with `field` for anything else that is no operation
 */
export function operationRequest(request: Request): OperationRequest {
  const body: unknown = request.body;
  if (Array.isArray(body)) throw new PenstockError('graphql.batching_disabled');
  if (!isRecord(body)) throw malformed('body', 'Send a JSON object with “query”.');
  const { query, operationName, variables } = body;
  if (typeof query !== 'string' || query.trim() === '') throw malformed('query', '“query” must be a document.');
  if (operationName != null && typeof operationName !== 'string') {
    throw malformed('operationName', '“operationName” must be a text.');
  }
  if (variables != null && !isRecord(variables)) throw malformed('variables', '“variables” must be an object.');
  return {
    query,
    operationName: operationName || undefined,
    variables: (variables as Record<string, unknown> | null | undefined) ?? undefined,
  };
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

import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { GRAPHQL_PROTOCOL_CODES, type PenstockError } from '#libs/kernel';
import { countError } from '../../health/error-metrics.js';
import { toPenstockError } from '../../http/failure.js';
import { protocolCodeOf } from './protocol-error.js';

export interface ErrorFacts {
  correlationId: string;
  /** `auth.base-url` or empty. */
  baseUrl: string;
}

/**
 * One error of an answer: `{message, path, locations, extensions: {code, http_status, correlation_id, user_message,
 * details, doc_url}}` (03 §12). What is neither of the catalogue nor of the protocol becomes `internal`: a fixed text
 * and nothing of the failure.
 */
export function formatError(error: GraphQLError, { correlationId, baseUrl }: ErrorFacts): GraphQLFormattedError {
  const { message, locations, path } = error;
  const place = { ...(locations ? { locations } : {}), ...(path ? { path } : {}) };
  const protocol = protocolCodeOf(error);
  if (protocol) {
    const { status, fix } = GRAPHQL_PROTOCOL_CODES[protocol];
    const extensions = {
      code: protocol,
      http_status: status,
      correlation_id: correlationId,
      user_message: fix,
      details: {},
      doc_url: `${baseUrl}/docs/errors#${protocol}`,
    };
    return { message, ...place, extensions };
  }
  const known = catalogued(error);
  countError(known);
  const { message: text, ...body } = known.toBody(baseUrl);
  const { code, ...rest } = body;
  return {
    message: text,
    ...place,
    extensions: { code, http_status: known.status, correlation_id: correlationId, ...rest },
  };
}

/** The failure a resolver threw, or `internal` around whatever else it was. */
export function catalogued(error: GraphQLError): PenstockError {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return toPenstockError(cause);
}

/** A catalogued refusal in the shape that execution errors have. */
export function asGraphqlError(refusal: PenstockError): GraphQLError {
  return new GraphQLError(refusal.message, { originalError: refusal });
}

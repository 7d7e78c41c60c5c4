import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/** Failures of the protocol itself keep the names clients know (03 §12); all are 400. */
export const PROTOCOL_CODES = {
  GRAPHQL_PARSE_FAILED: 'Correct the syntax of the document.',
  GRAPHQL_VALIDATION_FAILED: 'Compare the document with the schema.',
  BAD_USER_INPUT: 'Correct the variables of the operation.',
  OPERATION_RESOLUTION_FAILURE: 'Name one operation of the document in “operationName”.',
} as const;
export type ProtocolCode = keyof typeof PROTOCOL_CODES;

export const PROTOCOL_STATUS = 400;

export function protocolCodeOf(error: GraphQLError): ProtocolCode | undefined {
  const { code } = error.extensions;
  return typeof code === 'string' && Object.hasOwn(PROTOCOL_CODES, code) ? (code as ProtocolCode) : undefined;
}

/** The same error under a protocol code. */
export function withProtocolCode(error: GraphQLError, code: ProtocolCode): GraphQLError {
  const { nodes, source, positions, path } = error;
  return protocolError(error.message, code, { nodes, source, positions, path });
}

export function protocolError(message: string, code: ProtocolCode, options: GraphQLErrorOptions = {}): GraphQLError {
  return new GraphQLError(message, { ...options, extensions: { code } });
}

import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { GRAPHQL_PROTOCOL_CODES } from '#libs/kernel';

export type ProtocolCode = keyof typeof GRAPHQL_PROTOCOL_CODES;

export function protocolCodeOf(error: GraphQLError): ProtocolCode | undefined {
  const { code } = error.extensions;
  return typeof code === 'string' && Object.hasOwn(GRAPHQL_PROTOCOL_CODES, code) ? (code as ProtocolCode) : undefined;
}

/** The same error under a protocol code, its message cut to so many characters. */
export function withProtocolCode(error: GraphQLError, code: ProtocolCode, maxChars: number): GraphQLError {
  const { nodes, source, positions, path, message } = error;
  const told = message.length > maxChars ? `${message.slice(0, maxChars)}…` : message;
  return protocolError(told, code, { nodes, source, positions, path });
}

export function protocolError(message: string, code: ProtocolCode, options: GraphQLErrorOptions = {}): GraphQLError {
  return new GraphQLError(message, { ...options, extensions: { code } });
}

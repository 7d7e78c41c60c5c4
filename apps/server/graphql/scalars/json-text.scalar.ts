import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/**
 * A text that holds JSON: documents and parameters keep their numbers exactly as they are written, which a variable
 * would lose (03 §12). Its content is read like the body of a REST request, by whoever takes it.
 */
export const JsonText = new GraphQLScalarType<string, string>({
  name: 'JsonText',
  description: 'A String holding JSON; numbers keep their spelling.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: requireText,
  parseValue: requireText,
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING) return node.value;
    throw new GraphQLError('JsonText is a String that holds JSON.', { nodes: node });
  },
});

function requireText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new GraphQLError('JsonText is a String that holds JSON.');
}

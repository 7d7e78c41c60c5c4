import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

/**
 * Any JSON value. As output: what the kernel's `writeJson` takes, so that numbers leave as the digits they are. As input
 * it is for small values of the protocol's own precision; documents and parameters travel as `JsonText`.
 */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'A JSON value; numbers in it are exact.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: literal,
});

function literal(node: ValueNode, variables?: Record<string, unknown> | null): unknown {
  switch (node.kind) {
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.NULL:
      return null;
    case Kind.LIST:
      return node.values.map((each) => literal(each, variables));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, literal(value, variables)]));
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    default:
      throw new GraphQLError('JSON has no enum values.', { nodes: node });
  }
}

import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/** A whole number within ±(2^53 − 1): counts, bytes and milliseconds, which outgrow Int. */
export const Long = new GraphQLScalarType<number, number>({
  name: 'Long',
  description: 'A whole number between -(2^53 - 1) and 2^53 - 1.',
  serialize: wholeNumber,
  parseValue: wholeNumber,
  parseLiteral: (node) => {
    if (node.kind === Kind.INT) return wholeNumber(Number(node.value));
    throw new GraphQLError('Long is a whole number.', { nodes: node });
  },
});

function wholeNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new GraphQLError('Long is a whole number between -(2^53 - 1) and 2^53 - 1.');
}

import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { momentOf } from '#libs/kernel';

export const DateTime = textScalar('DateTime', 'RFC 3339, UTC: `2026-01-31T08:15:30.123Z`.', momentOf);

/** A scalar that is a text of some form. What we store already has it; only input is judged, and taken in its normal form. */
function textScalar(
  name: string,
  description: string,
  normal: (text: string) => string | undefined,
): GraphQLScalarType<string, string> {
  const judged = (value: unknown): string => {
    const taken = typeof value === 'string' ? normal(value) : undefined;
    if (taken !== undefined) return taken;
    throw new GraphQLError(`Not a ${name}. ${description}`);
  };
  return new GraphQLScalarType<string, string>({
    name,
    description,
    serialize: (value) => {
      if (typeof value === 'string') return value;
      throw new TypeError(`${name} is given as a text`);
    },
    parseValue: judged,
    parseLiteral: (node) => judged(node.kind === Kind.STRING ? node.value : undefined),
  });
}

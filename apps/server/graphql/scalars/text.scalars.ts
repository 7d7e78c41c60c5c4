import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/** RFC 3339 with a zone. Our own stamps are UTC with milliseconds. */
const MOMENT = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

export const DateTime = textScalar('DateTime', 'RFC 3339, UTC: `2026-01-31T08:15:30.123Z`.', isMoment);

function isMoment(text: string): boolean {
  return MOMENT.test(text) && Number.isFinite(Date.parse(text));
}

/** A scalar that is a text of some form. What we store already has it; only input is judged. */
function textScalar(
  name: string,
  description: string,
  accepts: (text: string) => boolean,
): GraphQLScalarType<string, string> {
  const judged = (value: unknown): string => {
    if (typeof value === 'string' && accepts(value)) return value;
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

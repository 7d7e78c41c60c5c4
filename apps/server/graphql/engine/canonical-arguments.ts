import {
  getNullableType,
  GraphQLID,
  isInputObjectType,
  isListType,
  type GraphQLArgument,
  type GraphQLInputType,
} from 'graphql';
import { canonicalId } from '#libs/kernel';

type Arguments = Record<string, unknown>;
type Reader = (value: unknown) => unknown;

/** Reads the arguments of a field with every `ID` in the form in which services and loaders compare it. */
export function canonicalArguments(declared: readonly GraphQLArgument[]): (given: Arguments) => Arguments {
  const readers = declared.flatMap(({ name, type }) => {
    const reader = readerOf(type);
    return reader ? [[name, reader] as const] : [];
  });
  return readers.length === 0 ? (given) => given : (given) => read(given, readers);
}

/** Undefined for a type that holds no id. */
function readerOf(type: GraphQLInputType): Reader | undefined {
  const bare = getNullableType(type) as GraphQLInputType;
  if (bare === GraphQLID) return (value) => (typeof value === 'string' ? canonicalId(value) : value);
  if (isListType(bare)) {
    const item = readerOf(bare.ofType as GraphQLInputType);
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
  }
  if (!isInputObjectType(bare)) return undefined;
  const fields = Object.values(bare.getFields()).flatMap(({ name, type: held }) => {
    const reader = readerOf(held);
    return reader ? [[name, reader] as const] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) => (typeof value === 'object' && value !== null ? read(value as Arguments, fields) : value);
}

function read(given: Arguments, readers: readonly (readonly [string, Reader])[]): Arguments {
  const changed = { ...given };
  for (const [name, reader] of readers) if (name in given) changed[name] = reader(given[name]);
  return changed;
}

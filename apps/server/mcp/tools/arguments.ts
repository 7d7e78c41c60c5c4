import { canonicalId, isExactNumber, type JsonObject, type JsonValue } from '#libs/kernel';

/** A JSON Schema as it is published. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One argument of a tool: the schema that is published and judged by, and what the tool gets of a value that passed. */
export interface Argument<T> {
  schema: JsonSchema;
  read: (value: JsonValue) => T;
}

export interface OptionalArgument<T> extends Argument<T> {
  optional: true;
}

export type ArgumentShape = Readonly<Record<string, Argument<unknown>>>;

type OptionalKeys<S> = { [K in keyof S]: S[K] extends { optional: true } ? K : never }[keyof S];
type ValueOf<A> = A extends Argument<infer T> ? T : never;

/** What a tool with this shape is called with. */
export type ArgumentsOf<S extends ArgumentShape> = {
  [K in Exclude<keyof S, OptionalKeys<S>>]: ValueOf<S[K]>;
} & { [K in OptionalKeys<S>]?: ValueOf<S[K]> };

const asText = (value: JsonValue): string => String(value as string);

export function text(description: string, rules: { maxLength?: number; minLength?: number } = {}): Argument<string> {
  return { schema: { type: 'string', description, ...rules }, read: asText };
}

const UUID_PATTERN = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** Longer than any name or id that there is; refusals repeat what was asked for, and must stay short. */
const MAX_NAME_CHARS = 300;

/** What addresses something: a name, a path, an id. */
export function named(description: string): Argument<string> {
  return text(description, { maxLength: MAX_NAME_CHARS });
}

/** The id of a row, in the form in which it is compared. */
export function rowId(description: string): Argument<string> {
  return {
    schema: { type: 'string', description, pattern: UUID_PATTERN },
    read: (value) => canonicalId(asText(value)),
  };
}

/** What may be named by its id as well as by its name. */
export function idOrName(description: string): Argument<string> {
  return { ...named(description), read: (value) => canonicalId(asText(value)) };
}

export function word<const W extends string>(description: string, allowed: readonly W[]): Argument<W> {
  return { schema: { type: 'string', description, enum: allowed }, read: (value) => asText(value) as W };
}

/** A whole number. Bounds of pages and times are no bounds of the schema: what is beyond them is clamped (03 §2). */
export function whole(description: string, rules: { minimum?: number; maximum?: number } = {}): Argument<number> {
  return {
    schema: { type: 'integer', description, ...rules },
    read: (value) => Math.max(Math.min(Number(value), Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER),
  };
}

export function flag(description: string): Argument<boolean> {
  return { schema: { type: 'boolean', description }, read: (value) => value === true };
}

export function texts(description: string, rules: { minItems?: number; maxItems?: number } = {}): Argument<string[]> {
  return {
    schema: { type: 'array', description, items: { type: 'string' }, ...rules },
    read: (value) => (value as JsonValue[]).map(asText),
  };
}

/** An object whose members the service judges; numbers keep their digits. */
export function object(description: string, more: JsonSchema = {}): Argument<JsonObject> {
  return { schema: { type: 'object', description, ...more }, read: (value) => value as JsonObject };
}

/** A list of objects whose members the service judges. */
export function objects(description: string, more: JsonSchema = {}): Argument<JsonObject[]> {
  return {
    schema: { type: 'array', description, items: { type: 'object' }, ...more },
    read: (value) => value as JsonObject[],
  };
}

/** A namespace as a list of names or as one dotted text. */
export function namespace(description: string): Argument<string[]> {
  return {
    schema: {
      description,
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    },
    read: (value) => (Array.isArray(value) ? value.map(asText) : asText(value).split('.')),
  };
}

export function optional<T>(argument: Argument<T>): OptionalArgument<T> {
  return { ...argument, optional: true };
}

export function isOptional(argument: Argument<unknown>): boolean {
  return 'optional' in argument;
}

/** What a value is called in a sentence. */
export function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'a number';
  if (Array.isArray(value)) return 'a list';
  return { string: 'a text', boolean: 'a boolean', object: 'an object' }[typeof value as string] ?? typeof value;
}

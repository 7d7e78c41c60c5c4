import type { JsonSchema } from './arguments.js';

/** Short forms for the schemas of results. Members are never closed: an answer may grow without breaking a client. */
export const TEXT: JsonSchema = { type: 'string' };
export const TEXT_OR_NULL = orNull(TEXT);
export const WHOLE: JsonSchema = { type: 'integer' };
export const WHOLE_OR_NULL = orNull(WHOLE);
export const YES_OR_NO: JsonSchema = { type: 'boolean' };
export const OBJECT: JsonSchema = { type: 'object' };
export const OBJECT_OR_NULL = orNull(OBJECT);

/** In branches of one type each: lists of types are legal, and some clients drop what they describe. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object; `required` are the members that are always there. */
export function result(properties: Readonly<Record<string, JsonSchema>>, ...required: string[]): JsonSchema {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** When something was made and last changed, and by whom. */
export const STAMPS = { created_at: TEXT, created_by: TEXT, updated_at: TEXT } as const;

/** What stands beside the `items` of a list that leaves entries out; absent when it holds all. */
export const CUT = { total: WHOLE, truncated: YES_OR_NO } as const;

/** A list as the member `items` of a structured result. */
export function listResult(items: JsonSchema): JsonSchema {
  return result({ items: list(items), ...CUT }, 'items');
}

/** Columns of rows. */
export const SCHEMA = list(
  result({ name: TEXT, type: TEXT, precision: WHOLE, scale: WHOLE, nullable: YES_OR_NO }, 'name', 'type'),
);
/** Rows as lists of cells in the order of the columns. */
export const ROWS = list({ type: 'array' });

/** What a write answers. */
export const SAVED = result(
  { id: TEXT, version: WHOLE, status: TEXT, body_hash: TEXT, warnings: list(OBJECT) },
  'id',
  'version',
  'status',
  'body_hash',
);

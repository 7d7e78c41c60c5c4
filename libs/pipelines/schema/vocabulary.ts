import { CONTEXT_KEY } from '#libs/typesystem';
import { IDENTIFIER } from '../document/names.js';
import { TEMPDB } from '../document/pipeline-document.js';

/** JSON Schema 2020-12, as far as a document needs it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Most digits of a whole number the readers take. */
const MAX_INTEGER = 999_999_999_999_999;

/** `tempdb` and what stands between double underscores belongs to the engine. */
const RESERVED: Schema = { anyOf: [{ const: TEMPDB }, { pattern: '^__.*__$' }] };

export const identifier: Schema = { type: 'string', pattern: IDENTIFIER.source, not: RESERVED };
export const contextKey: Schema = { type: 'string', pattern: CONTEXT_KEY.source, not: RESERVED };
export const notBlank: Schema = { type: 'string', pattern: '\\S' };
export const scalar: Schema = { type: ['string', 'number', 'boolean', 'null'] };

export function wholeNumber(minimum: number, maximum = MAX_INTEGER): Schema {
  return { type: 'integer', minimum, maximum };
}

/** A null counts as absent (contract 01 §1). */
export function optional(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** A member that a rule refuses. */
export const REFUSED: Schema = { type: 'null' };

export function refused(...names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, REFUSED]));
}

/** What follows when a required member has this value: editors show the members of the chosen alternative only. */
export function when(member: string, value: string, then: Schema): Schema {
  return { if: { required: [member], properties: { [member]: { const: value } } }, then };
}

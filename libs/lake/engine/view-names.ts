import { quoteIdentifier } from '#libs/typesystem';

import type { LakeTableFields } from '../registry/lake-table.js';

/** The engine's own first database. */
const FIRST_DATABASE = 'memory';
/** Where the engine's copy of the registry stands; no namespace begins with an underscore. */
export const REGISTRY_COPY = `${FIRST_DATABASE}.__dp.lake_tables`;

export interface ViewSchema {
  catalog: string;
  schema: string;
}

/** What is wrong with a table that is registered for its own sake: no engine has a place for it (06 §10). */
export const NO_PLACE =
  'A namespace of three or more segments is kept but cannot be queried: the engine knows database and schema only. Register the table under one or two segments to read it.';

/** `[a]` is a schema of the first database, `[a, b]` schema `b` of a database `a`; deeper ones have no place. */
export function viewSchema(namespace: readonly string[]): ViewSchema | undefined {
  const [first, second, ...deeper] = namespace;
  if (first === undefined || deeper.length > 0) return undefined;
  return second === undefined ? { catalog: FIRST_DATABASE, schema: first } : { catalog: first, schema: second };
}

/** The parts by which a query names a listed table, whatever databases and schemas of one name stand beside it. */
export function queryPath({ namespace, name }: Pick<LakeTableFields, 'namespace' | 'name'>): string[] {
  const schema = viewSchema(namespace);
  return schema ? [schema.catalog, schema.schema, name] : [...namespace, name];
}

export function qualifiedSchema({ catalog, schema }: ViewSchema): string {
  return `${quoteIdentifier('DUCKDB', catalog)}.${quoteIdentifier('DUCKDB', schema)}`;
}

export function qualifiedView(schema: ViewSchema, { name }: Pick<LakeTableFields, 'name'>): string {
  return `${qualifiedSchema(schema)}.${quoteIdentifier('DUCKDB', name)}`;
}

export function isFirstDatabase(catalog: string): boolean {
  return catalog === FIRST_DATABASE;
}

import type { FactRef } from '../learned-fact.js';

/** `schema.table`, or `table` where there is no schema (seed §4.18). */
export function tableKey({ schema, table }: Pick<FactRef, 'schema' | 'table'>): string {
  return schema === undefined ? table : `${schema}.${table}`;
}

/** How a listed table's namespace is written in a ref. */
export function schemaOf(namespace: readonly string[]): string | undefined {
  return namespace.length === 0 ? undefined : namespace.join('.');
}

export function namespaceOf(schema: string | undefined): string[] {
  return schema === undefined ? [] : schema.split('.');
}

/** `schema.table.column`, for sorting and for audit rows. */
export function refText(ref: FactRef): string {
  return ref.column === undefined ? tableKey(ref) : `${tableKey(ref)}.${ref.column}`;
}

/** Without repeats, in one order, so that the same refs are the same JSON. */
export function normalisedRefs(refs: readonly FactRef[]): FactRef[] {
  const byKey = new Map(refs.map((ref) => [sortKey(ref), ref]));
  return [...byKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, ref]) => inOrder(ref));
}

/** U+0000 is in no name, so no two refs share a key. */
function sortKey({ schema = '', table, column = '' }: FactRef): string {
  return [schema, table, column].join('\u0000');
}

function inOrder({ schema, table, column }: FactRef): FactRef {
  return { ...(schema === undefined ? {} : { schema }), table, ...(column === undefined ? {} : { column }) };
}

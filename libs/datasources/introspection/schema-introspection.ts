import type {
  CatalogColumn,
  CatalogQuery,
  CatalogReference,
  CatalogTable,
  Introspection,
  TableFilter,
} from './introspection.js';

type Cell = string | null | undefined;
type Row = readonly (string | null)[];

/** A catalog query and its values. */
export interface CatalogStatement {
  sql: string;
  values: readonly unknown[];
}

/** A listing's filter in a dialect whose tables lie in schemas of one level. */
export interface SchemaFilter extends Omit<TableFilter, 'namespace'> {
  /** Null = all of them. */
  schema: string | null;
}

/** What such a dialect asks of its catalog. */
export interface SchemaCatalog extends Pick<Introspection, 'filtersByRights' | 'hidesColumns'> {
  /** Rows of one cell, the schema. */
  schemas(include: readonly string[], limit: number): CatalogStatement;
  /** Rows of schema, name, type and remarks. */
  tables(filter: SchemaFilter, limit: number): CatalogStatement;
  columns(query: CatalogQuery, table: CatalogTable): Promise<CatalogColumn[]>;
  /** One row of one cell, NULL where the connection has no current schema. */
  currentSchema: string;
  /** Absent where `filtersByRights` says it: a name that is not listed may then be kept from the login. */
  mayHold?: Introspection['mayHold'];
}

/** A catalog whose tables lie in schemas of one level (06 §8). */
export function schemaIntrospection(catalog: SchemaCatalog): Introspection {
  const { filtersByRights, hidesColumns } = catalog;
  const mayHold: Introspection['mayHold'] = filtersByRights
    ? (_query, names) => Promise.resolve(names.map(() => true))
    : catalog.mayHold;
  return {
    async schemas(query, include, limit) {
      const { sql, values } = catalog.schemas(include, limit);
      return (await query(sql, values)).map(([schema]) => [schema ?? '']);
    },

    async tables(query, { namespace, ...filter }, limit) {
      // A filter deeper than the shape matches nothing.
      if (namespace !== null && namespace.length !== 1) return [];
      const { sql, values } = catalog.tables({ ...filter, schema: namespace?.[0] ?? null }, limit);
      return (await query(sql, values)).map(([schema, name, type, remarks]) => ({
        namespace: [schema ?? ''],
        name: name ?? '',
        type: type ?? 'TABLE',
        remarks: remarks ?? null,
      }));
    },

    columns: (query, table) => catalog.columns(query, table),

    async currentNamespace(query) {
      const [row] = await query(catalog.currentSchema, []);
      return row?.[0] == null ? null : [row[0]];
    },

    ...(mayHold ? { mayHold } : {}),
    ...(hidesColumns ? { hidesColumns } : {}),
    ...(filtersByRights ? { filtersByRights } : {}),
  };
}

/** System schemas that stay hidden, once those shown by name are taken out. */
export function hiddenSchemas(system: readonly string[], include: readonly string[]): string[] {
  return system.filter((name) => !include.includes(name.toLowerCase()));
}

export function referenceTo(schema: Cell, table: Cell, column: Cell): CatalogReference | null {
  return table == null ? null : { namespace: [schema ?? ''], table, column: column ?? '' };
}

export const numberOf = (cell: Cell): number | null => (cell == null ? null : Number(cell));

/**
 * Keys of a table, from rows of column, kind, position, and the schema, table and column that are referred to: what each
 * column is in them. The first reference of a column is the one that is told.
 */
export function keysOf(
  rows: readonly Row[],
  isPrimary: (kind: string | null) => boolean,
): (column: Cell) => Pick<CatalogColumn, 'primaryKey' | 'references'> {
  return (column) => {
    const own = rows.filter(([name]) => name === column);
    const primary = own.find(([, kind]) => isPrimary(kind ?? null));
    const foreign = own.find(([, kind, , , table]) => !isPrimary(kind ?? null) && table != null);
    return {
      primaryKey: primary ? numberOf(primary[2]) : null,
      references: foreign ? referenceTo(foreign[3], foreign[4], foreign[5]) : null,
    };
  };
}

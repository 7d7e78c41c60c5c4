import type { MappedType } from '#libs/typesystem';

/** Runs one of a driver's own catalog queries: values are bound, cells come as text. */
export type CatalogQuery = (sql: string, values: readonly unknown[]) => Promise<(string | null)[][]>;

export interface CatalogTableName {
  namespace: readonly string[];
  name: string;
}

/** A table, or a column of it. */
export interface CatalogName extends CatalogTableName {
  column: string | null;
}

export interface CatalogTable {
  /** Parts that address its schema; empty where the dialect has none. */
  namespace: readonly string[];
  name: string;
  type: string;
  remarks: string | null;
  /** Of a lake table; absent in dialects that have none. */
  partitionColumn?: string | null;
}

export interface CatalogReference {
  namespace: readonly string[];
  table: string;
  column: string;
}

export interface CatalogColumn {
  name: string;
  sourceType: string;
  mapped: MappedType;
  nullable: boolean | null;
  remarks: string | null;
  /** Position in the primary key, from 1. */
  primaryKey: number | null;
  references: CatalogReference | null;
}

/** Which tables a listing shows. */
export interface TableFilter {
  /** Null = all of them. */
  namespace: readonly string[] | null;
  /** System schemas that are shown all the same, by exact name. */
  include: readonly string[];
  /** The one of this name, letter by letter. */
  name?: string;
}

/** What one dialect's catalog can be asked; reads of the catalog only, never of a table (06 §8). */
export interface Introspection {
  /** Schemas the login may see, in order, at most `limit`; `include` un-hides system schemas by exact name. */
  schemas(query: CatalogQuery, include: readonly string[], limit: number): Promise<(readonly string[])[]>;
  /** Tables and views of one namespace, or of all when it is null. */
  tables(query: CatalogQuery, filter: TableFilter, limit: number): Promise<CatalogTable[]>;
  columns(query: CatalogQuery, table: CatalogTable): Promise<CatalogColumn[]>;
  /** Where an unqualified name is looked for; null when the connection has no such place. */
  currentNamespace(query: CatalogQuery): Promise<readonly string[] | null>;
  /**
   * For each table, or column of one, that a listing does not show: whether it may be there all the same, kept from this
   * login, hidden by the datasource's settings, or newer than what was listed. Absent where a listing shows all there is.
   */
  mayHold?(query: CatalogQuery, names: readonly CatalogName[], datasource: string): Promise<boolean[]>;
  /** The parts by which a query names a listed table. Absent where they are its namespace and its name. */
  pathOf?(table: CatalogTableName): readonly string[];
  /** Set where listings leave out what the login has no right to: a missing name may be one it does not see. */
  readonly filtersByRights?: true;
  /**
   * Whether columns of a listed table are kept from this login, or are no longer those of the table. Absent where none can
   * be, or nobody can tell.
   */
  hidesColumns?(query: CatalogQuery, table: CatalogTableName, datasource: string): Promise<boolean>;
}

import { toWireStamp } from '#libs/kernel';

export const LAKE_FORMATS = ['parquet', 'iceberg'] as const;
export type LakeFormat = (typeof LAKE_FORMATS)[number];

/** What a registration says; a table is registered or removed, never edited (06 §10). */
export interface LakeTableFields {
  /** One to nine segments. */
  namespace: readonly string[];
  name: string;
  format: LakeFormat;
  location: string;
  partitionColumn: string | null;
}

/** A registered table of a lake datasource. */
export interface LakeTable extends LakeTableFields {
  id: string;
  registeredBy: string;
  registeredAt: string;
  /** Why its view could not be made at the last build of the engine; null = healthy. */
  lastError: string | null;
  /** Since when it has been broken. */
  lastErrorAt: string | null;
}

/** A lake table on every door. */
export interface LakeTableView {
  id: string;
  namespace: readonly string[];
  name: string;
  format: LakeFormat;
  location: string;
  partition_column: string | null;
  registered_by: string;
  registered_at: string;
  last_error: string | null;
  last_error_at: string | null;
}

/** `namespace.name`, as people write it. */
export function dottedName({ namespace, name }: Pick<LakeTableFields, 'namespace' | 'name'>): string {
  return [...namespace, name].join('.');
}

export function lakeTableView(table: LakeTable): LakeTableView {
  return {
    id: table.id,
    namespace: table.namespace,
    name: table.name,
    format: table.format,
    location: table.location,
    partition_column: table.partitionColumn,
    registered_by: table.registeredBy,
    registered_at: toWireStamp(table.registeredAt),
    last_error: table.lastError,
    last_error_at: table.lastErrorAt === null ? null : toWireStamp(table.lastErrorAt),
  };
}

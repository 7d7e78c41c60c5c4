import { DuckDBDecimalType, DuckDBTypeId, type DuckDBType } from '@duckdb/node-api';
import { stagedColumnType, type Column } from '#libs/typesystem';

/** A column of a staging table as it is read out: its descriptor, and the SQL that brings it into a basic type. */
export interface ReadableColumn {
  readonly column: Column;
  /** Expression over the quoted column; the column itself where its type is basic already. */
  readonly projection: string;
}

/** Types whose vectors hold exactly what a batch holds. */
const BASIC: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.BOOLEAN,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
  DuckDBTypeId.VARCHAR,
  DuckDBTypeId.BLOB,
  DuckDBTypeId.DATE,
  DuckDBTypeId.TIME,
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_TZ,
]);

const CASTS: ReadonlyMap<DuckDBTypeId, string> = new Map([
  [DuckDBTypeId.TINYINT, 'INTEGER'],
  [DuckDBTypeId.SMALLINT, 'INTEGER'],
  [DuckDBTypeId.UTINYINT, 'INTEGER'],
  [DuckDBTypeId.USMALLINT, 'INTEGER'],
  [DuckDBTypeId.UINTEGER, 'BIGINT'],
  [DuckDBTypeId.UBIGINT, 'DECIMAL(20, 0)'],
  [DuckDBTypeId.TIME_TZ, 'TIME'],
  [DuckDBTypeId.TIME_NS, 'TIME'],
  [DuckDBTypeId.TIMESTAMP_S, 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_MS, 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_NS, 'TIMESTAMP'],
]);

const NESTED: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.LIST,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.UNION,
]);

/** `quoted` is the column's quoted name in the table it is read from. */
export function readableColumn(name: string, type: DuckDBType, quoted: string): ReadableColumn {
  const size = type instanceof DuckDBDecimalType ? { width: type.width, scale: type.scale } : {};
  const canonical = stagedColumnType({ name: DuckDBTypeId[type.typeId] ?? type.toString(), ...size });
  return { column: { name, ...canonical, sourceType: type.toString() }, projection: projectionOf(type.typeId, quoted) };
}

function projectionOf(typeId: DuckDBTypeId, quoted: string): string {
  if (BASIC.has(typeId)) return quoted;
  // Nested values are JSON text on the wire.
  if (NESTED.has(typeId)) return `CAST(to_json(${quoted}) AS VARCHAR)`;
  return `CAST(${quoted} AS ${CASTS.get(typeId) ?? 'VARCHAR'})`;
}

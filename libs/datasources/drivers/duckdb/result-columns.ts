import { DuckDBDecimalType, DuckDBTypeId, type DuckDBPreparedStatement, type DuckDBType } from '@duckdb/node-api';

import { mapDuckdbType, quoteIdentifier, type Column } from '#libs/typesystem';

import type { MappingWarning } from '../driver.js';

export interface DuckdbResult {
  columns: Column[];
  warnings: MappingWarning[];
  /** Cast per column that brings it into a type the chunk reader knows; null = as it is. */
  casts: (string | null)[];
}

/** Types the chunk reader takes as they are. */
const READABLE: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.BOOLEAN,
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
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
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.SQLNULL,
]);

const NESTED: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.LIST,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.UNION,
]);

function castOf(typeId: DuckDBTypeId): string | null {
  if (READABLE.has(typeId)) return null;
  if (NESTED.has(typeId)) return 'CAST(to_json(?) AS VARCHAR)';
  if (typeId === DuckDBTypeId.TIME_TZ) return 'CAST(? AS TIME)';
  // A cast to TIME rounds, at the end of the day to a time that is none: the digits are cut instead (contract 01 §5.2).
  if (typeId === DuckDBTypeId.TIME_NS) return 'CAST(left(CAST(? AS VARCHAR), 15) AS TIME)';
  return 'CAST(? AS VARCHAR)';
}

function describe(type: DuckDBType): { name: string; width?: number; scale?: number } {
  const size = type instanceof DuckDBDecimalType ? { width: type.width, scale: type.scale } : {};
  return { name: DuckDBTypeId[type.typeId] ?? type.toString(), ...size };
}

/** Names and types as the prepared statement has them: known before anything runs. */
export function resultColumns(prepared: DuckDBPreparedStatement): DuckdbResult {
  const result: DuckdbResult = { columns: [], warnings: [], casts: [] };
  for (let index = 0; index < prepared.columnCount; index += 1) {
    const name = prepared.columnName(index);
    const type = prepared.columnType(index);
    const mapped = mapDuckdbType(describe(type));
    const sourceType = type.toString();
    result.columns.push({ name, ...mapped.type, sourceType });
    if (mapped.warning) result.warnings.push({ code: mapped.warning, column: name, source_type: sourceType });
    result.casts.push(castOf(type.typeId));
  }
  return result;
}

/** The author's query inside a projection that casts what needs it; the query itself when nothing does. */
export function projected(sql: string, casts: readonly (string | null)[]): string {
  if (casts.every((cast) => cast === null)) return sql;
  const names = casts.map((_, index) => quoteIdentifier('DUCKDB', `c${index}`));
  const projection = casts.map((cast, index) => cast?.replace('?', names[index] ?? '') ?? names[index]);
  return `SELECT ${projection.join(', ')} FROM (${sql}\n) AS r(${names.join(', ')})`;
}

import { mapped, type MappedType } from './mapped-type.js';

/**
 * A declared SQLite column type, by SQLite's own order of substrings (contract 01 §6.3). No declared type: STRING;
 * the reader settles an expression column by the storage class of its first value.
 */
export function mapSqliteDeclaredType(declared: string | null | undefined): MappedType {
  const name = (declared ?? '').trim().toUpperCase();
  if (name === '') return mapped('STRING');
  if (name.includes('INT')) return mapped(/BIG|INT8/.test(name) ? 'BIGINTEGER' : 'INTEGER');
  if (/CHAR|CLOB|TEXT/.test(name)) return mapped('STRING');
  if (name.includes('BLOB')) return mapped('BINARY');
  if (/REAL|FLOA|DOUB/.test(name)) return mapped('DECIMAL', 15);
  if (/DATE|TIME/.test(name)) return mapped('STRING');
  return mapped('DECIMAL', 15);
}

export type SqliteStorageClass = 'integer' | 'real' | 'text' | 'blob' | 'null';

/** The type of an expression column, by the storage class of its first value that is not null. */
export function mapSqliteStorageClass(storage: SqliteStorageClass): MappedType {
  switch (storage) {
    case 'integer':
      return mapped('BIGINTEGER');
    case 'real':
      return mapped('DECIMAL', 15);
    case 'blob':
      return mapped('BINARY');
    default:
      return mapped('STRING');
  }
}

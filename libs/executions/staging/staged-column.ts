import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  DECIMAL,
  DOUBLE,
  FLOAT,
  HUGEINT,
  INTEGER,
  TIME,
  TIMESTAMPTZ,
  VARCHAR,
} from '@duckdb/node-api';
import type { DuckDBType } from '@duckdb/node-api';
import { needsMeasuring, stagingColumnType, type Column } from '#libs/typesystem';

/** How a column lies in a staging table (contract 01 §6.8). */
export interface StagedColumn {
  readonly name: string;
  /** As in DDL. */
  readonly sqlType: string;
  readonly type: DuckDBType;
  /**
   * Unsized or very wide numbers land as text and get their width when all rows are in: a cast into a width guessed
   * before would round.
   */
  readonly sizedAtEnd: boolean;
}

const BASIC: ReadonlyMap<string, DuckDBType> = new Map<string, DuckDBType>([
  ['BOOLEAN', BOOLEAN],
  ['INTEGER', INTEGER],
  ['BIGINT', BIGINT],
  ['HUGEINT', HUGEINT],
  ['FLOAT', FLOAT],
  ['DOUBLE', DOUBLE],
  ['VARCHAR', VARCHAR],
  ['BLOB', BLOB],
  ['DATE', DATE],
  ['TIME', TIME],
  ['TIMESTAMPTZ', TIMESTAMPTZ],
]);

export function stagedColumn(column: Column): StagedColumn {
  const sqlType = stagingColumnType(column);
  const sizedAtEnd = needsMeasuring(column);
  const type = BASIC.get(sqlType) ?? DECIMAL(column.precision ?? 15, column.scale ?? 0);
  return { name: column.name, sqlType, type, sizedAtEnd };
}

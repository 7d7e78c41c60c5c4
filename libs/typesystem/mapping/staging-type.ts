import { isFloat32, type ColumnType } from '../canonical-type.js';
import { mapDuckdbType, type DuckdbTypeDescription } from './duckdb-type.js';

/** Widest DECIMAL of the staging engine. */
export const MAX_STAGED_DIGITS = 38;

/**
 * DuckDB column type a canonical column is staged in (contract 01 §6.8). Where `needsMeasuring` says so it is VARCHAR
 * until the table is complete.
 */
export function stagingColumnType(type: ColumnType): string {
  switch (type.type) {
    case 'NULL':
    case 'STRING':
      return 'VARCHAR';
    case 'BIGINTEGER':
      return 'BIGINT';
    case 'DECIMAL':
      if (type.scale === undefined) return isFloat32(type) ? 'FLOAT' : 'DOUBLE';
      return decimalText(type.precision ?? 15, type.scale);
    case 'BIGDECIMAL':
      return bigDecimalType(type);
    case 'BINARY':
      return 'BLOB';
    case 'TIMESTAMP':
      return 'TIMESTAMPTZ';
    default:
      return type.type;
  }
}

function bigDecimalType(type: ColumnType): string {
  if (needsMeasuring(type)) return 'VARCHAR';
  return type.precision === undefined ? 'HUGEINT' : decimalText(type.precision, type.scale ?? 0);
}

function decimalText(precision: number, scale: number): string {
  return `DECIMAL(${precision},${scale})`;
}

/**
 * True for a BIGDECIMAL without a size, or too wide for the engine: its values land as text, and `measuredType` gives
 * the type once they are all there. Scale 0 without a precision is a HUGEINT at its origin.
 */
export function needsMeasuring({ type, precision, scale }: ColumnType): boolean {
  if (type !== 'BIGDECIMAL') return false;
  if (precision === undefined) return scale !== 0;
  return precision > MAX_STAGED_DIGITS || scale === undefined;
}

/**
 * The DECIMAL that holds every value with at most so many digits before and after the point; null when the engine has
 * none (`pipeline.staging.precision_overflow`).
 */
export function measuredType(integerDigits: number, fractionDigits: number): string | null {
  return integerDigits + fractionDigits <= MAX_STAGED_DIGITS ? decimalText(MAX_STAGED_DIGITS, fractionDigits) : null;
}

/** The canonical type of a staged column when it is read back: a width of 38 says nothing, so it is not shown. */
export function stagedColumnType(description: DuckdbTypeDescription): ColumnType {
  const { type } = mapDuckdbType(description);
  if (type.type !== 'BIGDECIMAL' || type.precision !== MAX_STAGED_DIGITS) return type;
  return { type: 'BIGDECIMAL', scale: type.scale };
}

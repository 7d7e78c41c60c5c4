import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

/** An Oracle column, of a result or of the catalogue. */
export interface OracleTypeDescription {
  /** The engine's name without sizes: `NUMBER`, `TIMESTAMP WITH TIME ZONE`, `VARCHAR2` … */
  type: string;
  /** Null or 0 = declared without one. */
  precision?: number | null | undefined;
  /** −127 or null = declared without one. */
  scale?: number | null | undefined;
}

/** The scale Oracle gives for a NUMBER or FLOAT that was declared without one. */
const NO_SCALE = -127;

const FIXED: ReadonlyMap<string, MappedType> = new Map(
  Object.entries({
    FLOAT: mapped('DECIMAL', 15),
    BINARY_DOUBLE: mapped('DECIMAL', 15),
    BINARY_FLOAT: mapped('DECIMAL', 7),
    BINARY_INTEGER: mapped('INTEGER'),
    DATE: mapped('TIMESTAMP'),
    BOOLEAN: mapped('BOOLEAN'),
    CHAR: mapped('STRING'),
    VARCHAR2: mapped('STRING'),
    NCHAR: mapped('STRING'),
    NVARCHAR2: mapped('STRING'),
    CLOB: mapped('STRING'),
    NCLOB: mapped('STRING'),
    LONG: mapped('STRING'),
    ROWID: mapped('STRING'),
    UROWID: mapped('STRING'),
    XMLTYPE: mapped('STRING'),
    JSON: mapped('STRING'),
    RAW: mapped('BINARY'),
    'LONG RAW': mapped('BINARY'),
    BLOB: mapped('BINARY'),
  }),
);

/** Type of an Oracle column (contract 01 §6.6). */
export function mapOracleField({ type, precision, scale }: OracleTypeDescription): MappedType {
  const name = type.toUpperCase();
  if (name === 'NUMBER') return mapNumber(precision ?? 0, scale ?? NO_SCALE);
  if (name.startsWith('TIMESTAMP')) return mapped('TIMESTAMP');
  if (name.startsWith('INTERVAL')) return mapped('STRING');
  return FIXED.get(name) ?? unknownType();
}

function mapNumber(precision: number, scale: number): MappedType {
  // Precision without scale −127 is a binary FLOAT(p) in disguise.
  if (precision > 0 && scale === NO_SCALE) return mapped('DECIMAL', 15);
  if (precision === 0) return scale === NO_SCALE ? mapped('BIGDECIMAL') : exactNumeric(38, scale);
  if (scale === 0 && precision <= 9) return mapped('INTEGER');
  if (scale === 0 && precision <= 18) return mapped('BIGINTEGER');
  return exactNumeric(precision, scale);
}

/** Type of a column as `ALL_TAB_COLUMNS` describes it, whose `DATA_TYPE` carries the sizes of timestamps. */
export function mapOracleCatalogType({ type, precision, scale }: OracleTypeDescription): MappedType {
  const name = type.replace(/\(\d+\)/g, '').toUpperCase();
  const noSize = precision === null || precision === undefined;
  // INTEGER is NUMBER(*,0): no precision, but a scale.
  return mapOracleField({ type: name, precision: noSize ? 0 : precision, scale: scale ?? NO_SCALE });
}

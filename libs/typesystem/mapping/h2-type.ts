import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

/** A column as H2's `information_schema.columns` describes it; `dataType` in upper case. */
export interface H2CatalogType {
  dataType: string;
  precision: number | null;
  scale: number | null;
}

const CATALOG: ReadonlyMap<string, MappedType> = new Map(
  Object.entries({
    BOOLEAN: mapped('BOOLEAN'),
    SMALLINT: mapped('INTEGER'),
    INTEGER: mapped('INTEGER'),
    BIGINT: mapped('BIGINTEGER'),
    REAL: mapped('DECIMAL', 7),
    'DOUBLE PRECISION': mapped('DECIMAL', 15),
    DECFLOAT: mapped('BIGDECIMAL'),
    'BINARY VARYING': mapped('BINARY'),
    BINARY: mapped('BINARY'),
    DATE: mapped('DATE'),
    TIME: mapped('TIME'),
    'TIME WITH TIME ZONE': mapped('TIME'),
    TIMESTAMP: mapped('TIMESTAMP'),
    'TIMESTAMP WITH TIME ZONE': mapped('TIMESTAMP'),
    CHARACTER: mapped('STRING'),
    'CHARACTER VARYING': mapped('STRING'),
    'CHARACTER LARGE OBJECT': mapped('STRING'),
    ARRAY: mapped('STRING'),
  }),
);

/**
 * Type of an H2 column that has not been read (contract 01 §6.7). Everything that the server's protocol has no number
 * for is text to a reader: TINYINT, ENUM, UUID, JSON, intervals, GEOMETRY, BLOB.
 */
export function mapH2CatalogType({ dataType, precision, scale }: H2CatalogType): MappedType {
  if (dataType === 'NUMERIC' && precision !== null) return exactNumeric(precision, scale ?? 0);
  if (dataType === 'FLOAT' || dataType.startsWith('FLOAT(')) return mapped('DECIMAL', 15);
  return CATALOG.get(dataType) ?? unknownType();
}

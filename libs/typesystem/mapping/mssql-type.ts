import { exactNumeric, mapped, unknownType, type MappedType } from './mapped-type.js';

/** A result column as the TDS protocol describes it. */
export interface MssqlFieldDescription {
  /** Protocol name of its type: `IntN`, `DecimalN`, `NVarChar` … */
  type: string;
  /** Bytes of a value of fixed size; tells INT from BIGINT. */
  length?: number | undefined;
  precision?: number | undefined;
  scale?: number | undefined;
}

const FIXED: ReadonlyMap<string, MappedType> = new Map(
  Object.entries({
    Null: mapped('NULL'),
    Bit: mapped('BOOLEAN'),
    BitN: mapped('BOOLEAN'),
    TinyInt: mapped('INTEGER'),
    SmallInt: mapped('INTEGER'),
    Int: mapped('INTEGER'),
    BigInt: mapped('BIGINTEGER'),
    Money: mapped('BIGDECIMAL', 19, 4),
    SmallMoney: mapped('DECIMAL', 10, 4),
    Real: mapped('DECIMAL', 7),
    Float: mapped('DECIMAL', 15),
    Date: mapped('DATE'),
    Time: mapped('TIME'),
    SmallDateTime: mapped('TIMESTAMP'),
    DateTime: mapped('TIMESTAMP'),
    DateTimeN: mapped('TIMESTAMP'),
    DateTime2: mapped('TIMESTAMP'),
    DateTimeOffset: mapped('TIMESTAMP'),
    Char: mapped('STRING'),
    VarChar: mapped('STRING'),
    NChar: mapped('STRING'),
    NVarChar: mapped('STRING'),
    Text: mapped('STRING'),
    NText: mapped('STRING'),
    Xml: mapped('STRING'),
    UniqueIdentifier: mapped('STRING'),
    Binary: mapped('BINARY'),
    VarBinary: mapped('BINARY'),
    Image: mapped('BINARY'),
    Variant: { ...mapped('STRING'), warning: 'type_mapping.sql_variant' } satisfies MappedType,
  }),
);

/** Type of a SQL Server result column (contract 01 §6.5). */
export function mapMssqlField({ type, length, precision, scale }: MssqlFieldDescription): MappedType {
  switch (type) {
    case 'IntN':
      return mapped(length === 8 ? 'BIGINTEGER' : 'INTEGER');
    case 'FloatN':
      return mapped('DECIMAL', length === 4 ? 7 : 15);
    case 'MoneyN':
      return length === 4 ? mapped('DECIMAL', 10, 4) : mapped('BIGDECIMAL', 19, 4);
    case 'Decimal':
    case 'Numeric':
    case 'DecimalN':
    case 'NumericN':
      return exactNumeric(precision ?? 38, scale ?? 0);
    default:
      return FIXED.get(type) ?? unknownType();
  }
}

/** A column as `INFORMATION_SCHEMA.COLUMNS` describes it. */
export interface MssqlCatalogType {
  dataType: string;
  precision: number | null;
  scale: number | null;
}

const CATALOG: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bit: 'Bit',
    tinyint: 'TinyInt',
    smallint: 'SmallInt',
    int: 'Int',
    bigint: 'BigInt',
    decimal: 'DecimalN',
    numeric: 'NumericN',
    money: 'Money',
    smallmoney: 'SmallMoney',
    real: 'Real',
    date: 'Date',
    time: 'Time',
    smalldatetime: 'SmallDateTime',
    datetime: 'DateTime',
    datetime2: 'DateTime2',
    datetimeoffset: 'DateTimeOffset',
    char: 'Char',
    varchar: 'VarChar',
    nchar: 'NChar',
    nvarchar: 'NVarChar',
    sysname: 'NVarChar',
    text: 'Text',
    ntext: 'NText',
    xml: 'Xml',
    uniqueidentifier: 'UniqueIdentifier',
    binary: 'Binary',
    varbinary: 'VarBinary',
    timestamp: 'Binary',
    rowversion: 'Binary',
    image: 'Image',
    sql_variant: 'Variant',
  }),
);

/** Type of a column that has not been read: what {@link mapMssqlField} will say of it. */
export function mapMssqlCatalogType({ dataType, precision, scale }: MssqlCatalogType): MappedType {
  const name = dataType.toLowerCase();
  // FLOAT(1…24) is a REAL to the catalogue already; what says `float` has 53 bits.
  if (name === 'float') return mapped('DECIMAL', precision !== null && precision <= 24 ? 7 : 15);
  const type = CATALOG.get(name);
  if (type === undefined) return unknownType();
  return mapMssqlField({ type, precision: precision ?? undefined, scale: scale ?? undefined });
}

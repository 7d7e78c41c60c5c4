import type { ColumnType, Dialect, LogicalType } from '#libs/typesystem';

type TypeNames = Readonly<Partial<Record<LogicalType, string>>>;

const STANDARD: TypeNames = {
  BOOLEAN: 'boolean',
  INTEGER: 'integer',
  BIGINTEGER: 'bigint',
  DECIMAL: 'numeric',
  BIGDECIMAL: 'numeric',
  STRING: 'varchar',
  BINARY: 'bytea',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamptz',
};

/** Names a CAST takes in each dialect. */
const NAMES: Readonly<Record<Dialect, TypeNames>> = {
  POSTGRES: { ...STANDARD, STRING: 'text' },
  DUCKDB: { ...STANDARD, BINARY: 'blob', DECIMAL: 'double', BIGDECIMAL: 'decimal(38,10)' },
  LAKE: { ...STANDARD, BINARY: 'blob', DECIMAL: 'double', BIGDECIMAL: 'decimal(38,10)' },
  H2: { ...STANDARD, BINARY: 'varbinary', TIMESTAMP: 'timestamp with time zone' },
  SQLITE: { ...STANDARD, STRING: 'text', BINARY: 'blob', DATE: 'text', TIME: 'text', TIMESTAMP: 'text' },
  MYSQL: {
    ...STANDARD,
    BOOLEAN: 'signed',
    INTEGER: 'signed',
    BIGINTEGER: 'signed',
    DECIMAL: 'decimal(65,30)',
    BIGDECIMAL: 'decimal(65,30)',
    STRING: 'char',
    BINARY: 'binary',
    TIME: 'time(6)',
    TIMESTAMP: 'datetime(6)',
  },
  MSSQL: {
    ...STANDARD,
    BOOLEAN: 'bit',
    INTEGER: 'int',
    DECIMAL: 'decimal(38,10)',
    BIGDECIMAL: 'decimal(38,10)',
    STRING: 'nvarchar(4000)',
    BINARY: 'varbinary(8000)',
    TIME: 'time(6)',
    TIMESTAMP: 'datetimeoffset(6)',
  },
  ORACLE: {
    ...STANDARD,
    BOOLEAN: 'number(1)',
    INTEGER: 'number(10)',
    BIGINTEGER: 'number(19)',
    DECIMAL: 'number',
    BIGDECIMAL: 'number',
    STRING: 'varchar2(4000)',
    BINARY: 'raw(2000)',
    TIME: 'varchar2(15)',
    TIMESTAMP: 'timestamp with time zone',
  },
};

/** A query without rows of one typed column: `IN` over it is false, `NOT IN` true (contract 05 §5.4). */
export function emptyList(dialect: Dialect, type: ColumnType): string {
  const from = dialect === 'ORACLE' || dialect === 'MYSQL' ? ' FROM DUAL' : '';
  return `SELECT CAST(NULL AS ${NAMES[dialect][type.type] ?? 'varchar'})${from} WHERE 1 = 0`;
}

export * from './canonical-type.js';
export * from './decimal.js';
export * from './calendar.js';
export * from './base64.js';
export * from './identifier.js';
export { type Coercion, quoteForMessage } from './wire/coercion.js';
export { coerceJson } from './wire/coerce-json.js';
export { coerceText } from './wire/coerce-text.js';
export { describeJson, numberTokenText } from './wire/number-token.js';
export * from './sql/sql-token.js';
export { lexSql } from './sql/lex-sql.js';
export { refusedEngineFunction } from './sql/engine-functions.js';
export { classifyStatement, type StatementClass, type StatementVerdict } from './sql/statement-class.js';
export { bindStatement, type BoundSql } from './bind/bind-statement.js';
export type { DriverValue } from './bind/bound-value.js';
export { encodeWire } from './wire/encode-wire.js';
export { float32Text, float64Text } from './wire/float-text.js';
export { WireIssues, type UnrepresentableWarning } from './wire/wire-issues.js';
export { csvCell, csvHeader, csvLine } from './wire/csv.js';
export { splitRow } from './wire/split-row.js';
export * from './batch/column-batch.js';
export { Utf8Texts } from './batch/utf8-texts.js';
export { encodeBatchRows, RowEncoder, type EncodedRows } from './batch/encode-batch.js';
export { exactNumeric, type MappedType } from './mapping/mapped-type.js';
export { mapPostgresType } from './mapping/postgres-type.js';
export { mapSqliteDeclaredType, mapSqliteStorageClass, type SqliteStorageClass } from './mapping/sqlite-type.js';
export {
  mapMysqlCatalogType,
  mapMysqlField,
  MYSQL_TYPE,
  type MysqlCatalogType,
  type MysqlFieldDescription,
} from './mapping/mysql-type.js';
export { mapH2CatalogType, type H2CatalogType } from './mapping/h2-type.js';
export {
  mapMssqlCatalogType,
  mapMssqlField,
  type MssqlCatalogType,
  type MssqlFieldDescription,
} from './mapping/mssql-type.js';
export { mapOracleCatalogType, mapOracleField, type OracleTypeDescription } from './mapping/oracle-type.js';
export { mapDuckdbType, type DuckdbTypeDescription } from './mapping/duckdb-type.js';
export * from './mapping/staging-type.js';

export { DatasourcesModule } from './datasources.module.js';
export { DatasourceService, type DatasourceFilter } from './datasource.service.js';
export {
  IntrospectionService,
  type ColumnView,
  type SchemaListView,
  type TableListView,
  type TableView,
} from './introspection/introspection.service.js';
export { DatasourceAccess } from './datasource-access.js';
export { DatasourcePools } from './pool/datasource-pools.js';
export { DatasourceReferences, type DatasourceReference } from './datasource-references.js';
export type { DatasourceRecord } from './datasource.js';
export type { DatasourceView } from './datasource-view.js';
export type { GrantView } from './datasource-grants.js';
export type { ConnectionTestView } from './connection-test.js';
export { DriverFailure, type DriverFailureKind } from './drivers/driver-failure.js';
export type {
  Access,
  BoundStatement,
  Cursor,
  Lease,
  MappingWarning,
  TableWriter,
  WriteTarget,
} from './drivers/driver.js';
export { KeyProvider, KeyRing, type SealingKey } from './credentials/key-ring.js';
export { BootstrapRefused } from './bootstrap/bootstrap-file.js';
export { DatasourceBootstrap } from './bootstrap/datasource-bootstrap.js';
export { DeclaredTables, type LakeDeclaration } from './bootstrap/declared-tables.js';
export { AuthorAct, sqlFacts } from './probe/author-act.js';
export { AuthorRead } from './probe/author-read.js';
export { ProbeSlots } from './probe/probe-slots.js';
export { BoundedProbe } from './probe/bounded-probe.js';
export type { PreviewView, ProbeColumn, ProbeView } from './probe/probe-view.js';
export { RowPreview, type PreviewRequest } from './probe/row-preview.js';
export { SqlProbe, type ProbeRequest } from './probe/sql-probe.js';
export { sqlArgument } from './probe/probe-arguments.js';
export { refusalSentence } from './probe/refusal-sentence.js';
export { TableStatistics } from './statistics/table-statistics.js';
export type { ColumnStatistics, StatisticsReading, TableStatisticsView } from './statistics/statistics.js';
export type { BoundedRows } from './probe/bounded-read.js';
export { classifyProbe } from './probe/classify-probe.js';
export { DriverRegistry } from './drivers/registry.js';
export { CatalogReader, type OpenCatalog } from './introspection/catalog-reader.js';
export type {
  CatalogColumn,
  CatalogQuery,
  CatalogName,
  CatalogTable,
  CatalogTableName,
  Introspection,
} from './introspection/introspection.js';
export { editDistance, nearest } from './properties/nearest.js';
export { FurtherDrivers, type SharedEngineParts } from './drivers/further-drivers.js';
export {
  defineDriver,
  type DialectDriver,
  type DriverContext,
  type NamedFile,
  type SourceLogin,
} from './drivers/dialect-driver.js';
export { parseFileUrl } from './drivers/file-url.js';
export { abortable, cancelled } from './drivers/driver-failure.js';
export type { DriverConnection } from './drivers/driver.js';
export type { ConnectionSource } from './pool/connection-source.js';
export { DuckdbConnection } from './drivers/duckdb/connection.js';
export { openDuckdbCursor } from './drivers/duckdb/cursor.js';
export { duckdbPlan } from './drivers/duckdb/plan.js';
export { duckdbFailure } from './drivers/duckdb/failure.js';
export { NativeCallGate } from './drivers/duckdb/native-call-gate.js';
export type { NativeCalls } from './drivers/duckdb/native-calls.js';
export { FileRoots } from './file-roots.js';
export { SourceFactory } from './source-factory.js';
export { statementSecondsOf } from './statement-budget.js';
export { UrlDefect } from './properties/url-defect.js';

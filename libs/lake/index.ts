export { LakeEngineModule, LakeModule } from './lake.module.js';
export { LakeDrivers } from './lake-drivers.js';
export { DeclaredLakeTables } from './import/declared-lake-tables.js';
export { LakeImportService, type LakeImportView } from './import/lake-import.service.js';
export { LakeTablesService, type LakeTableListView } from './lake-tables.service.js';
export type { LakeFormat, LakeTableView } from './registry/lake-table.js';

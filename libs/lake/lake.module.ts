import { Module } from '@nestjs/common';

import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';
import { EgressModule } from '#libs/egress';
import { IdentityModule } from '#libs/identity';

import { DeclaredLakeTables } from './import/declared-lake-tables.js';
import { LakeImportService } from './import/lake-import.service.js';
import { Manifests } from './import/manifest.js';
import { LakeAccess } from './lake-access.js';
import { LakeDrivers } from './lake-drivers.js';
import { LakeTablesService } from './lake-tables.service.js';
import { Preflight } from './preflight.js';
import { LakeTableRepository } from './registry/lake-table.repository.js';

/** The engines of the lake; the datasources stand above this part and ask it through their port. */
@Module({
  imports: [EgressModule],
  providers: [LakeDrivers, LakeTableRepository],
  exports: [LakeDrivers, LakeTableRepository],
})
export class LakeEngineModule {}

/** The registry of lake tables. */
@Module({
  imports: [AuditModule, DatasourcesModule, EgressModule, IdentityModule, LakeEngineModule],
  providers: [DeclaredLakeTables, LakeAccess, LakeImportService, LakeTablesService, Manifests, Preflight],
  exports: [DeclaredLakeTables, LakeImportService, LakeTablesService],
})
export class LakeModule {}

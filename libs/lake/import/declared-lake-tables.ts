import { Injectable } from '@nestjs/common';

import { DeclaredTables, type DatasourceRecord, type LakeDeclaration } from '#libs/datasources';
import type { Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { LakeTableRepository } from '../registry/lake-table.repository.js';
import { LakeImportService } from './lake-import.service.js';

/** Registers the tables that an operator's file declares with a lake (06 §7). */
@Injectable()
export class DeclaredLakeTables extends DeclaredTables {
  constructor(
    private readonly db: Database,
    private readonly repository: LakeTableRepository,
    private readonly imports: LakeImportService,
  ) {
    super();
  }

  override async register(
    principal: Principal,
    datasource: DatasourceRecord,
    { body, only }: LakeDeclaration,
  ): Promise<void> {
    // What authors made of them since is theirs.
    if ((await this.repository.all(this.db, datasource.name)).length > 0) return;
    await this.imports.importInto(principal, datasource, body, { only });
  }
}

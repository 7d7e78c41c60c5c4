import { Injectable } from '@nestjs/common';

import { DatasourceAccess, DatasourceService, type DatasourceRecord } from '#libs/datasources';
import { authorise, authoriseInstance } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';

/** Who may read and change the registry of a lake (06 §6). */
@Injectable()
export class LakeAccess {
  constructor(
    private readonly datasources: DatasourceService,
    private readonly access: DatasourceAccess,
  ) {}

  /** For whoever sees the datasource. @throws 404 `datasource.not_found`; 400 `lake_dialect_required` */
  async readable(principal: Principal, name: string): Promise<DatasourceRecord> {
    return asLake(await this.datasources.find(principal, name));
  }

  /** Those of the names that the caller's workspace sees. */
  async visibleAmong(principal: Principal, names: readonly string[]): Promise<string[]> {
    const { id } = authorise(principal, 'datasource.read');
    return [...(await this.access.visible(id, names)).keys()];
  }

  /**
   * For authors of the owner; an instance datasource is the super admins' affair. Not granted is the same as absent;
   * granted and another workspace's is a missing role, for super admins too: they act in the workspace that owns it.
   *
   * @throws 404 `datasource.not_found`; 403 `auth.role_required`, `auth.session.required`; 400 `lake_dialect_required`
   */
  async writable(principal: Principal, name: string): Promise<DatasourceRecord> {
    const workspace = authorise(principal, 'lake_table.manage');
    const record = await this.access.live(workspace.id, name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    if (record.ownerWorkspaceId === null) authoriseInstance(principal, 'datasource.manage_instance');
    else if (record.ownerWorkspaceId !== workspace.id) refuseForeign(workspace.name);
    return asLake(record);
  }
}

function refuseForeign(workspace: string): never {
  throw new PenstockError('auth.role_required', {
    message: 'The tables of this lake are changed by authors of the workspace that owns it; others read them.',
    details: { operation: 'lake_table.manage', required: 'author', held: [], workspace },
  });
}

function asLake(record: DatasourceRecord): DatasourceRecord {
  if (record.dialect === 'LAKE') return record;
  throw new PenstockError('datasource.validation.lake_dialect_required', {
    details: { datasource: record.name, dialect: record.dialect },
  });
}

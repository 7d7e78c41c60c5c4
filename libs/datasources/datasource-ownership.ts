import { Injectable } from '@nestjs/common';

import { authorise, authoriseInstance, SuperAdminReach, type OperationId } from '#libs/identity';
import { Configuration, PenstockError, validationError, type Failure, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { DatasourceRepository } from './datasource.repository.js';
import type { DatasourceRecord } from './datasource.js';
import type { DatasourceBody } from './datasource-body.js';
import { GrantRepository } from './grant.repository.js';
import { DriverRegistry } from './drivers/registry.js';

/** Who may change which datasource, and whose it becomes (06 §6). */
@Injectable()
export class DatasourceOwnership {
  readonly #membersMay: boolean;

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly grants: GrantRepository,
    private readonly drivers: DriverRegistry,
    private readonly reach: SuperAdminReach,
    config: Configuration,
  ) {
    this.#membersMay = config.get('datapipelines.workspaces.member-datasources-enabled');
  }

  /** Before anything is looked at: a role that may never change a datasource. */
  authoriseManage(principal: Principal): void {
    if (isSuperAdmin(principal)) authoriseInstance(principal, 'datasource.manage_instance');
    else authorise(principal, 'datasource.manage');
  }

  /** The row a change is about. Not granted is the same as absent; granted and another's is a missing role. */
  async manageable(principal: Principal, name: string): Promise<DatasourceRecord> {
    const record = isSuperAdmin(principal)
      ? await this.repository.live(this.db, name, principal.workspace?.id ?? null)
      : await this.repository.visible(this.db, principal.workspace?.id ?? '', name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    const own = record.ownerWorkspaceId !== null && record.ownerWorkspaceId === principal.workspace?.id;
    if (!own || this.#inProcess(record.dialect)) authoriseInstance(principal, 'datasource.manage_instance');
    await this.reached(principal, 'datasource.manage', [record]);
    return record;
  }

  /** A datasource that runs in our process, or on our files, is the instance's affair. */
  authoriseDialect(principal: Principal, dialect: DatasourceBody['fields']['dialect']): void {
    if (dialect !== undefined && this.#inProcess(dialect)) authoriseInstance(principal, 'datasource.manage_instance');
  }

  /** Id of the owner a write asks for; null = the instance. `stored` is undefined on create. */
  async owner(
    principal: Principal,
    { workspace, global }: DatasourceBody['fields'],
    stored: DatasourceRecord | undefined,
  ): Promise<{ ownerId: string | null; failures: Failure[] }> {
    const superAdmin = isSuperAdmin(principal);
    const closed = this.#closedTo(principal);
    if (closed) return { ownerId: null, failures: [closed] };
    if (global && workspace != null) return refused('Give either workspace or global.');
    if (global || (workspace === null && stored !== undefined)) {
      if (stored?.ownerWorkspaceId === null) return { ownerId: null, failures: [] };
      return superAdmin
        ? { ownerId: null, failures: [] }
        : refused('Only a super admin registers a datasource for the instance.');
    }
    const current = stored ? stored.ownerWorkspace : (principal.workspace?.name ?? null);
    const currentId = stored ? stored.ownerWorkspaceId : (principal.workspace?.id ?? null);
    if (workspace == null || workspace === current) {
      if (currentId === null && !stored) throw new PenstockError('workspace.membership_required');
      return { ownerId: currentId, failures: [] };
    }
    if (!superAdmin) return refused('Only a super admin registers a datasource for another workspace.');
    const ownerId = await this.grants.workspaceId(this.db, workspace, { onlyActive: true });
    if (ownerId === undefined) return refused('There is no active workspace of that name.');
    await this.reach.into(principal, 'datasource.manage', [{ id: ownerId, name: workspace }]);
    return { ownerId, failures: [] };
  }

  /** Where members may not have datasources of their own, they delete none either: 400 `…workspace_forbidden`. */
  requireOpen(principal: Principal): void {
    const closed = this.#closedTo(principal);
    if (closed) throw validationError([closed]);
  }

  #closedTo(principal: Principal): Failure | undefined {
    if (this.#membersMay || isSuperAdmin(principal)) return undefined;
    return forbidden('Workspace administrators may not register, change or delete datasources here.');
  }

  /** A super admin leaves a row in the workspaces whose datasources he is shown or changes (04 §7.2). */
  async reached(principal: Principal, operation: OperationId, records: readonly DatasourceRecord[]): Promise<void> {
    const owners = records.flatMap(({ ownerWorkspaceId: id, ownerWorkspace: name }) =>
      id !== null && name !== null ? [{ id, name }] : [],
    );
    await this.reach.into(principal, operation, owners);
  }

  #inProcess(dialect: DatasourceRecord['dialect']): boolean {
    return this.drivers.find(dialect)?.inProcess ?? false;
  }
}

/** A super admin in a session, or the server itself at boot; never a key. */
export function isSuperAdmin({ superAdmin, method }: Principal): boolean {
  return superAdmin && (method === 'session' || method === 'system');
}

function refused(message: string): { ownerId: null; failures: Failure[] } {
  return { ownerId: null, failures: [forbidden(message)] };
}

function forbidden(message: string): Failure {
  return { code: 'datasource.validation.workspace_forbidden', path: 'workspace', message, details: {} };
}

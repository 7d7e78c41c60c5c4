import { Injectable } from '@nestjs/common';

import { AuditLog, type AuditActor } from '#libs/audit';
import { authoriseInstance, SuperAdminReach, WorkspaceDirectory } from '#libs/identity';
import { PenstockError, toWireStamp, type Principal } from '#libs/kernel';
import { Database, type Queryable } from '#libs/persistence';

import { DatasourceRepository } from './datasource.repository.js';
import { GrantRepository } from './grant.repository.js';

export interface GrantView {
  workspace: string;
  granted_by: string;
  granted_at: string;
}

/** A workspace that shall see a datasource, and the actor as the trail of that workspace names him. */
export interface Share {
  workspace: string;
  workspaceId: string;
  actor: AuditActor;
}

/** Which workspaces see a datasource: super admins' acts, each audited (06 §6). */
@Injectable()
export class DatasourceGrants {
  constructor(
    private readonly db: Database,
    private readonly datasources: DatasourceRepository,
    private readonly rows: GrantRepository,
    private readonly audit: AuditLog,
    private readonly directory: WorkspaceDirectory,
    private readonly reach: SuperAdminReach,
  ) {}

  async list(principal: Principal, name: string): Promise<GrantView[]> {
    await this.#present(principal, name);
    const rows = await this.rows.list(this.db, name);
    const shown = rows.map(({ workspace_id: id, workspace: name }) => ({ id, name }));
    await this.reach.into(principal, 'datasource.grant', shown);
    return rows.map(({ workspace, granted_by, granted_at }) => ({
      workspace,
      granted_by,
      granted_at: toWireStamp(granted_at),
    }));
  }

  /** Idempotent; the first actor stays. */
  async grant(
    principal: Principal,
    name: string,
    workspace: string,
  ): Promise<{ datasource: string; workspace: string; granted: true }> {
    await this.#present(principal, name);
    const share = await this.shareWith(principal, workspace);
    await this.db.transaction((tx) => this.put(tx, principal, name, share));
    return { datasource: name, workspace, granted: true };
  }

  /** What a grant takes, looked up before its transaction. @throws 403; 404 `workspace.not_found` */
  async shareWith(principal: Principal, workspace: string): Promise<Share> {
    authoriseInstance(principal, 'datasource.grant');
    const workspaceId = await this.#workspaceId(principal, workspace);
    return { workspace, workspaceId, actor: await this.#actorIn(principal, { id: workspaceId, name: workspace }) };
  }

  /** The grant and its row in the trail. */
  async put(
    tx: Queryable,
    { userId }: Principal,
    name: string,
    { workspace, workspaceId, actor }: Share,
  ): Promise<void> {
    const added = await this.rows.grant(tx, name, workspaceId, userId);
    await this.audit.append(tx, actor, 'datasource.granted', { datasource: name, workspace, already_granted: !added });
  }

  async revoke(principal: Principal, name: string, workspace: string): Promise<void> {
    await this.#present(principal, name);
    const workspaceId = await this.#workspaceId(principal, workspace);
    const actor = await this.#actorIn(principal, { id: workspaceId, name: workspace });
    await this.db.transaction(async (tx) => {
      const removed = await this.rows.revoke(tx, name, workspaceId);
      await this.audit.append(tx, actor, 'datasource.revoked', { datasource: name, workspace, had_grant: removed });
    });
  }

  async #present(principal: Principal, name: string): Promise<void> {
    authoriseInstance(principal, 'datasource.grant');
    if (!(await this.datasources.live(this.db, name)))
      throw new PenstockError('datasource.not_found', { details: { datasource: name } });
  }

  /** The act is one in the workspace whose sight it changes, wherever its actor was: there its row is looked for. */
  async #actorIn(principal: Principal, workspace: { id: string; name: string }): Promise<AuditActor> {
    const held = await this.directory.membershipsOf(principal.userId);
    const implicit = !held.some(({ workspaceId }) => workspaceId === workspace.id);
    return { ...principal, workspace: { ...workspace, implicit } };
  }

  async #workspaceId(principal: Principal, name: string): Promise<string> {
    const id = await this.rows.workspaceId(this.db, name, { onlyActive: false });
    if (id === undefined) throw new PenstockError('workspace.not_found');
    await this.reach.into(principal, 'datasource.grant', [{ id, name }]);
    return id;
  }
}

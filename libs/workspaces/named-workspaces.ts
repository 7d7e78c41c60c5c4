import { Injectable } from '@nestjs/common';
import { AccessTrail, authorise, WorkspaceDirectory, type OperationId } from '#libs/identity';
import type { ActingWorkspace, Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { WorkspaceRepository } from './workspace.repository.js';

const NO_FLAGS = { author: false, promoter: false, admin: false };

/**
 * Workspaces that a request reaches into beside its active one. The door judged and recorded the caller where he is
 * active; what is named is judged here, and a super admin who is no member of it leaves a row there (04 §7.2).
 */
@Injectable()
export class NamedWorkspaces {
  constructor(
    private readonly db: Database,
    private readonly directory: WorkspaceDirectory,
    private readonly workspaces: WorkspaceRepository,
    private readonly trail: AccessTrail,
  ) {}

  /** @throws `workspace.not_found`, one body for unknown, foreign and inactive; the refusals of `authorise` */
  async open(principal: Principal, operation: OperationId, name: string): Promise<ActingWorkspace> {
    const workspace = authorise(principal, operation, await this.directory.addressed(principal, name));
    await this.trail.superAdminActingIn(principal, workspace, operation);
    return workspace;
  }

  /** Records a super admin who reads several at once, one row in each that he is no member of. */
  async entered(principal: Principal, operation: OperationId, ids: readonly string[]): Promise<void> {
    if (!principal.superAdmin && !principal.workspace?.implicit) return;
    const rows = await this.workspaces.among(this.db, principal.userId, true, ids);
    for (const { id, name, admin } of rows) {
      const workspace = { id, name, flags: NO_FLAGS, superAdmin: principal.superAdmin, implicit: admin === null };
      await this.trail.superAdminActingIn(principal, workspace, operation);
    }
  }
}

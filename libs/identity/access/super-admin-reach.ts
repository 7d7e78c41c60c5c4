import { Injectable } from '@nestjs/common';
import type { Principal } from '#libs/kernel';
import type { OperationId } from '../operations.js';
import { AccessTrail } from './access-trail.js';
import { WorkspaceDirectory } from './workspace-directory.js';

const NO_FLAGS = { author: false, promoter: false, admin: false };

/**
 * What an instance-wide right shows or changes of single workspaces. The door recorded a super admin where he is active;
 * wherever else the rows of a workspace are touched he leaves one there, unless he is a member (contract 04 §7.2).
 */
@Injectable()
export class SuperAdminReach {
  constructor(
    private readonly directory: WorkspaceDirectory,
    private readonly trail: AccessTrail,
  ) {}

  /** One row in each workspace for a request and an operation. A workspace that is switched off has no members. */
  async into(
    principal: Principal,
    operation: OperationId,
    workspaces: readonly { id: string; name: string }[],
  ): Promise<void> {
    if (!principal.superAdmin || principal.method !== 'session' || workspaces.length === 0) return;
    const held = new Set((await this.directory.membershipsOf(principal.userId)).map(({ workspaceId }) => workspaceId));
    for (const [id, name] of new Map(workspaces.map((reached) => [reached.id, reached.name]))) {
      if (held.has(id)) continue;
      const workspace = { id, name, flags: NO_FLAGS, superAdmin: true, implicit: true };
      await this.trail.superAdminActingIn(principal, workspace, operation);
    }
  }
}

import { Injectable } from '@nestjs/common';
import { PenstockError, type ActingWorkspace, type MemberFlags, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { LivenessCache } from '../liveness/liveness-cache.js';
import type { UserRecord } from '../users/user.repository.js';
import {
  DEFAULT_WORKSPACE_ID,
  MembershipRepository,
  type Membership,
  type WorkspaceRecord,
} from './membership.repository.js';

/** Who asks for a workspace. */
export type Visitor = Pick<UserRecord, 'id' | 'isAdmin'>;

const ALL_FLAGS: MemberFlags = { author: true, promoter: true, admin: true };
const NO_FLAGS: MemberFlags = { author: false, promoter: false, admin: false };
const NAME = /^[a-z0-9_-]{1,63}$/;

/** Which workspaces a person reaches and with which flags (contract 04 §7.2). */
@Injectable()
export class WorkspaceDirectory {
  constructor(
    private readonly db: Database,
    private readonly memberships: MembershipRepository,
    private readonly cache: LivenessCache,
  ) {}

  /** Memberships of active workspaces, the oldest first. */
  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    const held = await this.cache.memberships.get(userId, async () => {
      const rows = await this.memberships.membershipsOf(this.db, userId);
      return rows.length > 0 ? rows : undefined;
    });
    return held ?? [];
  }

  /**
   * The workspace of that name as a person in a session holds it.
   *
   * @throws `workspace.not_found`, one body for unknown, foreign and inactive; a super admin is told `workspace.inactive`
   */
  async named(visitor: Visitor, name: string): Promise<ActingWorkspace> {
    const membership = (await this.membershipsOf(visitor.id)).find((held) => held.workspaceName === name);
    if (membership) return asMember(membership, visitor.isAdmin);
    if (!visitor.isAdmin || !NAME.test(name)) throw new PenstockError('workspace.not_found');
    const workspace = await this.memberships.workspaceByName(this.db, name);
    if (!workspace) throw new PenstockError('workspace.not_found');
    if (!workspace.active) throw new PenstockError('workspace.inactive');
    return asSuperAdmin(workspace);
  }

  /**
   * The workspace a request names, as this principal holds it; a key reaches its pin and no other. The shared key of a
   * promotion has no pin: it reaches every active workspace, with no flag in any.
   *
   * @throws as {@link named}
   */
  async addressed(principal: Principal, name: string): Promise<ActingWorkspace> {
    if (principal.workspace?.name === name) return principal.workspace;
    if (principal.method === 'api_key') throw new PenstockError('workspace.not_found');
    if (principal.method === 'promotion') return this.#receiving(principal, name);
    return this.named({ id: principal.userId, isAdmin: principal.superAdmin }, name);
  }

  /**
   * Where a session acts: the named workspace, else the one its token remembers if it still stands, else the first
   * membership, else (for a super admin) `default`. Undefined when nothing is reachable.
   */
  async select(
    visitor: Visitor,
    wanted: { name?: string; rememberedId?: string },
  ): Promise<ActingWorkspace | undefined> {
    if (wanted.name !== undefined) return this.named(visitor, wanted.name);
    const held = await this.membershipsOf(visitor.id);
    const remembered = held.find(({ workspaceId }) => workspaceId === wanted.rememberedId);
    if (remembered) return asMember(remembered, visitor.isAdmin);
    if (visitor.isAdmin && wanted.rememberedId !== undefined) {
      const workspace = await this.byId(wanted.rememberedId);
      if (workspace?.active) return asSuperAdmin(workspace);
    }
    const first = held[0];
    if (first) return asMember(first, visitor.isAdmin);
    const fallback = visitor.isAdmin ? await this.byId(DEFAULT_WORKSPACE_ID) : undefined;
    return fallback?.active ? asSuperAdmin(fallback) : undefined;
  }

  /**
   * The pin of a key, undefined while it is inactive, with its issuer's current flags. `acting` is undefined when the
   * issuer is no member any more; the issuer's being super admin gives the key every flag there but no instance verb.
   */
  async pinned(owner: Visitor, workspaceId: string): Promise<{ pin?: WorkspaceRecord; acting?: ActingWorkspace }> {
    const pin = await this.byId(workspaceId);
    if (!pin?.active) return {};
    const membership = (await this.membershipsOf(owner.id)).find((held) => held.workspaceId === workspaceId);
    if (owner.isAdmin) {
      const acting = {
        id: pin.id,
        name: pin.name,
        flags: ALL_FLAGS,
        superAdmin: false,
        implicit: !membership,
      };
      return { pin, acting };
    }
    return membership ? { pin, acting: asMember(membership, false) } : { pin };
  }

  async #receiving(principal: Principal, name: string): Promise<ActingWorkspace> {
    const reached = principal.workspace === undefined && NAME.test(name);
    const workspace = reached ? await this.memberships.workspaceByName(this.db, name) : undefined;
    if (!workspace?.active) throw new PenstockError('workspace.not_found');
    return { id: workspace.id, name: workspace.name, flags: NO_FLAGS, superAdmin: false, implicit: false };
  }

  private byId(id: string): Promise<WorkspaceRecord | undefined> {
    return this.cache.workspaces.get(id, () => this.memberships.workspaceById(this.db, id));
  }
}

function asMember(membership: Membership, superAdmin: boolean): ActingWorkspace {
  const { workspaceId, workspaceName, author, promoter, admin } = membership;
  return { id: workspaceId, name: workspaceName, flags: { author, promoter, admin }, superAdmin, implicit: false };
}

function asSuperAdmin({ id, name }: WorkspaceRecord): ActingWorkspace {
  return { id, name, flags: NO_FLAGS, superAdmin: true, implicit: true };
}

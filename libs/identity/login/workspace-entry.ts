import { Injectable } from '@nestjs/common';
import { AuditLog, type AuditActor } from '#libs/audit';
import type { Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { DEFAULT_WORKSPACE_ID, MembershipRepository } from '../access/membership.repository.js';
import { Invalidations } from '../liveness/invalidations.js';

const VIEWER = { author: false, promoter: false, admin: false };

/** What a login does to memberships, in the login's own transaction (contract 04 §7.3). */
@Injectable()
export class WorkspaceEntry {
  constructor(
    private readonly memberships: MembershipRepository,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
  ) {}

  /**
   * Pending invitations become memberships. Otherwise the first login ever of somebody without any makes a viewer of the
   * demo workspace; only the first, or people removed on purpose would come back.
   *
   * @param lastUsedId workspace the person chose last, if that is known
   * @returns id of the workspace the session starts in; undefined when none is reachable
   */
  async enter(
    tx: Transaction,
    principal: Principal,
    firstLogin: boolean,
    lastUsedId?: string,
  ): Promise<string | undefined> {
    const joined = await this.materialise(tx, principal, principal);
    const held = await this.memberships.membershipsOf(tx, principal.userId);
    if (!joined && firstLogin && held.length === 0 && !principal.superAdmin) {
      const demo = await this.#joinDemo(tx, principal);
      if (demo !== undefined) return demo;
    }
    // Whether a super admin still reaches it is judged when the session selects it.
    if (lastUsedId !== undefined && (principal.superAdmin || held.some((each) => each.workspaceId === lastUsedId))) {
      return lastUsedId;
    }
    return held[0]?.workspaceId ?? (principal.superAdmin ? DEFAULT_WORKSPACE_ID : undefined);
  }

  /**
   * Pending invitations of an address become memberships of the account that now has it (contract 04 §7.4).
   *
   * @param actor who brought the account about: the person himself, or the administrator who made it
   */
  async materialise(tx: Transaction, actor: AuditActor, person: { userId: string; email: string }): Promise<boolean> {
    const invitations = await this.memberships.materialiseInvitations(tx, person.userId, person.email);
    for (const { workspaceId, workspaceName, invitedBy, author, promoter, admin } of invitations) {
      const workspace = { id: workspaceId, name: workspaceName, implicit: false };
      await this.audit.append(tx, { ...actor, workspace }, 'workspace.invitation_materialised', {
        email: person.email,
        flags: { author, promoter, admin },
        inviter: invitedBy,
      });
    }
    if (invitations.length > 0) this.invalidations.announce(tx, 'membership', person.userId);
    return invitations.length > 0;
  }

  async #joinDemo(tx: Transaction, principal: Principal): Promise<string | undefined> {
    const demo = await this.memberships.joinDemo(tx, principal.userId);
    if (!demo) return undefined;
    await this.audit.append(tx, { ...principal, workspace: { ...demo, implicit: false } }, 'workspace.member_added', {
      target_user_id: principal.userId,
      flags: VIEWER,
      reason: 'first_login',
    });
    this.invalidations.announce(tx, 'membership', principal.userId);
    return demo.id;
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { Departures, Invalidations, type Departing, type DepartureKind } from '#libs/identity';
import { PenstockError, type MemberFlags, type Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { MemberRepository } from './member.repository.js';
import { strandedCounts, WorkspaceRepository } from './workspace.repository.js';

/**
 * What happens to workspaces when a person goes (contract 04 §3). Who is anonymised leaves them all, unless one would be
 * left without an administrator. Who is deactivated stays a member, and comes back as one; where nobody else could look
 * after what the workspace holds, the trail says so.
 */
@Injectable()
export class MemberDeparture implements OnModuleInit {
  constructor(
    private readonly departures: Departures,
    private readonly members: MemberRepository,
    private readonly workspaces: WorkspaceRepository,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
  ) {}

  onModuleInit(): void {
    this.departures.register((tx, principal, person, kind) => this.#depart(tx, principal, person, kind));
  }

  async #depart(tx: Transaction, principal: Principal, person: Departing, kind: DepartureKind): Promise<void> {
    for (const held of await this.members.holdMemberships(tx, person.id)) {
      const orphaned = held.admin && (await this.#othersThan(tx, held.workspaceId, person.id)).length === 0;
      if (kind === 'anonymised') await this.#leave(tx, principal, person, held, orphaned);
      else if (orphaned) await this.#recordStranded(tx, principal, held);
    }
    this.invalidations.announce(tx, 'membership', person.id);
  }

  async #othersThan(tx: Transaction, workspaceId: string, userId: string): Promise<string[]> {
    return (await this.members.adminIds(tx, workspaceId)).filter((id) => id !== userId);
  }

  async #leave(
    tx: Transaction,
    principal: Principal,
    person: Departing,
    held: HeldMembership,
    orphaned: boolean,
  ): Promise<void> {
    if (orphaned) {
      throw new PenstockError('workspace.last_admin', { details: { workspace: held.workspaceName } });
    }
    await this.members.remove(tx, held.workspaceId, person.id);
    const { author, promoter, admin } = held;
    await this.audit.append(tx, inWorkspace(principal, held), 'workspace.member_removed', {
      target_user_id: person.id,
      flags: { author, promoter, admin },
      reason: 'erased',
    });
  }

  async #recordStranded(tx: Transaction, principal: Principal, held: HeldMembership): Promise<void> {
    const counts = strandedCounts(await this.workspaces.contents(tx, held.workspaceId));
    if (counts)
      await this.audit.append(tx, inWorkspace(principal, held), 'auth.workspace.stranded_content', { counts });
  }
}

type HeldMembership = MemberFlags & { workspaceId: string; workspaceName: string };

/** A super admin acts here, in a workspace that he may be no member of. */
function inWorkspace(principal: Principal, { workspaceId, workspaceName }: HeldMembership) {
  const member = principal.workspace?.id === workspaceId && !principal.workspace.implicit;
  return { ...principal, workspace: { id: workspaceId, name: workspaceName, implicit: !member } };
}

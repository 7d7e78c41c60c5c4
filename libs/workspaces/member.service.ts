import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { authorise, authoriseRequest, IdentitySettings, Invalidations, lockEmail, normalEmail } from '#libs/identity';
import { isUuid, PenstockError, type ActingWorkspace, type MemberFlags, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { MemberRepository, type MemberRow } from './member.repository.js';
import { toInvitationView, toMemberView, type InvitationView, type MemberView } from './member-view.js';
import { NamedWorkspaces } from './named-workspaces.js';
import { memberFlags, refuseField } from './workspace-input.js';

export type MemberBody = Readonly<Record<string, unknown>>;
export type AddedMember = { member: MemberView } | { invited: true; email: string; flags: MemberFlags };

/** Who belongs to a workspace and with which flags (contract 04 §7.1, §7.4); judged in the named workspace. */
@Injectable()
export class MemberService {
  constructor(
    private readonly db: Database,
    private readonly repository: MemberRepository,
    private readonly named: NamedWorkspaces,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly settings: IdentitySettings,
  ) {}

  /** Members and invitations, never mixed. Addresses (and so invitations) are for administrators. */
  async list(principal: Principal, name: string): Promise<{ members: MemberView[]; invitations: InvitationView[] }> {
    const workspace = await this.named.open(principal, 'workspace.read', name);
    const administers = workspace.superAdmin || workspace.flags.admin;
    const [members, invitations] = await Promise.all([
      this.repository.members(this.db, workspace.id),
      administers ? this.repository.invitations(this.db, workspace.id) : [],
    ]);
    return {
      members: members.map((row) => toMemberView(row, administers || row.userId === principal.userId)),
      invitations: invitations.map(toInvitationView),
    };
  }

  /**
   * Members and invitations of several workspaces, by workspace id, in two statements: as {@link list} shows each of
   * them. What the principal does not see is empty.
   */
  async among(
    principal: Principal,
    workspaceIds: readonly string[],
  ): Promise<Map<string, { members: MemberView[]; invitations: InvitationView[] }>> {
    authoriseRequest(principal, 'workspace.read');
    const pin = principal.method === 'api_key' ? principal.workspace : undefined;
    const ids = workspaceIds.filter((id) => isUuid(id) && (principal.method !== 'api_key' || id === pin?.id));
    const viewer = { userId: principal.userId, all: principal.superAdmin || (pin?.implicit ?? false) };
    await this.named.entered(principal, 'workspace.read', ids);
    const [members, invitations] = await Promise.all([
      this.repository.membersAmong(this.db, viewer, ids),
      this.repository.invitationsAmong(this.db, viewer, ids),
    ]);
    return new Map(
      ids.map((id) => [
        id,
        {
          members: members
            .filter(({ workspaceId }) => workspaceId === id)
            .map((row) => toMemberView(row, viewer.all || row.seenByAdmin || row.userId === principal.userId)),
          invitations: invitations.filter(({ workspaceId }) => workspaceId === id).map(toInvitationView),
        },
      ]),
    );
  }

  /**
   * Makes the person with that address a member, or keeps an invitation until there is one. A member stays as he is.
   *
   * @throws `auth.user.email_invalid`, the generic 400 with `field`; `auth.login.domain_not_allowed` with 400 for an
   *   invitation of an address whose domain is not admitted
   */
  async add(principal: Principal, name: string, body: MemberBody): Promise<AddedMember> {
    const workspace = await this.named.open(principal, 'workspace.members.manage', name);
    const email = normalEmail(typeof body.email === 'string' ? body.email : refuseField('email'));
    const flags = memberFlags(body);
    return this.db.transaction(async (tx) => {
      // Before the workspace's lock: a person's row is created under the same one (contract 04 §7.4).
      await lockEmail(tx, email);
      await this.#hold(tx, principal, workspace);
      const userId = await this.repository.accountOf(tx, email);
      if (userId === undefined) return this.#invite(tx, principal, workspace, email, flags);
      if (await this.repository.insert(tx, workspace.id, userId, flags)) {
        const details = { target_user_id: userId, flags };
        await this.audit.append(tx, { ...principal, workspace }, 'workspace.member_added', details);
        this.invalidations.announce(tx, 'membership', userId);
      }
      return { member: toMemberView(await this.#member(tx, workspace, userId), true) };
    });
  }

  /** Replaces the flags. @throws `workspace.last_admin`; `workspace.not_found` for somebody who is no member */
  async setFlags(principal: Principal, name: string, id: string, body: MemberBody): Promise<MemberView> {
    const workspace = await this.named.open(principal, 'workspace.members.manage', name);
    const to = memberFlags(body);
    return this.db.transaction(async (tx) => {
      const admins = await this.#hold(tx, principal, workspace);
      const before = await this.#member(tx, workspace, id);
      const { userId } = before;
      const from = flagsOf(before);
      if (from.admin && !to.admin) requireAnotherAdmin(admins, userId);
      if (sameFlags(from, to)) return toMemberView(before, true);
      await this.repository.setFlags(tx, workspace.id, userId, to);
      const details = { target_user_id: userId, from, to };
      await this.audit.append(tx, { ...principal, workspace }, 'workspace.member_flags_changed', details);
      this.invalidations.announce(tx, 'membership', userId);
      return toMemberView({ ...before, ...to }, true);
    });
  }

  /** @throws `workspace.last_admin`; `workspace.not_found` for somebody who is no member */
  async remove(principal: Principal, name: string, id: string): Promise<void> {
    const workspace = await this.named.open(principal, 'workspace.members.manage', name);
    await this.db.transaction(async (tx) => {
      const admins = await this.#hold(tx, principal, workspace);
      const member = await this.#member(tx, workspace, id);
      const { userId } = member;
      if (member.admin) requireAnotherAdmin(admins, userId);
      await this.repository.remove(tx, workspace.id, userId);
      const details = { target_user_id: userId, flags: flagsOf(member) };
      await this.audit.append(tx, { ...principal, workspace }, 'workspace.member_removed', details);
      this.invalidations.announce(tx, 'membership', userId);
    });
  }

  /** @throws `workspace.invitation.not_found` */
  async revokeInvitation(principal: Principal, name: string, address: string): Promise<void> {
    const workspace = await this.named.open(principal, 'workspace.members.manage', name);
    const email = normalEmail(address);
    await this.db.transaction(async (tx) => {
      await lockEmail(tx, email);
      await this.#hold(tx, principal, workspace);
      const revoked = await this.repository.revokeInvitation(tx, workspace.id, email);
      if (!revoked) throw new PenstockError('workspace.invitation.not_found');
      const { author, promoter, admin, invitedBy } = revoked;
      const details = { email, flags: { author, promoter, admin }, inviter: invitedBy };
      await this.audit.append(tx, { ...principal, workspace }, 'workspace.invitation_revoked', details);
    });
  }

  /**
   * Locks the workspace and judges the caller again by the rows: flags that were cached a moment ago must not let an
   * administrator act who has just been demoted. Returns the ids of the administrators, true until the commit.
   */
  async #hold(tx: Transaction, principal: Principal, workspace: ActingWorkspace): Promise<string[]> {
    if (!(await this.repository.lockActive(tx, workspace.id))) throw new PenstockError('workspace.not_found');
    const admins = await this.repository.adminIds(tx, workspace.id);
    if (!workspace.superAdmin && !workspace.implicit && !admins.includes(principal.userId)) {
      authorise(principal, 'workspace.members.manage', { ...workspace, flags: { ...workspace.flags, admin: false } });
    }
    return admins;
  }

  /** By an id as a caller wrote it, in any case; what is compared and announced is the row's own. */
  async #member(tx: Transaction, workspace: ActingWorkspace, userId: string): Promise<MemberRow> {
    const member = isUuid(userId) ? await this.repository.member(tx, workspace.id, userId) : undefined;
    if (!member) throw new PenstockError('workspace.not_found');
    return member;
  }

  /** An invitation that could never be taken up is refused at once; people who have an account are in already. */
  #requireAdmittedDomain(email: string): void {
    const { allowedDomains } = this.settings;
    if (allowedDomains.length === 0 || allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1))) return;
    throw new PenstockError('auth.login.domain_not_allowed', { status: 400, details: { field: 'email' } });
  }

  async #invite(
    tx: Transaction,
    principal: Principal,
    workspace: ActingWorkspace,
    email: string,
    flags: MemberFlags,
  ): Promise<AddedMember> {
    this.#requireAdmittedDomain(email);
    await this.repository.invite(tx, workspace.id, email, flags, principal.userId);
    const details = { email, flags, inviter: principal.userId };
    await this.audit.append(tx, { ...principal, workspace }, 'workspace.member_invited', details);
    return { invited: true, email, flags };
  }
}

function requireAnotherAdmin(admins: readonly string[], leaving: string): void {
  if (admins.every((id) => id === leaving)) throw new PenstockError('workspace.last_admin');
}

function flagsOf({ author, promoter, admin }: MemberFlags): MemberFlags {
  return { author, promoter, admin };
}

function sameFlags(a: MemberFlags, b: MemberFlags): boolean {
  return a.author === b.author && a.promoter === b.promoter && a.admin === b.admin;
}

import { Injectable } from '@nestjs/common';
import {
  ApiKeyService,
  CAPABILITIES,
  holdsCapability,
  UserDirectory,
  UserService,
  WorkspaceDirectory,
  type AccountView,
  type ApiKeyRecord,
  type MailSendView,
  type Membership,
  type SessionView,
} from '#libs/identity';
import type { KeysetListing, Principal, Scope } from '#libs/kernel';
import { Batch } from '../engine/batch.js';
import { pagesOfParents, type PageOfParent } from '../schema/page-of-parent.js';
import { WorkspaceNodes } from '../workspaces/workspace-nodes.js';
import type { MembershipType } from '../workspaces/workspace.types.js';
import { Actors } from './actor.js';
import type { ApiKeyType, MailSendType, SessionType, UserType } from './identity.types.js';

/** Capabilities of people; the others belong to operations on oneself and to fenced credentials. */
const GRANTABLE = CAPABILITIES.filter((capability) => capability !== 'self' && capability !== 'fenced');

/** Makes users, keys and sessions of what the services give. */
@Injectable()
export class IdentityNodes {
  /** Keys of somebody else, a page each. */
  readonly keysOfOthers: Batch<PageOfParent<undefined>, KeysetListing<{ apiKey: ApiKeyRecord; cursor: string }>>;
  readonly #membershipsOfOthers: Batch<string, Membership[]>;

  constructor(
    private readonly users: UserService,
    private readonly directory: WorkspaceDirectory,
    private readonly actors: Actors,
    private readonly workspaces: WorkspaceNodes,
    people: UserDirectory,
    keys: ApiKeyService,
  ) {
    this.#membershipsOfOthers = new Batch((principal, ids) => people.memberships(principal, ids));
    this.keysOfOthers = pagesOfParents((principal, owners, page) => keys.listOfOwners(principal, owners, page));
  }

  apiKey(record: ApiKeyRecord): ApiKeyType {
    return {
      id: record.id,
      name: record.name,
      kind: record.kind,
      scopes: record.scopes as Scope[],
      owner: this.actors.of(record.owner.id),
      workspace: this.workspaces.byId(record.workspace.id),
      isRevoked: record.is_revoked,
      createdAt: record.created_at,
      expiresAt: record.expires_at,
      lastUsedAt: record.last_used_at,
      lastUsedIp: record.last_used_ip,
      lastUsedUserAgent: record.last_used_user_agent,
    };
  }

  session(view: SessionView): SessionType {
    return {
      id: view.id,
      amr: view.amr,
      provider: view.provider,
      createdAt: view.created_at,
      expiresAt: view.expires_at,
      lastSeenAt: view.last_seen_at,
      sourceIp: view.source_ip,
      userAgent: view.user_agent,
      isCurrent: view.is_current,
    };
  }

  mailSend(view: MailSendView): MailSendType {
    return {
      id: view.id,
      kind: view.kind,
      recipient: view.recipient,
      status: view.status,
      claimedAt: view.claimed_at,
      sentAt: view.sent_at,
      messageId: view.message_id,
      error: view.error,
    };
  }

  async self(principal: Principal): Promise<UserType> {
    return this.account(await this.users.account(principal), principal);
  }

  async memberships(userId: string): Promise<MembershipType[]> {
    const held = await this.directory.membershipsOf(userId);
    return held.map((membership) => this.workspaces.membership(userId, membership));
  }

  capabilities({ workspace, superAdmin }: Principal): string[] {
    return GRANTABLE.filter((capability) =>
      capability === 'super_admin' ? superAdmin : workspace !== undefined && holdsCapability(workspace, capability),
    );
  }

  /** Oneself, or anybody for a super administrator. */
  account(view: AccountView, principal: Principal): UserType {
    return {
      id: view.id,
      email: view.email,
      displayName: view.display_name,
      profilePictureUrl: view.profile_picture_url,
      provider: view.provider,
      isActive: view.is_active,
      isAdmin: view.is_admin,
      themePreference: view.theme_preference,
      hasPassword: view.has_password,
      passwordChangedAt: view.password_changed_at,
      mustChangePassword: view.must_change_password,
      failedLoginCount: view.failed_login_count,
      lockedUntil: view.locked_until,
      createdAt: view.created_at,
      updatedAt: view.updated_at,
      lastLoginAt: view.last_login_at,
      memberships:
        view.id === principal.userId
          ? () => this.memberships(view.id)
          : async (_args, context) => {
              const held = (await context.load(this.#membershipsOfOthers, view.id)) ?? [];
              return held.map((membership) => this.workspaces.membership(view.id, membership));
            },
    };
  }
}

import { Injectable } from '@nestjs/common';
import type { Membership } from '#libs/identity';
import { toWireStamp } from '#libs/kernel';
import { WorkspaceService, type InvitationView, type MemberView, type WorkspaceView } from '#libs/workspaces';
import { Batch } from '../engine/batch.js';
import type { Lazy } from '../engine/lazy.js';
import { Actors } from '../identity/actor.js';
import type { InvitationType, MembershipType, WorkspaceType } from './workspace.types.js';

/** Makes workspaces, members and invitations of what the services give. */
@Injectable()
export class WorkspaceNodes {
  readonly #byId: Batch<string, WorkspaceView>;

  constructor(
    private readonly actors: Actors,
    workspaces: WorkspaceService,
  ) {
    this.#byId = new Batch((principal, ids) => workspaces.among(principal, ids));
  }

  workspace(view: WorkspaceView): WorkspaceType {
    return {
      id: view.id,
      name: view.name,
      displayName: view.display_name,
      isPersonal: view.is_personal,
      isActive: view.is_active,
      deactivatedAt: view.deactivated_at,
      deactivatedBy: this.actors.maybe(view.deactivated_by),
      createdBy: this.actors.maybe(view.created_by),
      createdAt: view.created_at,
      updatedAt: view.updated_at,
    };
  }

  byId(id: string): Lazy<WorkspaceType | undefined> {
    return async (_args, context) => {
      const view = await context.load(this.#byId, id);
      return view && this.workspace(view);
    };
  }

  member(workspace: WorkspaceType, view: MemberView): MembershipType {
    return {
      workspace,
      user: {
        id: view.user_id,
        displayName: view.display_name,
        email: view.email,
        profilePictureUrl: view.profile_picture_url,
      },
      author: view.author,
      promoter: view.promoter,
      admin: view.admin,
      joinedAt: view.joined_at,
    };
  }

  /** A membership of one's own. */
  membership(userId: string, held: Membership): MembershipType {
    return {
      workspace: this.byId(held.workspaceId),
      user: this.actors.of(userId),
      author: held.author,
      promoter: held.promoter,
      admin: held.admin,
      joinedAt: toWireStamp(held.joinedAt),
    };
  }

  invitation(view: InvitationView): InvitationType {
    return {
      email: view.email,
      author: view.author,
      promoter: view.promoter,
      admin: view.admin,
      invitedBy: this.actors.of(view.invited_by),
      invitedAt: view.invited_at,
    };
  }
}

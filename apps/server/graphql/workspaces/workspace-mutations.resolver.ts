import { Context, Mutation, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { MemberService, WorkspaceLifecycle, WorkspaceService, type WorkspaceView } from '#libs/workspaces';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
import { RootField } from '../schema/root-field.js';
import { wireInput } from '../schema/wire-input.js';
import { WorkspaceNodes } from './workspace-nodes.js';
import {
  AddMemberInput,
  CreateWorkspaceInput,
  MemberPayload,
  RemoveMemberInput,
  RevokeInvitationInput,
  SetMemberFlagsInput,
  UpdateWorkspaceInput,
  WorkspaceNameInput,
  WorkspacePayload,
} from './workspace.inputs.js';

@Resolver()
export class WorkspaceMutations {
  constructor(
    private readonly workspaces: WorkspaceService,
    private readonly lifecycle: WorkspaceLifecycle,
    private readonly members: MemberService,
    private readonly nodes: WorkspaceNodes,
  ) {}

  @Mutation(() => WorkspacePayload, { description: 'Makes a room for a team; it starts without members.' })
  @RootField('workspace.create')
  async createWorkspace(
    @Context('principal') caller: Principal,
    @InputArg() { name, displayName }: CreateWorkspaceInput,
  ): Promise<WorkspacePayload> {
    return this.#payload(await this.workspaces.create(caller, { name, display_name: displayName ?? undefined }));
  }

  @Mutation(() => WorkspacePayload, { description: 'Gives a workspace another title.' })
  @RootField('workspace.update')
  async updateWorkspace(
    @Context('principal') caller: Principal,
    @InputArg() { name, displayName }: UpdateWorkspaceInput,
  ): Promise<WorkspacePayload> {
    return this.#payload(await this.workspaces.update(caller, name, { display_name: displayName }));
  }

  @Mutation(() => WorkspacePayload, {
    description: 'Closes a workspace: nothing runs or changes in it, its content stays.',
  })
  @RootField('workspace.lifecycle')
  async deactivateWorkspace(
    @Context('principal') caller: Principal,
    @InputArg() { name }: WorkspaceNameInput,
  ): Promise<WorkspacePayload> {
    return this.#payload(await this.lifecycle.deactivate(caller, name));
  }

  @Mutation(() => WorkspacePayload, { description: 'Opens a closed workspace again.' })
  @RootField('workspace.lifecycle')
  async reactivateWorkspace(
    @Context('principal') caller: Principal,
    @InputArg() { name }: WorkspaceNameInput,
  ): Promise<WorkspacePayload> {
    return this.#payload(await this.lifecycle.reactivate(caller, name));
  }

  @Mutation(() => DeletedPayload, {
    description: 'Deletes a workspace without content for good; answers with its name.',
  })
  @RootField('workspace.delete')
  async deleteWorkspace(
    @Context('principal') caller: Principal,
    @InputArg() { name }: WorkspaceNameInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.remove(caller, name);
    return { deletedId: name };
  }

  @Mutation(() => MemberPayload, {
    description: 'Lets a person in, or keeps a place for an address without an account.',
  })
  @RootField('workspace.members.manage')
  async addMember(
    @Context('principal') caller: Principal,
    @InputArg() { workspace: name, ...member }: AddMemberInput,
  ): Promise<MemberPayload> {
    const added = await this.members.add(caller, name, given(member));
    const workspace = this.nodes.workspace(await this.workspaces.read(caller, name));
    if ('member' in added) {
      return { workspace, membership: this.nodes.member(workspace, added.member), invitation: null };
    }
    const { invitations } = await this.members.list(caller, name);
    const invitation = invitations.find(({ email }) => email === added.email);
    return { workspace, membership: null, invitation: invitation ? this.nodes.invitation(invitation) : null };
  }

  @Mutation(() => MemberPayload, { description: 'Changes what a member may do.' })
  @RootField('workspace.members.manage')
  async setMemberFlags(
    @Context('principal') caller: Principal,
    @InputArg() { workspace: name, userId, ...flags }: SetMemberFlagsInput,
  ): Promise<MemberPayload> {
    const member = await this.members.setFlags(caller, name, userId, given(flags));
    const workspace = this.nodes.workspace(await this.workspaces.read(caller, name));
    return { workspace, membership: this.nodes.member(workspace, member), invitation: null };
  }

  @Mutation(() => DeletedPayload, { description: "Takes a person out of a workspace; answers with the person's id." })
  @RootField('workspace.members.manage')
  async removeMember(
    @Context('principal') caller: Principal,
    @InputArg() { workspace, userId }: RemoveMemberInput,
  ): Promise<DeletedPayload> {
    await this.members.remove(caller, workspace, userId);
    return { deletedId: userId };
  }

  @Mutation(() => DeletedPayload, { description: 'Takes an invitation back; answers with its address.' })
  @RootField('workspace.members.manage')
  async revokeInvitation(
    @Context('principal') caller: Principal,
    @InputArg() { workspace, email }: RevokeInvitationInput,
  ): Promise<DeletedPayload> {
    await this.members.revokeInvitation(caller, workspace, email);
    return { deletedId: email };
  }

  #payload(view: WorkspaceView): WorkspacePayload {
    return { workspace: this.nodes.workspace(view) };
  }
}

/** A flag that is null is one that is not given. */
function given(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(wireInput(input)).filter(([, value]) => value !== null));
}

import { Args, Context, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { pageOfList, type Principal } from '#libs/kernel';
import { MemberService, WorkspaceService, type InvitationView, type MemberView } from '#libs/workspaces';
import { Batch } from '../engine/batch.js';
import { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { found } from '../schema/lookup.js';
import { Cost, RootField } from '../schema/root-field.js';
import { WorkspaceNodes } from './workspace-nodes.js';
import {
  InvitationConnection,
  MembershipConnection,
  WorkspaceConnection,
  WorkspaceType,
  type InvitationType,
  type MembershipType,
} from './workspace.types.js';

/** The people of one workspace come out of two statements of their own, whatever page of them is asked for. */
const PEOPLE_COST = 20;

interface People {
  members: MemberView[];
  invitations: InvitationView[];
}

@Resolver(() => WorkspaceType)
export class WorkspaceResolver {
  readonly #people: Batch<string, People>;

  constructor(
    private readonly workspaces: WorkspaceService,
    private readonly nodes: WorkspaceNodes,
    members: MemberService,
  ) {
    this.#people = new Batch((principal, ids) => members.among(principal, ids));
  }

  @Query(() => WorkspaceType, {
    nullable: true,
    name: 'workspace',
    description: 'A workspace by its name; null when it is absent or the viewer does not belong to it.',
  })
  @RootField('workspace.read')
  async workspace(
    @Context('principal') caller: Principal,
    @Args('name', { description: 'Taken from `Workspace.name`.' }) name: string,
  ): Promise<WorkspaceType | null> {
    const view = await found(this.workspaces.read(caller, name));
    return view && this.nodes.workspace(view);
  }

  @Query(() => WorkspaceConnection, {
    name: 'workspaces',
    description: 'The workspaces the viewer belongs to, by name; all of them for super administrators.',
  })
  @RootField('workspace.list_own')
  async list(@Context('principal') caller: Principal, @Args() page: PageArgs): Promise<Connection<WorkspaceType>> {
    const cursors = new Cursors('workspaces');
    return toConnection(await this.workspaces.list(caller, cursors.page(page)), {
      cursors,
      keyOf: ({ name }) => name,
      nodeOf: (view) => this.nodes.workspace(view),
      count: () => this.workspaces.count(caller),
    });
  }

  @ResolveField(() => MembershipConnection, { name: 'members', description: 'Who belongs to it, with which rights.' })
  @Cost(PEOPLE_COST)
  async membersOf(
    @Parent() workspace: WorkspaceType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
  ): Promise<Connection<MembershipType>> {
    const { members } = await this.#load(context, workspace);
    const keyOf = (view: MemberView): string => `${view.joined_at}~${view.user_id}`;
    const rows = members.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
    const cursors = new Cursors('members', { workspace: workspace.id });
    return toConnection(pageOfList(rows, keyOf, cursors.page(page)), {
      cursors,
      keyOf,
      nodeOf: (view) => this.nodes.member(workspace, view),
      count: () => rows.length,
    });
  }

  /** Only administrators see any. */
  @ResolveField(() => InvitationConnection, {
    name: 'invitations',
    description: 'Places kept for people without an account.',
  })
  @Cost(PEOPLE_COST)
  async invitationsOf(
    @Parent() workspace: WorkspaceType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
  ): Promise<Connection<InvitationType>> {
    const { invitations } = await this.#load(context, workspace);
    const keyOf = (view: InvitationView): string => `${view.invited_at}~${view.email}`;
    const rows = invitations.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
    const cursors = new Cursors('invitations', { workspace: workspace.id });
    return toConnection(pageOfList(rows, keyOf, cursors.page(page)), {
      cursors,
      keyOf,
      nodeOf: (view) => this.nodes.invitation(view),
      count: () => rows.length,
    });
  }

  async #load(context: OperationContext, { id }: WorkspaceType): Promise<People> {
    return (await context.load(this.#people, id)) ?? { members: [], invitations: [] };
  }
}

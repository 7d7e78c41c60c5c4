import { Args, Context, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { ApiKeyService, SessionService } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { WorkspaceService } from '#libs/workspaces';
import { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { found } from '../schema/lookup.js';
import { EMPTY_PAGE } from '../schema/page-of-parent.js';
import { RootField } from '../schema/root-field.js';
import { WorkspaceNodes } from '../workspaces/workspace-nodes.js';
import { IdentityNodes } from './identity-nodes.js';
import { ApiKeyConnection, SessionType, UserType, ViewerType, type ApiKeyType } from './identity.types.js';

/** Oneself: who acts, where, with which keys and sessions. */
@Resolver(() => UserType)
export class IdentityResolver {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly sessions: SessionService,
    private readonly workspaces: WorkspaceService,
    private readonly nodes: IdentityNodes,
    private readonly workspaceNodes: WorkspaceNodes,
  ) {}

  @Query(() => ViewerType, { description: 'Who is asking, and what they may do where.' })
  @RootField('profile.read')
  viewer(@Context('principal') caller: Principal): ViewerType {
    const { keyId, workspace } = caller;
    return {
      user: () => this.nodes.self(caller),
      authMethod: caller.method,
      apiKey: async () => {
        const record = keyId === undefined ? undefined : await this.keys.own(caller, keyId);
        return record ? this.nodes.apiKey(record) : null;
      },
      scopes: keyId === undefined ? null : caller.scopes,
      isSuperAdmin: caller.superAdmin,
      activeWorkspace: async () => {
        const view = workspace ? await found(this.workspaces.read(caller, workspace.name)) : null;
        return view && this.workspaceNodes.workspace(view);
      },
      memberships: () => this.nodes.memberships(caller.userId),
      capabilities: this.nodes.capabilities(caller),
    };
  }

  @Query(() => [SessionType], { name: 'sessions', description: 'Browsers in which the viewer is signed in.' })
  @RootField('session.own')
  async listSessions(@Context('principal') caller: Principal): Promise<SessionType[]> {
    return (await this.sessions.list(caller)).map((view) => this.nodes.session(view));
  }

  /** `all`: every key of the workspace, for its administrators. */
  @Query(() => ApiKeyConnection, { description: "The viewer's own keys, newest first." })
  @RootField('api_key.own')
  apiKeys(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('all', {
      type: () => Boolean,
      nullable: true,
      description: "Whether everybody's keys of the active workspace are given, for its administrators; default false.",
    })
    all?: boolean | null,
  ): Promise<Connection<ApiKeyType>> {
    return this.#keys(caller, { all: all ?? false }, page);
  }

  @ResolveField(() => ApiKeyConnection, { name: 'apiKeys', description: "Keys that act on this person's behalf." })
  ownKeys(
    @Parent() user: UserType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
  ): Promise<Connection<ApiKeyType>> {
    const { principal } = context;
    if (user.id === principal.userId) return this.#keys(principal, { all: false }, page);
    return this.#keysOf(context, user.id, page);
  }

  async #keysOf(context: OperationContext, owner: string, args: PageArgs): Promise<Connection<ApiKeyType>> {
    const cursors = new Cursors('apiKeys', { owner });
    const key = { parent: owner, page: cursors.page(args), filter: undefined };
    return toConnection((await context.load(this.nodes.keysOfOthers, key)) ?? EMPTY_PAGE, {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: ({ apiKey }) => this.nodes.apiKey(apiKey),
      count: () => this.keys.countOfOwner(context.principal, owner),
    });
  }

  async #keys(caller: Principal, request: { all: boolean }, page: PageArgs): Promise<Connection<ApiKeyType>> {
    const cursors = new Cursors('apiKeys', request);
    return toConnection(await this.keys.list(caller, request, cursors.page(page)), {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: ({ apiKey }) => this.nodes.apiKey(apiKey),
      count: () => this.keys.count(caller, request),
    });
  }
}

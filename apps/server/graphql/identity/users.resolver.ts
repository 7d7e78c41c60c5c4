import { Args, Context, ID, Mutation, Query, Resolver } from '@nestjs/graphql';
import {
  LocalAccounts,
  MailLedger,
  UserDirectory,
  UserErasure,
  UserStanding,
  type AccountView,
  type Minted,
} from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { found } from '../schema/lookup.js';
import { DeletedPayload } from '../schema/payloads.js';
import { RootField } from '../schema/root-field.js';
import { IdentityNodes } from './identity-nodes.js';
import { CreateLocalUserInput, UserIdInput } from './identity.inputs.js';
import {
  MailSendConnection,
  MintedUserPayload,
  UserConnection,
  UserPayload,
  UserType,
  type MailSendType,
} from './identity.types.js';

/** People, as super administrators keep them, and the messages that were sent to them. */
@Resolver()
export class UsersResolver {
  constructor(
    private readonly directory: UserDirectory,
    private readonly standing: UserStanding,
    private readonly accounts: LocalAccounts,
    private readonly erasure: UserErasure,
    private readonly mails: MailLedger,
    private readonly nodes: IdentityNodes,
  ) {}

  @Query(() => UserType, { nullable: true })
  @RootField('user.read')
  async user(
    @Context('principal') caller: Principal,
    @Args('id', { type: () => ID }) id: string,
  ): Promise<UserType | null> {
    const view = await found(this.directory.read(caller, id));
    return view && this.nodes.account(view, caller);
  }

  /** By address; `q` is part of an address or a name. */
  @Query(() => UserConnection)
  @RootField('user.read')
  async users(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('q', { type: () => String, nullable: true }) q?: string | null,
  ): Promise<Connection<UserType>> {
    const search = q ?? undefined;
    const cursors = new Cursors('users', { q: search ?? '' });
    return toConnection(await this.directory.list(caller, search, cursors.page(page)), {
      cursors,
      keyOf: ({ email }) => email,
      nodeOf: (view) => this.nodes.account(view, caller),
      count: () => this.directory.count(caller, search),
    });
  }

  @Query(() => MailSendConnection)
  @RootField('mail.read')
  async mailSends(@Context('principal') caller: Principal, @Args() page: PageArgs): Promise<Connection<MailSendType>> {
    const cursors = new Cursors('mailSends');
    return toConnection(await this.mails.list(caller, cursors.page(page)), {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: (view) => this.nodes.mailSend(view),
      count: () => this.mails.count(caller),
    });
  }

  @Mutation(() => MintedUserPayload)
  @RootField('user.local')
  async createLocalUser(
    @Context('principal') caller: Principal,
    @Args('input') { email, displayName }: CreateLocalUserInput,
  ): Promise<MintedUserPayload> {
    const request = displayName == null ? { email } : { email, display_name: displayName };
    return this.#minted(caller, await this.accounts.create(caller, request));
  }

  @Mutation(() => MintedUserPayload)
  @RootField('user.local')
  async resetPassword(
    @Context('principal') caller: Principal,
    @Args('input') { id }: UserIdInput,
  ): Promise<MintedUserPayload> {
    return this.#minted(caller, await this.accounts.resetPassword(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.local')
  disableLocalPassword(
    @Context('principal') caller: Principal,
    @Args('input') { id }: UserIdInput,
  ): Promise<UserPayload> {
    return this.#payload(caller, this.accounts.disable(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.local')
  unlockUser(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.accounts.unlock(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.manage')
  activateUser(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.activate(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.manage')
  deactivateUser(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.deactivate(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.manage')
  grantAdmin(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.grantAdmin(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.manage')
  revokeAdmin(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.revokeAdmin(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.identity_reset')
  resetUserIdentity(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.resetIdentity(caller, id));
  }

  @Mutation(() => UserPayload)
  @RootField('user.erase')
  eraseUser(@Context('principal') caller: Principal, @Args('input') { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.erasure.erase(caller, id));
  }

  @Mutation(() => DeletedPayload)
  @RootField('user.sessions')
  async revokeUserSessions(
    @Context('principal') caller: Principal,
    @Args('input') { id }: UserIdInput,
  ): Promise<DeletedPayload> {
    await this.standing.revokeSessions(caller, id);
    return { deletedId: id };
  }

  async #payload(caller: Principal, change: Promise<AccountView>): Promise<UserPayload> {
    return { user: this.nodes.account(await change, caller) };
  }

  #minted(caller: Principal, { user, oneTimePassword }: Minted): MintedUserPayload {
    return { user: this.nodes.account(user, caller), oneTimePassword: oneTimePassword ?? null };
  }
}

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
import { InputArg } from '../schema/input-arg.js';
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

  @Query(() => UserType, {
    nullable: true,
    description: 'An account by its id, for super administrators; null when it is absent.',
  })
  @RootField('user.read')
  async user(
    @Context('principal') caller: Principal,
    @Args('id', { type: () => ID, description: 'Taken from `User.id` or `Actor.id`.' }) id: string,
  ): Promise<UserType | null> {
    const view = await found(this.directory.read(caller, id));
    return view && this.nodes.account(view, caller);
  }

  /** By address; `q` is part of an address or a name. */
  @Query(() => UserConnection, { description: 'Every account of the deployment by address, for super administrators.' })
  @RootField('user.read')
  async users(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('q', { type: () => String, nullable: true, description: 'Part of an address or a name.' }) q?: string | null,
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

  @Query(() => MailSendConnection, { description: 'Mails of the deployment, newest first, for super administrators.' })
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

  @Mutation(() => MintedUserPayload, { description: 'Makes an account with a password for its first sign-in.' })
  @RootField('user.local')
  async createLocalUser(
    @Context('principal') caller: Principal,
    @InputArg() { email, displayName }: CreateLocalUserInput,
  ): Promise<MintedUserPayload> {
    const request = displayName == null ? { email } : { email, display_name: displayName };
    return this.#minted(caller, await this.accounts.create(caller, request));
  }

  @Mutation(() => MintedUserPayload, {
    description: 'Sets a one-time password that the person has to change at the next sign-in.',
  })
  @RootField('user.local')
  async resetPassword(
    @Context('principal') caller: Principal,
    @InputArg() { id }: UserIdInput,
  ): Promise<MintedUserPayload> {
    return this.#minted(caller, await this.accounts.resetPassword(caller, id));
  }

  @Mutation(() => UserPayload, {
    description: 'Removes the local password; the person signs in through an identity provider only.',
  })
  @RootField('user.local')
  disableLocalPassword(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.accounts.disable(caller, id));
  }

  @Mutation(() => UserPayload, { description: 'Lifts the lock that too many wrong passwords set.' })
  @RootField('user.local')
  unlockUser(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.accounts.unlock(caller, id));
  }

  @Mutation(() => UserPayload, { description: 'Lets a deactivated account sign in again.' })
  @RootField('user.manage')
  activateUser(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.activate(caller, id));
  }

  @Mutation(() => UserPayload, { description: 'Keeps an account from signing in; its sessions end and its keys rest.' })
  @RootField('user.manage')
  deactivateUser(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.deactivate(caller, id));
  }

  @Mutation(() => UserPayload, { description: 'Makes a person a super administrator of the whole deployment.' })
  @RootField('user.manage')
  grantAdmin(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.grantAdmin(caller, id));
  }

  @Mutation(() => UserPayload, { description: 'Takes that right back; the last super administrator keeps it.' })
  @RootField('user.manage')
  revokeAdmin(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.revokeAdmin(caller, id));
  }

  @Mutation(() => UserPayload, {
    description: 'Forgets which identity at the provider the account belongs to; the next sign-in binds it anew.',
  })
  @RootField('user.identity_reset')
  resetUserIdentity(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.standing.resetIdentity(caller, id));
  }

  @Mutation(() => UserPayload, {
    description: 'Closes an account for good and removes what is personal, as the deployment has it; its work stays.',
  })
  @RootField('user.erase')
  eraseUser(@Context('principal') caller: Principal, @InputArg() { id }: UserIdInput): Promise<UserPayload> {
    return this.#payload(caller, this.erasure.erase(caller, id));
  }

  @Mutation(() => DeletedPayload, { description: "Signs a person out everywhere; answers with the person's id." })
  @RootField('user.sessions')
  async revokeUserSessions(
    @Context('principal') caller: Principal,
    @InputArg() { id }: UserIdInput,
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

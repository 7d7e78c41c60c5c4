import { Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
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
import { Caller } from '../http/caller.decorator.js';
import { anyJson, parseInput, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging, shownAs } from './paging.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';
import { account, mailSend, mintedAccount } from '../openapi/shapes/identity.js';

const newAccount = z.strictObject({ email: anyJson, display_name: anyJson.optional() });

/** People, as super administrators keep them (04 §3, §4.1), and the messages that were sent to them (§11). */
@Controller('/api/v1')
export class UsersController {
  constructor(
    private readonly directory: UserDirectory,
    private readonly standing: UserStanding,
    private readonly accounts: LocalAccounts,
    private readonly erasure: UserErasure,
    private readonly mails: MailLedger,
    private readonly paging: Paging,
  ) {}

  @Get('auth/users')
  @Operation('user.read')
  @Describe('List the people of this deployment.', {
    query: { ...paging, q: z.string().optional() },
    answers: { 200: listOf(account) },
    errors: ['graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const q = queryText(request, 'q');
    return this.paging.list(request, {
      list: 'users',
      filter: { q: q ?? '' },
      page: (page) => this.directory.list(caller, q, page),
      count: () => this.directory.count(caller, q),
      placeOf: ({ email }) => email,
    });
  }

  /** The one-time password is in this answer only where no mail takes it to its owner, and nowhere else, ever. */
  @Post('auth/users')
  @Operation('user.local')
  @Describe('Make an account with a one-time password.', {
    body: newAccount,
    answers: { 201: mintedAccount },
    errors: ['auth.user.email_invalid', 'auth.user.email_taken', 'auth.login.domain_not_allowed'],
  })
  async create(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return minted(await this.accounts.create(caller, parseInput(newAccount, request.body)));
  }

  @Get('auth/users/:id')
  @Operation('user.read')
  @Describe('Read one account.', { answers: { 200: account }, errors: ['auth.user.not_found'] })
  read(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.directory.read(caller, id);
  }

  @Post('auth/users/:id/activate')
  @HttpCode(200)
  @Operation('user.manage')
  @Describe('Let a person sign in again.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  activate(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.activate(caller, id);
  }

  @Post('auth/users/:id/deactivate')
  @HttpCode(200)
  @Operation('user.manage')
  @Describe('Shut a person out at once.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  deactivate(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.deactivate(caller, id);
  }

  @Post('auth/users/:id/grant-admin')
  @HttpCode(200)
  @Operation('user.manage')
  @Describe('Make a person a super administrator.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  grantAdmin(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.grantAdmin(caller, id);
  }

  @Post('auth/users/:id/revoke-admin')
  @HttpCode(200)
  @Operation('user.manage')
  @Describe('Take super administration back.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  revokeAdmin(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.revokeAdmin(caller, id);
  }

  @Post('auth/users/:id/reset-password')
  @HttpCode(200)
  @Operation('user.local')
  @Describe('Replace a password by a one-time password.', {
    answers: { 200: mintedAccount },
    errors: ['auth.user.not_found', 'auth.password.no_local_account'],
  })
  async resetPassword(@Caller() caller: Principal, @Param('id') id: string): Promise<unknown> {
    return minted(await this.accounts.resetPassword(caller, id));
  }

  @Post('auth/users/:id/disable-local')
  @HttpCode(200)
  @Operation('user.local')
  @Describe('Take the password away; identity providers stay.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  disableLocal(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.accounts.disable(caller, id);
  }

  @Post('auth/users/:id/unlock')
  @HttpCode(200)
  @Operation('user.local')
  @Describe('End a lock after too many failed attempts.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  unlock(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.accounts.unlock(caller, id);
  }

  @Post('auth/users/:id/identity-reset')
  @HttpCode(200)
  @Operation('user.identity_reset')
  @Describe('Forget which identity of a provider the account is linked to.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  resetIdentity(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.resetIdentity(caller, id);
  }

  @Post('auth/users/:id/erase')
  @HttpCode(200)
  @Operation('user.erase')
  @Describe('Erase a person: what names them goes, what they made stays.', {
    answers: { 200: account },
    errors: ['auth.user.not_found', 'auth.user.last_super_admin', 'auth.password.no_local_account'],
  })
  erase(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.erasure.erase(caller, id);
  }

  @Delete('auth/users/:id/sessions')
  @Operation('user.sessions')
  @Describe('End every session of a person.', { answers: { 204: nothing('Ended.') }, errors: ['auth.user.not_found'] })
  revokeSessions(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    return this.standing.revokeSessions(caller, id);
  }

  @Get('mail-sends')
  @Operation('mail.read')
  @Describe('List what was sent to whom, newest first.', {
    query: paging,
    answers: { 200: listOf(mailSend) },
    errors: ['graphql.cursor_invalid'],
  })
  async mailSends(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const body = await this.paging.list(request, {
      list: 'mailSends',
      page: (page) => this.mails.list(caller, page),
      count: () => this.mails.count(caller),
      placeOf: ({ cursor }) => cursor,
    });
    return shownAs(body, ({ cursor: _place, ...view }) => view);
  }
}

function minted({ user, oneTimePassword }: Minted): object {
  return oneTimePassword === undefined ? user : { ...user, one_time_password: oneTimePassword };
}

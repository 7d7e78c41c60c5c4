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
import { anyJson, listBody, parseInput, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';

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
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const page = this.paging.of(request);
    return listBody(page, await this.directory.list(caller, queryText(request, 'q'), page));
  }

  /** The one-time password is in this answer only where no mail takes it to its owner, and nowhere else, ever. */
  @Post('auth/users')
  @Operation('user.local')
  async create(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return minted(await this.accounts.create(caller, parseInput(newAccount, request.body)));
  }

  @Get('auth/users/:id')
  @Operation('user.read')
  read(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.directory.read(caller, id);
  }

  @Post('auth/users/:id/activate')
  @HttpCode(200)
  @Operation('user.manage')
  activate(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.activate(caller, id);
  }

  @Post('auth/users/:id/deactivate')
  @HttpCode(200)
  @Operation('user.manage')
  deactivate(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.deactivate(caller, id);
  }

  @Post('auth/users/:id/grant-admin')
  @HttpCode(200)
  @Operation('user.manage')
  grantAdmin(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.grantAdmin(caller, id);
  }

  @Post('auth/users/:id/revoke-admin')
  @HttpCode(200)
  @Operation('user.manage')
  revokeAdmin(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.revokeAdmin(caller, id);
  }

  @Post('auth/users/:id/reset-password')
  @HttpCode(200)
  @Operation('user.local')
  async resetPassword(@Caller() caller: Principal, @Param('id') id: string): Promise<unknown> {
    return minted(await this.accounts.resetPassword(caller, id));
  }

  @Post('auth/users/:id/disable-local')
  @HttpCode(200)
  @Operation('user.local')
  disableLocal(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.accounts.disable(caller, id);
  }

  @Post('auth/users/:id/unlock')
  @HttpCode(200)
  @Operation('user.local')
  unlock(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.accounts.unlock(caller, id);
  }

  @Post('auth/users/:id/identity-reset')
  @HttpCode(200)
  @Operation('user.identity_reset')
  resetIdentity(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.standing.resetIdentity(caller, id);
  }

  @Post('auth/users/:id/erase')
  @HttpCode(200)
  @Operation('user.erase')
  erase(@Caller() caller: Principal, @Param('id') id: string): Promise<AccountView> {
    return this.erasure.erase(caller, id);
  }

  @Delete('auth/users/:id/sessions')
  @Operation('user.sessions')
  revokeSessions(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    return this.standing.revokeSessions(caller, id);
  }

  @Get('mail-sends')
  @Operation('mail.read')
  async mailSends(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const page = this.paging.of(request);
    const { items, total } = await this.mails.list(caller, page);
    return listBody(page, { items: items.map(({ cursor: _cursor, ...view }) => view), total });
  }
}

function minted({ user, oneTimePassword }: Minted): object {
  return oneTimePassword === undefined ? user : { ...user, one_time_password: oneTimePassword };
}

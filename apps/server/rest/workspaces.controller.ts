import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { PenstockError, type Principal } from '#libs/kernel';
import { MemberService, WorkspaceLifecycle, WorkspaceService, type WorkspaceView } from '#libs/workspaces';
import { Caller } from '../http/caller.decorator.js';
import { Cookies } from '../http/cookies.js';
import { anyJson, parseInput } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';
import { invited, member, memberList, workspaceView } from '../openapi/shapes/workspaces.js';

const creation = z.strictObject({ name: anyJson, display_name: anyJson.optional() });
const change = z.strictObject({ display_name: anyJson });
const flags = { author: anyJson.optional(), promoter: anyJson.optional(), admin: anyJson.optional() };
const newMember = z.strictObject({ email: anyJson, ...flags });
const memberFlags = z.strictObject(flags);
const choice = z.strictObject({ workspace: z.string() });

/** Workspaces by name; the flags held there decide, not those of the active one. */
@Controller()
export class WorkspacesController {
  constructor(
    private readonly workspaces: WorkspaceService,
    private readonly lifecycle: WorkspaceLifecycle,
    private readonly members: MemberService,
    private readonly cookies: Cookies,
    private readonly paging: Paging,
  ) {}

  @Get('/api/v1/workspaces')
  @Operation('workspace.list_own')
  @Describe('List the workspaces one belongs to.', {
    query: paging,
    answers: { 200: listOf(workspaceView) },
    errors: ['graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.paging.list(request, {
      list: 'workspaces',
      page: (page) => this.workspaces.list(caller, page),
      count: () => this.workspaces.count(caller),
      placeOf: ({ name }) => name,
    });
  }

  @Post('/api/v1/workspaces')
  @Operation('workspace.create')
  @Describe('Make a workspace.', {
    body: creation,
    answers: { 201: workspaceView },
    errors: ['workspace.validation.name_invalid', 'workspace.validation.duplicate_name'],
  })
  create(@Caller() caller: Principal, @Req() request: Request): Promise<WorkspaceView> {
    return this.workspaces.create(caller, parseInput(creation, request.body));
  }

  @Get('/api/v1/workspaces/:name')
  @Operation('workspace.read')
  @Describe('Read one workspace.', { answers: { 200: workspaceView }, errors: ['workspace.not_found'] })
  read(@Caller() caller: Principal, @Param('name') name: string): Promise<WorkspaceView> {
    return this.workspaces.read(caller, name);
  }

  @Put('/api/v1/workspaces/:name')
  @Operation('workspace.update')
  @Describe('Rename what people see of a workspace.', {
    body: change,
    answers: { 200: workspaceView },
    errors: ['workspace.not_found'],
  })
  update(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<WorkspaceView> {
    return this.workspaces.update(caller, name, parseInput(change, request.body));
  }

  @Delete('/api/v1/workspaces/:name')
  @Operation('workspace.delete')
  @Describe('Delete an empty workspace.', {
    answers: { 204: nothing('Deleted.') },
    errors: ['workspace.not_found', 'workspace.in_use'],
  })
  async remove(@Caller() caller: Principal, @Param('name') name: string): Promise<void> {
    await this.lifecycle.remove(caller, name);
  }

  @Post('/api/v1/workspaces/:name/deactivate')
  @HttpCode(200)
  @Operation('workspace.lifecycle')
  @Describe('Shut a workspace: its runs, keys and endpoints stop.', {
    answers: { 200: workspaceView },
    errors: ['workspace.not_found'],
  })
  deactivate(@Caller() caller: Principal, @Param('name') name: string): Promise<WorkspaceView> {
    return this.lifecycle.deactivate(caller, name);
  }

  @Post('/api/v1/workspaces/:name/reactivate')
  @HttpCode(200)
  @Operation('workspace.lifecycle')
  @Describe('Open a workspace again.', { answers: { 200: workspaceView }, errors: ['workspace.not_found'] })
  reactivate(@Caller() caller: Principal, @Param('name') name: string): Promise<WorkspaceView> {
    return this.lifecycle.reactivate(caller, name);
  }

  @Get('/api/v1/workspaces/:name/members')
  @Operation('workspace.read')
  @Describe('List members and open invitations.', { answers: { 200: memberList }, errors: ['workspace.not_found'] })
  listMembers(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.members.list(caller, name);
  }

  /** 200 with the member, or 202 when the person has no account yet. */
  @Post('/api/v1/workspaces/:name/members')
  @Operation('workspace.members.manage')
  @Describe('Add a person, or invite one who has no account yet.', {
    body: newMember,
    answers: { 200: member, 202: invited },
    errors: ['workspace.not_found', 'auth.user.email_invalid', 'auth.login.domain_not_allowed'],
  })
  async addMember(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const added = await this.members.add(caller, name, parseInput(newMember, request.body));
    response.status('member' in added ? 200 : 202);
    return 'member' in added ? added.member : added;
  }

  @Put('/api/v1/workspaces/:name/members/:userId')
  @Operation('workspace.members.manage')
  @Describe('Change what a member may do.', {
    body: memberFlags,
    answers: { 200: member },
    errors: ['workspace.not_found', 'auth.user.not_found', 'workspace.last_admin'],
  })
  setFlags(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('userId') userId: string,
    @Req() request: Request,
  ): Promise<unknown> {
    return this.members.setFlags(caller, name, userId, parseInput(memberFlags, request.body));
  }

  @Delete('/api/v1/workspaces/:name/members/:userId')
  @Operation('workspace.members.manage')
  @Describe('Remove a member.', {
    answers: { 204: nothing('Removed.') },
    errors: ['workspace.not_found', 'auth.user.not_found', 'workspace.last_admin'],
  })
  async removeMember(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('userId') userId: string,
  ): Promise<void> {
    await this.members.remove(caller, name, userId);
  }

  @Delete('/api/v1/workspaces/:name/invitations/:email')
  @Operation('workspace.members.manage')
  @Describe('Take an invitation back.', {
    answers: { 204: nothing('Taken back.') },
    errors: ['workspace.not_found', 'workspace.invitation.not_found'],
  })
  async revokeInvitation(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('email') email: string,
  ): Promise<void> {
    await this.members.revokeInvitation(caller, name, email);
  }

  /** The same session, remembering another workspace. */
  @Post('/workspace/switch')
  @HttpCode(200)
  @Operation('workspace.switch')
  @Describe('Work in another workspace with the same session.', {
    body: choice,
    answers: { 200: workspaceView },
    errors: ['workspace.not_found', 'workspace.inactive', 'workspace.session_required'],
  })
  async switchTo(
    @Caller() caller: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkspaceView> {
    const presented = this.cookies.session(request);
    if (presented === undefined) throw new PenstockError('workspace.session_required');
    const { token, workspace } = await this.workspaces.switchTo(
      caller,
      parseInput(choice, request.body).workspace,
      presented,
    );
    this.cookies.renewSession(response, token);
    return workspace;
  }
}

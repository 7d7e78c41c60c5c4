import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '#libs/kernel';
import { AuditReader } from '#libs/workspaces';
import { z } from 'zod';
import { Caller } from '../http/caller.decorator.js';
import { Describe } from '../http/describe.decorator.js';
import { queryFlag, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { auditEvent } from '../openapi/shapes/audit.js';
import { listOf, moment, paging, uuid } from '../openapi/shapes/envelope.js';
import { momentFilter } from './filters.js';
import { Paging, shownAs } from './paging.js';

/** The trail of a workspace, or with `?instance=true` of the instance (contract 04 §10 "Reading"). */
@Controller('/api/v1')
export class AuditController {
  constructor(
    private readonly reader: AuditReader,
    private readonly paging: Paging,
  ) {}

  @Get('audit')
  @Operation('audit.read')
  @Describe('Read the trail of the workspace, or of the instance, newest first.', {
    query: {
      ...paging,
      event: z.string().optional().describe('Start of the event’s name.'),
      user_id: uuid.optional(),
      key_id: z.string().optional(),
      from: moment.optional(),
      to: moment.optional(),
      instance: z.boolean().optional().describe('The whole instance; for super administrators.'),
    },
    answers: { 200: listOf(auditEvent) },
    errors: ['auth.session.required', 'auth.role_required', 'graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const query = {
      event: queryText(request, 'event'),
      user_id: queryText(request, 'user_id'),
      key_id: queryText(request, 'key_id'),
      from: momentFilter(request, 'from'),
      to: momentFilter(request, 'to'),
      instance: queryFlag(request, 'instance'),
    };
    const body = await this.paging.list(request, {
      list: 'auditEvents',
      filter: query,
      page: (page) => this.reader.list(caller, query, page),
      count: () => this.reader.count(caller, query),
      placeOf: ({ cursor }) => cursor,
    });
    return shownAs(body, ({ cursor: _place, ...row }) => row);
  }
}

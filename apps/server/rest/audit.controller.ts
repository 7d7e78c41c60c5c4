import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '#libs/kernel';
import { AuditReader } from '#libs/workspaces';
import { z } from 'zod';
import { Caller } from '../http/caller.decorator.js';
import { Describe } from '../http/describe.decorator.js';
import { queryFlag, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { auditPage } from '../openapi/shapes/audit.js';
import { moment, paging, uuid } from '../openapi/shapes/envelope.js';
import { momentFilter } from './filters.js';
import { Paging } from './paging.js';

/** The trail of a workspace, or with `?instance=true` of the instance (contract 04 §10 "Reading"). */
@Controller('/api/v1')
export class AuditController {
  constructor(
    private readonly reader: AuditReader,
    private readonly paging: Paging,
  ) {}

  /** Newest first; `next_cursor` goes back in as `after`, and is null on the last page. */
  @Get('audit')
  @Operation('audit.read')
  @Describe('Read the trail of the workspace, or of the instance, newest first.', {
    query: {
      event: z.string().optional().describe('Start of the event’s name.'),
      user_id: uuid.optional(),
      key_id: z.string().optional(),
      from: moment.optional(),
      to: moment.optional(),
      instance: z.boolean().optional().describe('The whole instance; for super administrators.'),
      limit: paging.limit,
      after: z.string().optional().describe('The `next_cursor` of the page before.'),
    },
    answers: { 200: auditPage },
    errors: ['auth.session.required', 'auth.role_required', 'graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const { limit } = this.paging.of(request);
    const query = {
      event: queryText(request, 'event'),
      user_id: queryText(request, 'user_id'),
      key_id: queryText(request, 'key_id'),
      from: momentFilter(request, 'from'),
      to: momentFilter(request, 'to'),
      instance: queryFlag(request, 'instance'),
    };
    const { items, hasNext } = await this.reader.list(caller, query, {
      first: limit,
      after: queryText(request, 'after'),
    });
    return {
      items: items.map(({ cursor: _place, ...row }) => row),
      limit,
      next_cursor: hasNext ? (items.at(-1)?.cursor ?? null) : null,
    };
  }
}

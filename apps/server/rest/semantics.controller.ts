import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Principal } from '#libs/kernel';
import { FACT_SCOPES, SemanticsService } from '#libs/semantics';
import { Caller } from '../http/caller.decorator.js';
import { clientGone } from '../http/client-gone.js';
import { Describe } from '../http/describe.decorator.js';
import { bodyObject, parseInput, queryFlag, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';
import { moment } from '../openapi/shapes/envelope.js';
import { fact, factBody, factList, recordedFact } from '../openapi/shapes/semantics.js';
import { momentFilter, wordFilter } from './filters.js';

const retirement = z.strictObject({ reason: z.string() });

/** What people and agents have learned about datasources (06 §11). */
@Controller('/api/v1')
export class SemanticsController {
  constructor(private readonly semantics: SemanticsService) {}

  @Get('datasources/:name/facts')
  @Operation('semantic.read')
  @Describe('List what is known of a datasource.', {
    query: {
      table: z.string().optional(),
      scope: z.enum(FACT_SCOPES).optional(),
      include_retired: z.boolean().optional(),
      since: moment.optional(),
    },
    answers: { 200: factList },
    errors: ['datasource.not_found'],
  })
  list(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.semantics.list(caller, name, {
      table: queryText(request, 'table'),
      scope: wordFilter(request, 'scope', FACT_SCOPES),
      include_retired: queryFlag(request, 'include_retired'),
      since: momentFilter(request, 'since'),
    });
  }

  @Post('datasources/:name/facts')
  @Operation('semantic.record')
  @Describe('Record what was found out about a datasource.', {
    body: factBody,
    answers: { 201: recordedFact },
    errors: ['datasource.not_found', ...codesBelow('semantics.'), 'pipeline.execution.datasource_unreachable'],
  })
  record(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    return this.semantics.record(caller, name, bodyObject(request), clientGone(response).signal);
  }

  @Post('semantics/:id/retire')
  @HttpCode(200)
  @Operation('semantic.retire')
  @Describe('Retire a fact that no longer holds.', {
    body: retirement,
    answers: { 200: fact },
    errors: ['semantics.not_found', 'semantics.fact_invalid', 'auth.role_required'],
  })
  retire(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<unknown> {
    return this.semantics.retire(caller, id, parseInput(retirement, request.body));
  }

  @Post('semantics/:id/verify')
  @HttpCode(200)
  @Operation('semantic.verify')
  @Describe('Vouch for a fact, for its tables as they are now.', {
    answers: { 200: fact },
    errors: [...codesBelow('semantics.'), 'auth.role_required', 'pipeline.execution.datasource_unreachable'],
  })
  verify(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    return this.semantics.verify(caller, id, clientGone(response).signal);
  }
}

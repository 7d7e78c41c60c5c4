import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import type { Principal } from '#libs/kernel';
import { InventoryService, keyFingerprint, PromotionReceiver, type Inventory, type PushReport } from '#libs/promotion';
import { Caller } from '../http/caller.decorator.js';
import { Describe } from '../http/describe.decorator.js';
import { bodyObject, parseInput, queryText } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf } from '../http/request-context.js';
import { codesBelow, DOCUMENT_REFUSALS, TEMPLATE_REFUSALS } from '../openapi/error-groups.js';
import { inventory, pushBody, pushReport } from '../openapi/shapes/promotion.js';

const address = z.strictObject({ workspace: z.string() });

/** Where another deployment promotes to this one; only `DP-Promotion-Key` opens it (05 §13). */
@Controller('/api/v1/promotion')
export class PromotionReceiverController {
  constructor(
    private readonly inventories: InventoryService,
    private readonly receiver: PromotionReceiver,
  ) {}

  @Get('inventory')
  @Operation('promotion.receive')
  @Describe('Read what a workspace has here, for a deployment that promotes to it.', {
    query: { workspace: z.string() },
    answers: { 200: inventory },
    errors: ['auth.promotion.key_invalid', 'workspace.not_found'],
  })
  inventory(@Caller() caller: Principal, @Req() request: Request): Promise<Inventory> {
    const { workspace } = parseInput(address, { workspace: queryText(request, 'workspace') });
    return this.inventories.read(caller, workspace);
  }

  @Post('push')
  @HttpCode(200)
  @Operation('promotion.receive')
  @Describe(
    'Take releases, templates and endpoints of another deployment, all or nothing; repeating it changes nothing.',
    {
      body: pushBody,
      answers: { 200: pushReport },
      errors: [
        'auth.promotion.key_invalid',
        'workspace.not_found',
        'pipeline.promotion.target_is_authoring',
        'pipeline.promotion.not_released',
        'endpoint.promotion.key_missing',
        ...DOCUMENT_REFUSALS,
        ...TEMPLATE_REFUSALS,
        ...codesBelow('pipeline.import.'),
        ...codesBelow('pipeline.version.'),
        ...codesBelow('template.version.'),
        'template.release.import_not_released',
        'pipeline.check.failed',
        'pipeline.execution.not_found',
        'endpoint.path_invalid',
        'endpoint.path_variable_unknown',
        'endpoint.path_conflict',
        'endpoint.pipeline_not_readonly',
      ],
    },
  )
  push(@Caller() caller: Principal, @Req() request: Request): Promise<PushReport> {
    // Whoever got here presented one: no other credential opens these paths.
    const presented = request.get('DP-Promotion-Key') ?? '';
    const facts = { keyFingerprint: keyFingerprint(presented), path: contextOf(request).path.path };
    return this.receiver.push(caller, bodyObject(request), facts);
  }
}

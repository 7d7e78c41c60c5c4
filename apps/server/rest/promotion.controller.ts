import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Principal } from '#libs/kernel';
import { PromotionSender, type PromotionReport, type PromotionView } from '#libs/promotion';
import { Caller } from '../http/caller.decorator.js';
import { clientGone } from '../http/client-gone.js';
import { Describe } from '../http/describe.decorator.js';
import { parseInput } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { promotionReport, promotionView } from '../openapi/shapes/promotion.js';

const choice = z.strictObject({ pipeline_ids: z.array(z.string()) });

/** Promoting to the deployment above this one: for a person in a session (05 §13). */
@Controller('/promotion')
export class PromotionController {
  constructor(private readonly sender: PromotionSender) {}

  @Get()
  @Operation('promotion.read')
  @Describe('List what has a newer release than the target, with what keeps each back.', {
    answers: { 200: promotionView },
    errors: [
      'pipeline.promotion.target_unreachable',
      'auth.promotion.key_invalid',
      'workspace.not_found',
      'datasource.validation.host_forbidden',
    ],
  })
  candidates(@Caller() caller: Principal, @Res({ passthrough: true }) response: Response): Promise<PromotionView> {
    return this.sender.candidates(caller, clientGone(response).signal);
  }

  /** Goes on when its caller is gone: what was begun is better finished than guessed at. */
  @Post('promote')
  @HttpCode(200)
  @Operation('promotion.promote')
  @Describe('Send current releases with everything they need to the target; repeating it changes nothing.', {
    body: choice,
    answers: { 200: promotionReport },
    errors: [
      'pipeline.execution.not_found',
      'pipeline.promotion.not_released',
      'pipeline.promotion.not_newer',
      'pipeline.promotion.missing_datasources',
      'pipeline.promotion.target_is_authoring',
      'endpoint.promotion.key_missing',
      'pipeline.check.failed',
      'pipeline.promotion.target_unreachable',
      'auth.promotion.key_invalid',
      'workspace.not_found',
      'datasource.validation.host_forbidden',
    ],
  })
  promote(@Caller() caller: Principal, @Req() request: Request): Promise<PromotionReport> {
    return this.sender.promote(caller, parseInput(choice, request.body).pipeline_ids);
  }
}

import { Context, Mutation, Query, Resolver } from '@nestjs/graphql';
import { PromotionSender, type PromotionView } from '#libs/promotion';
import type { OperationContext } from '../engine/operation-context.js';
import { Json } from '../scalars/json.scalar.js';
import { InputArg } from '../schema/input-arg.js';
import { RootField } from '../schema/root-field.js';
import { PromoteInput, PromotePayload } from './promotion.types.js';

@Resolver()
export class PromotionResolver {
  constructor(private readonly sender: PromotionSender) {}

  @Query(() => Json, {
    name: 'promotionCandidates',
    description: 'What has a newer release than the target of this deployment, with what keeps each back.',
  })
  @RootField('promotion.read')
  promotionCandidates(@Context() { principal, deadline }: OperationContext): Promise<PromotionView> {
    return this.sender.candidates(principal, deadline.signal);
  }

  @Mutation(() => PromotePayload, {
    description: 'Sends current releases to the target of this deployment; repeating it changes nothing.',
  })
  @RootField('promotion.promote')
  async promote(
    @Context() { principal, deadline }: OperationContext,
    @InputArg() { pipelineIds }: PromoteInput,
  ): Promise<PromotePayload> {
    const { target, ...report } = await this.sender.promote(principal, pipelineIds, deadline.signal);
    return {
      ...report,
      deployment: target.deployment,
      templates: [...report.templates],
      pipelines: [...report.pipelines],
      endpoints: [...report.endpoints],
    };
  }
}

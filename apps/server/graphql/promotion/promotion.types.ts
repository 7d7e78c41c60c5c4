import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';

@InputType({ description: 'What to send to the target of this deployment, with everything it needs.' })
export class PromoteInput {
  @Field(() => [ID], { description: 'Ids of pipelines; of each its current release is sent.' })
  pipelineIds!: string[];
}

@ObjectType('PromotedVersion', { description: 'A version that was sent.' })
export class PromotedVersionType {
  @Field(() => String, { description: 'Full name, the same on both sides.' })
  name!: string;

  @Field(() => Int, { description: 'Its number, the same on both sides.' })
  version!: number;

  @Field(() => Boolean, { description: 'False: the target had it already.' })
  imported!: boolean;
}

@ObjectType('PromotedPipeline', { description: 'A release of a pipeline that was sent.' })
export class PromotedPipelineType extends PromotedVersionType {
  @Field(() => Boolean, { description: 'Whether it became the current version of the target now.' })
  switched!: boolean;
}

@ObjectType('PromotedEndpoint', { description: 'A published endpoint that was sent, with the keys bound to it.' })
export class PromotedEndpointType {
  @Field(() => String, { description: 'The pattern, without `/api/x`.' })
  path!: string;

  @Field(() => String, { description: 'Full name of the pipeline behind it.' })
  pipeline!: string;

  @Field(() => Boolean, { description: 'False: the target had it as it is here.' })
  changed!: boolean;
}

@ObjectType({ description: 'What a promotion sent; all lists are empty where the target had everything.' })
export class PromotePayload {
  @Field(() => String, { description: 'Name of the workspace, the same on both sides.' })
  workspace!: string;

  @Field(() => String, { description: 'Label of the target.' })
  deployment!: string;

  @Field(() => [PromotedVersionType], { description: 'Templates, libraries first.' })
  templates!: PromotedVersionType[];

  @Field(() => [PromotedPipelineType], { description: 'Pipelines, children before those that call them.' })
  pipelines!: PromotedPipelineType[];

  @Field(() => [PromotedEndpointType], { description: 'Endpoints of the pipelines that were asked for.' })
  endpoints!: PromotedEndpointType[];

  @Field(() => Int, { description: 'How many entries the target had as they are here, so that they were not sent.' })
  skipped!: number;
}

import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import type { VersionStatus } from '#libs/lifecycle';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { DateTime } from '../scalars/text.scalars.js';
import { VersionStatusEnum } from '../schema/enums.js';

@ObjectType('ContentChange', { description: 'A version of what an editor has open, as somebody left it.' })
export class ContentChangeType {
  @Field(() => ID, { nullable: true, description: 'The pipeline that was watched; null for a template.' })
  pipelineId!: string | null;

  @Field(() => String, { nullable: true, description: 'The template that was watched; null for a pipeline.' })
  templateName!: string | null;

  @Field(() => Int, {
    description: 'The version that changed; when a draft was taken away, the one that is worked on instead.',
  })
  version!: number;

  @Field(() => VersionStatusEnum, { description: 'Where in its life the version is now.' })
  status!: VersionStatus;

  @Field(() => String, {
    description: 'The hash of its body now: another than the one an editor started from is the work of somebody else.',
  })
  bodyHash!: string;

  @Field(() => ActorType, {
    nullable: true,
    description: 'Who wrote, released or discarded it; null where the version keeps no record of who did it.',
  })
  updatedBy!: Lazy<ActorType | null>;

  @Field(() => DateTime, { description: 'When; where the version keeps no record of it, when it was noticed.' })
  updatedAt!: string;
}

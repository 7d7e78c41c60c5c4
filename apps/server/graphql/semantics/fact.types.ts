import { Field, Int, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { PipelineType } from '../pipelines/pipeline.types.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { FactKindEnum, FactScopeEnum, FactTrustEnum, WriteSurfaceEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';

/** What somebody found out about a datasource that its catalog does not say. Its text is somebody's words, not a rule. */
@ObjectType('LearnedFact', { implements: () => [NodeInterface] })
export class LearnedFactType extends NodeInterface {
  @Field(() => String)
  datasourceName!: string;

  @Field(() => FactScopeEnum)
  scope!: string;

  @Field(() => FactKindEnum)
  kind!: string;

  @Field(() => String)
  fact!: string;

  @Field(() => Json, { description: '[{schema, table, column}]' })
  refs!: unknown;

  @Field(() => String, { nullable: true })
  evidenceSql!: string | null;

  @Field(() => String, { nullable: true })
  evidenceSummary!: string | null;

  @Field(() => FactTrustEnum)
  trust!: string;

  @Field(() => String, { nullable: true, description: 'What a read of the catalog found changed since.' })
  drift!: string | null;

  @Field(() => Boolean, { description: 'Another fact says something else of the same kind about the same refs.' })
  conflict!: boolean;

  @Field(() => Boolean)
  fromThisWorkspace!: boolean;

  @Field(() => PipelineType, { nullable: true, description: 'Null also for a pipeline of another workspace.' })
  sourcePipeline!: Lazy<PipelineType | undefined>;

  @Field(() => Int, { nullable: true })
  sourceVersion!: number | null;

  @Field(() => ActorType)
  recordedBy!: Lazy<ActorType>;

  @Field(() => WriteSurfaceEnum)
  recordedVia!: string;

  @Field(() => DateTime)
  recordedAt!: string;

  @Field(() => ActorType, { nullable: true })
  verifiedBy!: Lazy<ActorType> | null;

  @Field(() => DateTime, { nullable: true })
  verifiedAt!: string | null;

  @Field(() => LearnedFactType, { nullable: true })
  supersedes!: Lazy<LearnedFactType | undefined>;

  @Field(() => DateTime, { nullable: true })
  retiredAt!: string | null;

  @Field(() => String, { nullable: true })
  retiredReason!: string | null;
}

export const LearnedFactConnection = connectionType('LearnedFact', () => LearnedFactType);

@ObjectType()
export class FactPayload {
  @Field(() => LearnedFactType)
  fact!: LearnedFactType;
}

@ObjectType()
export class RecordFactPayload extends FactPayload {
  @Field(() => Json, { description: 'Tables that the text names and the refs did not.' })
  refsAdded!: unknown;
}

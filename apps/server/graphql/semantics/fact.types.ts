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
@ObjectType('LearnedFact', {
  implements: () => [NodeInterface],
  description: 'What somebody found out about a datasource that its catalog does not say; words, not a rule.',
})
export class LearnedFactType extends NodeInterface {
  @Field(() => String, { description: 'Which datasource it is about.' })
  datasourceName!: string;

  @Field(() => FactScopeEnum, { description: 'Who sees it.' })
  scope!: string;

  @Field(() => FactKindEnum, { description: 'What sort of knowledge it is.' })
  kind!: string;

  @Field(() => String, { description: 'The finding, in the words of who recorded it.' })
  fact!: string;

  @Field(() => Json, {
    description: 'Tables and columns it is about, `[{schema, table, column}]`; empty only for WORKSPACE facts.',
  })
  refs!: unknown;

  @Field(() => String, {
    nullable: true,
    description: 'Reading statement that bears it out; null where none was given.',
  })
  evidenceSql!: string | null;

  @Field(() => String, { nullable: true, description: 'What that statement showed; null where nothing was said.' })
  evidenceSummary!: string | null;

  @Field(() => FactTrustEnum, { description: 'How far it can be relied on.' })
  trust!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What a read of the catalog found changed since it was recorded; null if nothing.',
  })
  drift!: string | null;

  @Field(() => Boolean, { description: 'Another fact says something else of the same kind about the same refs.' })
  conflict!: boolean;

  @Field(() => Boolean, { description: 'Whether it was recorded in the active workspace.' })
  fromThisWorkspace!: boolean;

  @Field(() => PipelineType, {
    nullable: true,
    description: "Pipeline it was learned from; null where none was named, or it is another workspace's.",
  })
  sourcePipeline!: Lazy<PipelineType | undefined>;

  @Field(() => Int, { nullable: true, description: "Number of that pipeline's version; null where none was named." })
  sourceVersion!: number | null;

  @Field(() => ActorType, { description: 'Who wrote it down.' })
  recordedBy!: Lazy<ActorType>;

  @Field(() => WriteSurfaceEnum, { description: 'The kind of credential it was recorded with.' })
  recordedVia!: string;

  @Field(() => DateTime, { description: 'When it was written down.' })
  recordedAt!: string;

  @Field(() => ActorType, { nullable: true, description: 'Who vouched for it; null until somebody did.' })
  verifiedBy!: Lazy<ActorType> | null;

  @Field(() => DateTime, { nullable: true, description: 'When somebody vouched for it; null until then.' })
  verifiedAt!: string | null;

  @Field(() => LearnedFactType, { nullable: true, description: 'The older fact it took the place of; null if none.' })
  supersedes!: Lazy<LearnedFactType | undefined>;

  @Field(() => DateTime, { nullable: true, description: 'When it was taken back; null while it stands.' })
  retiredAt!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it was taken back; null while it stands.' })
  retiredReason!: string | null;
}

export const LearnedFactConnection = connectionType('LearnedFact', () => LearnedFactType);

@ObjectType({ description: 'Answer of a change to a fact.' })
export class FactPayload {
  @Field(() => LearnedFactType, { description: 'As it is after the change.' })
  fact!: LearnedFactType;
}

@ObjectType({ description: 'Answer of recording a fact.' })
export class RecordFactPayload extends FactPayload {
  @Field(() => Json, { description: 'Tables that the text names and the given refs did not, `[{schema, table}]`.' })
  refsAdded!: unknown;
}

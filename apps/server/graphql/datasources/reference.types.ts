import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { PipelineType } from '../pipelines/pipeline.types.js';
import { VersionStatusEnum } from '../schema/enums.js';

/** A stored version of a pipeline that names a datasource: a node as source or target, or a check. */
@ObjectType('DatasourceReference')
export class DatasourceReferenceType {
  @Field(() => PipelineType)
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => ID, { nullable: true })
  nodeId!: string | null;

  @Field(() => ID, { nullable: true })
  checkId!: string | null;

  @Field(() => Int)
  pipelineVersion!: number;

  @Field(() => VersionStatusEnum)
  versionStatus!: string;
}

@ObjectType('ReferenceList')
export class ReferenceListType {
  @Field(() => [DatasourceReferenceType])
  references!: DatasourceReferenceType[];

  @Field(() => Int, { description: 'References in workspaces that the viewer does not see here.' })
  hiddenCount!: number;
}

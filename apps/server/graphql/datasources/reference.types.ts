import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { PipelineType } from '../pipelines/pipeline.types.js';
import { VersionStatusEnum } from '../schema/enums.js';

/** A stored version of a pipeline that names a datasource: a node as source or target, or a check. */
@ObjectType('DatasourceReference', {
  description: 'A stored version of a pipeline that names the datasource in a node or a check.',
})
export class DatasourceReferenceType {
  @Field(() => PipelineType, { description: 'Whose version it is.' })
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => ID, { nullable: true, description: 'The node that reads or writes; null where a check does.' })
  nodeId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The check that reads; null where a node does.' })
  checkId!: string | null;

  @Field(() => Int, { description: 'Number of the version that holds the reference.' })
  pipelineVersion!: number;

  @Field(() => VersionStatusEnum, { description: 'Whether that version is a draft, released or discarded.' })
  versionStatus!: string;
}

@ObjectType('ReferenceList', { description: 'Who would notice if the datasource went away.' })
export class ReferenceListType {
  @Field(() => [DatasourceReferenceType], { description: 'References in the active workspace.' })
  references!: DatasourceReferenceType[];

  @Field(() => Int, { description: 'References in workspaces that the viewer does not see here.' })
  hiddenCount!: number;
}

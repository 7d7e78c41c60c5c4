import { Field, ID, InputType, Int } from '@nestjs/graphql';
import { DateTime } from '../scalars/text.scalars.js';
import { FactKindEnum, FactScopeEnum } from '../schema/enums.js';

/** Of one datasource's facts. */
@InputType('DatasourceFactFilter')
export class DatasourceFactFilterInput {
  @Field(() => String, { nullable: true, description: 'A name, or schema.name.' })
  table?: string | null;

  @Field(() => FactScopeEnum, { nullable: true })
  scope?: string | null;

  @Field(() => Boolean, { nullable: true })
  includeRetired?: boolean | null;

  @Field(() => DateTime, { nullable: true, description: 'Recorded then or later.' })
  since?: string | null;
}

@InputType('LearnedFactFilter')
export class LearnedFactFilterInput extends DatasourceFactFilterInput {
  @Field(() => String, { nullable: true })
  datasource?: string | null;
}

@InputType()
export class FactRefInput {
  @Field(() => String, { nullable: true, description: 'Absent: the one the connection means.' })
  schema?: string | null;

  @Field(() => String)
  table!: string;

  @Field(() => String, { nullable: true })
  column?: string | null;
}

@InputType()
export class RecordFactInput {
  @Field(() => String)
  datasource!: string;

  @Field(() => FactScopeEnum)
  scope!: string;

  @Field(() => FactKindEnum)
  kind!: string;

  @Field(() => String)
  fact!: string;

  @Field(() => [FactRefInput], { nullable: true })
  refs?: FactRefInput[] | null;

  @Field(() => String, { nullable: true, description: 'One reading statement that bears the fact out.' })
  evidenceSql?: string | null;

  @Field(() => String, { nullable: true })
  evidenceSummary?: string | null;

  @Field(() => ID, { nullable: true })
  sourcePipelineId?: string | null;

  @Field(() => Int, { nullable: true })
  sourceVersion?: number | null;

  @Field(() => ID, { nullable: true, description: 'The fact that this one takes the place of.' })
  supersedes?: string | null;
}

@InputType()
export class RetireFactInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  reason!: string;
}

@InputType()
export class VerifyFactInput {
  @Field(() => ID)
  id!: string;
}

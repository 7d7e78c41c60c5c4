import { Field, ID, InputType, Int } from '@nestjs/graphql';
import { DateTime } from '../scalars/text.scalars.js';
import { FactKindEnum, FactScopeEnum } from '../schema/enums.js';

/** Of one datasource's facts. */
@InputType('DatasourceFactFilter', {
  description: 'Which facts of one datasource are wanted; what is left out does not narrow.',
})
export class DatasourceFactFilterInput {
  @Field(() => String, { nullable: true, description: 'Only facts about this table: a name, or `schema.name`.' })
  table?: string | null;

  @Field(() => FactScopeEnum, {
    nullable: true,
    description: "Only facts seen by everybody, or only the workspace's own.",
  })
  scope?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether facts that were taken back are listed too; default false.',
  })
  includeRetired?: boolean | null;

  @Field(() => DateTime, { nullable: true, description: 'Only facts recorded at this moment or later.' })
  since?: string | null;
}

@InputType('LearnedFactFilter', { description: 'Which facts are wanted; what is left out does not narrow.' })
export class LearnedFactFilterInput extends DatasourceFactFilterInput {
  @Field(() => String, { nullable: true, description: 'Only facts about the datasource of this name.' })
  datasource?: string | null;
}

@InputType({ description: 'A table, or a column of one, that a fact is about.' })
export class FactRefInput {
  @Field(() => String, {
    nullable: true,
    description: 'Its schema, with dots between levels; left out: the one the connection means.',
  })
  schema?: string | null;

  @Field(() => String, { description: 'Its name, as the catalog writes it.' })
  table!: string;

  @Field(() => String, { nullable: true, description: 'One of its columns; left out: the table as a whole.' })
  column?: string | null;
}

@InputType({ description: 'Something learned about a datasource, for whoever reads it next.' })
export class RecordFactInput {
  @Field(() => String, { description: 'Name of the datasource it is about.' })
  datasource!: string;

  @Field(() => FactScopeEnum, { description: 'Who is to see it; has to fit the kind.' })
  scope!: string;

  @Field(() => FactKindEnum, { description: 'What sort of knowledge it is.' })
  kind!: string;

  @Field(() => String, { description: 'The finding as a stranger needs it, 8 to 1000 characters.' })
  fact!: string;

  @Field(() => [FactRefInput], {
    nullable: true,
    description:
      'Up to 20 tables and columns it is about, at least one for DATASOURCE facts; those the text names are added.',
  })
  refs?: FactRefInput[] | null;

  @Field(() => String, { nullable: true, description: 'One reading statement that bears the fact out.' })
  evidenceSql?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What that statement showed, at most 300 characters; default: made of its first rows.',
  })
  evidenceSummary?: string | null;

  @Field(() => ID, { nullable: true, description: 'Pipeline it was learned from.' })
  sourcePipelineId?: string | null;

  @Field(() => Int, { nullable: true, description: "Number of that pipeline's version." })
  sourceVersion?: number | null;

  @Field(() => ID, { nullable: true, description: 'The fact that this one takes the place of.' })
  supersedes?: string | null;
}

@InputType({ description: 'The fact to take back; it stays readable with `includeRetired`.' })
export class RetireFactInput {
  @Field(() => ID, { description: 'A fact that still stands.' })
  id!: string;

  @Field(() => String, { description: 'Why it no longer holds, for those who relied on it, at most 500 characters.' })
  reason!: string;
}

@InputType({ description: 'The fact to vouch for.' })
export class VerifyFactInput {
  @Field(() => ID, { description: 'A fact that a person has found to be true.' })
  id!: string;
}

import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { CheckRef, CheckRunView } from '#libs/checks';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { Long } from '../scalars/long.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { CheckVerdictEnum, CheckViaEnum } from '../schema/enums.js';

@InputType({ description: 'The version whose checks are run now.' })
export class RunPipelineChecksInput {
  @Field(() => ID, { description: 'The pipeline that declares the checks.' })
  id!: string;

  @Field(() => Int, { nullable: true, description: 'Number of the version; default: the working one.' })
  version?: number | null;

  @Field(() => JsonText, {
    nullable: true,
    description: 'Object of parameter values the checks read with; default: none given.',
  })
  parametersJson?: string | null;
}

@ObjectType('CheckRun', { description: 'One verdict on one check.' })
export class CheckRunType {
  @Field(() => ID, { description: 'UUID of this run in the history.' })
  id!: string;

  @Field(() => ID, { description: "The check's id in the document." })
  checkId!: string;

  @Field(() => Int, { description: 'Number of the version that declared it.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the database was asked.' })
  ranAt!: string;

  @Field(() => ActorType, { nullable: true, description: 'Who asked for it; null where the account is gone.' })
  ranBy!: Lazy<ActorType | null>;

  @Field(() => CheckViaEnum, { description: 'What it was run for, or through which door.' })
  via!: CheckRunView['via'];

  @Field(() => Json, { description: 'Object of the values it read with.' })
  parameters!: unknown;

  @Field(() => Json, {
    nullable: true,
    description: '`{"value": "…"}` or `{"rows": n}`; null where nothing could be observed.',
  })
  observed?: unknown;

  @Field(() => CheckVerdictEnum, { description: 'Whether what was observed is what was expected.' })
  verdict!: CheckRunView['verdict'];

  @Field(() => String, { nullable: true, description: 'What was wrong, for people; null after a pass.' })
  message!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the request, to be found in the logs; null where there was none.',
  })
  correlationId!: string | null;

  @Field(() => Long, { nullable: true, description: 'How long it took, in milliseconds; null where it never ran.' })
  durationMs!: number | null;
}

export const CheckRunConnection = connectionType('CheckRun', () => CheckRunType);

/** A check that a version declares. */
@ObjectType('Check', { description: 'An expectation about data that a version declares and a release has to meet.' })
export class CheckType {
  /** Not a field: whose runs are asked for. */
  ref!: CheckRef;

  @Field(() => ID, { description: 'Its id in the document, the same across versions.' })
  checkId!: string;

  @Field(() => String, { description: 'What is expected, in a few words.' })
  name!: string;

  @Field(() => Json, { description: 'The comparison that is made, as the document has it.' })
  expected!: unknown;

  @Field(() => CheckRunType, { nullable: true, description: 'Newest verdict on this version; null before the first.' })
  latestRun!: Lazy<CheckRunType | null>;
}

@ObjectType({ description: 'What the checks found.' })
export class PipelineChecksPayload {
  @Field(() => Int, { description: 'Number of the version that was checked.' })
  version!: number;

  @Field(() => [CheckRunType], { description: 'One verdict per declared check, in the order of the document.' })
  runs!: CheckRunType[];
}

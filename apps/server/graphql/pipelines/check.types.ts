import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { CheckRef, CheckRunView } from '#libs/checks';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { CheckVerdictEnum, CheckViaEnum } from '../schema/enums.js';

@InputType()
export class RunPipelineChecksInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Int, { nullable: true, description: 'Default: the working version.' })
  version?: number | null;

  @Field(() => JsonText, { nullable: true, description: 'An object of parameter values.' })
  parametersJson?: string | null;
}

@ObjectType('CheckRun')
export class CheckRunType {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  checkId!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => DateTime)
  ranAt!: string;

  @Field(() => ActorType, { nullable: true })
  ranBy!: Lazy<ActorType | null>;

  @Field(() => CheckViaEnum)
  via!: CheckRunView['via'];

  @Field(() => Json)
  parameters!: unknown;

  @Field(() => Json, { nullable: true })
  observed?: unknown;

  @Field(() => CheckVerdictEnum)
  verdict!: CheckRunView['verdict'];

  @Field(() => String, { nullable: true })
  message!: string | null;

  @Field(() => String, { nullable: true })
  correlationId!: string | null;

  @Field(() => Int, { nullable: true })
  durationMs!: number | null;
}

export const CheckRunConnection = connectionType('CheckRun', () => CheckRunType);

/** A check that a version declares. */
@ObjectType('Check')
export class CheckType {
  /** Not a field: whose runs are asked for. */
  ref!: CheckRef;

  @Field(() => String)
  checkId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Json)
  expected!: unknown;

  @Field(() => CheckRunType, { nullable: true })
  latestRun!: Lazy<CheckRunType | null>;
}

@ObjectType()
export class PipelineChecksPayload {
  @Field(() => Int)
  version!: number;

  @Field(() => [CheckRunType])
  runs!: CheckRunType[];
}

import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { CheckRunView } from '#libs/checks';
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

@ObjectType()
export class PipelineChecksPayload {
  @Field(() => Int)
  version!: number;

  @Field(() => [CheckRunType])
  runs!: CheckRunType[];
}

export function checkRunType(run: CheckRunView): CheckRunType {
  const { id, version, via, parameters, observed, verdict, message } = run;
  return {
    ...{ id, version, via, parameters, observed, verdict, message },
    checkId: run.check_id,
    ranAt: run.ran_at,
    correlationId: run.correlation_id,
    durationMs: run.duration_ms,
  };
}

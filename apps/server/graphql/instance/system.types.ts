import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import { DateTime } from '../scalars/text.scalars.js';
import { Long } from '../scalars/long.scalar.js';

@ObjectType('SystemJob', { description: 'A periodic job of one server, and how it last went there.' })
export class SystemJobType {
  @Field(() => String)
  name!: string;

  @Field(() => DateTime)
  lastRunAt!: string;

  @Field(() => String, { description: 'SUCCESS or FAILED.' })
  outcome!: string;
}

@ObjectType('SystemInstance', { description: 'A server of this deployment, as it last told.' })
export class SystemInstanceType {
  @Field(() => ID)
  id!: string;

  @Field(() => DateTime)
  startedAt!: string;

  @Field(() => Long, { description: 'Since it last told; more than a few heartbeats means trouble.' })
  heartbeatAgeMs!: number;

  @Field(() => Int)
  runsInFlight!: number;

  @Field(() => [SystemJobType])
  jobs!: readonly SystemJobType[];
}

/** The deployment at work (contract 10 §1). */
@ObjectType('System')
export class SystemType {
  @Field(() => [SystemInstanceType], { description: 'Longest running first.' })
  instances!: readonly SystemInstanceType[];

  @Field(() => Int, { description: 'On all of them.' })
  runsInFlight!: number;
}

import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import { DateTime } from '../scalars/text.scalars.js';
import { Long } from '../scalars/long.scalar.js';

@ObjectType('SystemJob', { description: 'A periodic job of one server, and how it last went there.' })
export class SystemJobType {
  @Field(() => String, { description: 'What the job is called in the logs.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it last ended there.' })
  lastRunAt!: string;

  @Field(() => String, { description: 'How it last ended: SUCCESS or FAILED.' })
  outcome!: string;
}

@ObjectType('SystemInstance', { description: 'A server of this deployment, as it last told.' })
export class SystemInstanceType {
  @Field(() => ID, { description: 'Made up at the start of the process; a restart gives another.' })
  id!: string;

  @Field(() => DateTime, { description: 'When the process came up.' })
  startedAt!: string;

  @Field(() => Long, { description: 'Milliseconds since it last told; more than a few heartbeats means trouble.' })
  heartbeatAgeMs!: number;

  @Field(() => Int, { description: 'Runs it is carrying at the moment.' })
  runsInFlight!: number;

  @Field(() => [SystemJobType], { description: 'Its periodic jobs that have run at least once.' })
  jobs!: readonly SystemJobType[];
}

/** The deployment at work (contract 10 §1). */
@ObjectType('System', { description: 'The servers of this deployment at work.' })
export class SystemType {
  @Field(() => [SystemInstanceType], { description: 'Every server that told lately, longest running first.' })
  instances!: readonly SystemInstanceType[];

  @Field(() => Int, { description: 'Runs on all servers together.' })
  runsInFlight!: number;
}

import { Field, ID, InputType, Int } from '@nestjs/graphql';
import type { ExecutionStatus, ExecutionTrigger } from '#libs/executions';
import { JsonText } from '../scalars/json-text.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import {
  ExecutionOrderFieldEnum,
  ExecutionStatusEnum,
  ExecutionTriggerEnum,
  OrderDirectionEnum,
} from '../schema/enums.js';
import type { OrderDirection } from '../schema/order.js';

@InputType('ExecutionFilter', { description: 'Which runs are wanted; what is left out does not narrow.' })
export class ExecutionFilterInput {
  @Field(() => ID, { nullable: true, description: 'Only runs of this pipeline.' })
  pipelineId?: string | null;

  @Field(() => ExecutionStatusEnum, { nullable: true, description: 'Only runs that got this far.' })
  status?: ExecutionStatus | null;

  @Field(() => DateTime, { nullable: true, description: 'Only runs that began at this moment or later.' })
  startedAfter?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Only runs that began before this moment.' })
  startedBefore?: string | null;

  @Field(() => ExecutionTriggerEnum, { nullable: true, description: 'Only runs started through this door.' })
  triggeredVia?: ExecutionTrigger | null;

  @Field(() => ID, { nullable: true, description: 'Only runs of the tree below this one.' })
  rootExecutionId?: string | null;
}

@InputType('ExecutionOrder', { description: 'How a list of runs is ordered; default: newest first.' })
export class ExecutionOrderInput {
  @Field(() => ExecutionOrderFieldEnum, { description: 'What is compared.' })
  field!: 'started_at';

  @Field(() => OrderDirectionEnum, { description: 'Whether the oldest or the newest come first.' })
  direction!: OrderDirection;
}

@InputType({ description: 'A run to start; nobody has to stay and watch it.' })
export class ExecutePipelineInput {
  @Field(() => ID, { description: 'The pipeline to run.' })
  id!: string;

  @Field(() => Int, { nullable: true, description: 'Number of the version to run; default: the working version.' })
  version?: number | null;

  @Field(() => JsonText, {
    nullable: true,
    description: 'Object of parameter values, numbers as exact as they are spelled; default: none given.',
  })
  parametersJson?: string | null;

  @Field(() => String, {
    nullable: true,
    description: '1 to 255 characters; repeating the request with the same key gives the run of the first time.',
  })
  idempotencyKey?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'How long the rows are kept, in seconds; default: that of the deployment.',
  })
  resultTtlSeconds?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Rows of the first page that the events carry; default: that of the deployment.',
  })
  resultPageRows?: number | null;
}

@InputType({ description: 'The run to end.' })
export class CancelExecutionInput {
  @Field(() => ID, { description: 'A run that is still going on.' })
  id!: string;
}

import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { ExecutionStatus, ExecutionTrigger } from '#libs/executions';
import type { ServedFact } from '#libs/semantics';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { PipelineType, PipelineVersionType } from '../pipelines/pipeline.types.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { Long } from '../scalars/long.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import {
  ExecutionOrderFieldEnum,
  ExecutionStatusEnum,
  ExecutionTriggerEnum,
  LogicalTypeEnum,
  NodeStatusEnum,
  OrderDirectionEnum,
} from '../schema/enums.js';
import type { OrderDirection } from '../schema/order.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('Column')
export class ColumnType {
  @Field(() => String)
  name!: string;

  @Field(() => LogicalTypeEnum)
  type!: string;

  @Field(() => Int, { nullable: true })
  precision?: number | null;

  @Field(() => Int, { nullable: true })
  scale?: number | null;

  @Field(() => Boolean, { nullable: true })
  nullable?: boolean | null;

  @Field(() => String, { nullable: true })
  sourceType?: string | null;

  @Field(() => String, { nullable: true })
  remarks?: string | null;

  @Field(() => Int, { nullable: true })
  primaryKey?: number | null;

  @Field(() => Json, { nullable: true })
  references?: unknown;

  /** Facts beside a column of a live catalog. */
  learned?: readonly ServedFact[];
}

@ObjectType('ResultPage')
export class ResultPageType {
  @Field(() => [ColumnType])
  schema!: ColumnType[];

  @Field(() => Json, { description: 'Rows as arrays of wire values.' })
  rows!: unknown;

  @Field(() => Int)
  rowCount!: number;

  @Field(() => Long)
  offset!: number;

  @Field(() => Int)
  limit!: number;

  @Field(() => Long)
  totalRows!: number;

  @Field(() => Boolean)
  hasMore!: boolean;

  @Field(() => DateTime, { nullable: true })
  expiresAt!: string | null;
}

@ObjectType('ExecutionError')
export class ExecutionErrorType {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String)
  userMessage!: string;

  @Field(() => Json)
  details!: unknown;

  @Field(() => String)
  docUrl!: string;

  @Field(() => Json, { nullable: true })
  node!: unknown;

  @Field(() => String, { nullable: true })
  sql!: string | null;

  @Field(() => Json, { nullable: true })
  exception!: unknown;
}

@ObjectType('NodeStat')
export class NodeStatType {
  @Field(() => String)
  nodeId!: string;

  @Field(() => NodeStatusEnum)
  status!: string;

  @Field(() => DateTime, { nullable: true })
  startedAt!: string | null;

  @Field(() => DateTime, { nullable: true })
  completedAt!: string | null;

  @Field(() => Long, { nullable: true })
  durationMs!: number | null;

  @Field(() => Long, { nullable: true, description: 'Null: not measured.' })
  rowsOut!: number | null;

  @Field(() => Long, { nullable: true })
  bytesOut!: number | null;

  @Field(() => String, { nullable: true })
  errorCode!: string | null;

  @Field(() => String, { nullable: true })
  errorMessage!: string | null;

  @Field(() => ID, { nullable: true })
  childExecutionId!: string | null;
}

@ObjectType('ExecutionEvent', { implements: () => [NodeInterface] })
export class ExecutionEventType extends NodeInterface {
  @Field(() => Int)
  eventId!: number;

  @Field(() => String)
  type!: string;

  @Field(() => DateTime)
  timestamp!: string;

  @Field(() => Json)
  payload!: unknown;
}

@ObjectType('Execution', { implements: () => [NodeInterface] })
export class ExecutionType extends NodeInterface {
  @Field(() => PipelineType)
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => Int)
  pipelineVersion!: number;

  @Field(() => PipelineVersionType, { nullable: true })
  version!: Lazy<PipelineVersionType | undefined>;

  @Field(() => ExecutionStatusEnum)
  status!: ExecutionStatus;

  @Field(() => Boolean)
  isDraftRun!: boolean;

  @Field(() => JsonText)
  parametersJson!: string;

  @Field(() => ActorType)
  triggeredBy!: Lazy<ActorType>;

  @Field(() => ExecutionTriggerEnum)
  triggeredVia!: ExecutionTrigger;

  @Field(() => String, { nullable: true })
  correlationId!: string | null;

  @Field(() => DateTime)
  startedAt!: string;

  @Field(() => DateTime, { nullable: true })
  completedAt!: string | null;

  @Field(() => Long, { nullable: true })
  durationMs!: number | null;

  @Field(() => ID, { nullable: true })
  failedNodeId!: string | null;

  @Field(() => ExecutionErrorType, { nullable: true })
  error!: ExecutionErrorType | null;

  @Field(() => [NodeStatType], { nullable: true })
  nodeStats!: NodeStatType[] | null;

  @Field(() => Long, { nullable: true })
  resultRowCount!: number | null;

  @Field(() => Long, { nullable: true })
  resultSizeBytes!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'While the result lives.' })
  resultExpiresAt!: Lazy<string | null>;

  @Field(() => ExecutionType, { nullable: true })
  parent!: Lazy<ExecutionType | undefined>;

  @Field(() => ID, { nullable: true })
  parentNodeId!: string | null;

  @Field(() => ExecutionType)
  root!: Lazy<ExecutionType | undefined>;
}

export const ExecutionConnection = connectionType('Execution', () => ExecutionType);
export const ExecutionEventConnection = connectionType('ExecutionEvent', () => ExecutionEventType);

@InputType('ExecutionFilter')
export class ExecutionFilterInput {
  @Field(() => ID, { nullable: true })
  pipelineId?: string | null;

  @Field(() => ExecutionStatusEnum, { nullable: true })
  status?: ExecutionStatus | null;

  @Field(() => DateTime, { nullable: true })
  startedAfter?: string | null;

  @Field(() => DateTime, { nullable: true })
  startedBefore?: string | null;

  @Field(() => ExecutionTriggerEnum, { nullable: true })
  triggeredVia?: ExecutionTrigger | null;

  @Field(() => ID, { nullable: true })
  rootExecutionId?: string | null;
}

@InputType('ExecutionOrder')
export class ExecutionOrderInput {
  @Field(() => ExecutionOrderFieldEnum)
  field!: 'started_at';

  @Field(() => OrderDirectionEnum)
  direction!: OrderDirection;
}

@InputType()
export class ExecutePipelineInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Int, { nullable: true, description: 'Default: the working version.' })
  version?: number | null;

  @Field(() => JsonText, { nullable: true })
  parametersJson?: string | null;

  @Field(() => String, { nullable: true })
  idempotencyKey?: string | null;

  @Field(() => Int, { nullable: true })
  resultTtlSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  resultPageRows?: number | null;
}

@InputType()
export class CancelExecutionInput {
  @Field(() => ID)
  id!: string;
}

@ObjectType()
export class ExecutionPayload {
  @Field(() => ExecutionType)
  execution!: ExecutionType | undefined;
}

import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
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
import { ExecutionStatusEnum, ExecutionTriggerEnum, LogicalTypeEnum, NodeStatusEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('Column', { description: 'A column of a result or of a live table.' })
export class ColumnType {
  @Field(() => String, { description: 'As it stands in the statement or the catalog.' })
  name!: string;

  @Field(() => LogicalTypeEnum, { description: 'The type its values have in Penstock, whatever the engine calls it.' })
  type!: string;

  @Field(() => Int, { nullable: true, description: 'Digits of a decimal; null for other types.' })
  precision?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Digits behind the point; for times, of the fraction; null where there are none.',
  })
  scale?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether NULL may occur; null where the engine does not tell.' })
  nullable?: boolean | null;

  @Field(() => String, { nullable: true, description: 'What the database calls the type; null for a computed column.' })
  sourceType?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The comment stored in the database; null without one, and in results.',
  })
  remarks?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Place in the primary key, from 1; null outside of it, and in results.',
  })
  primaryKey?: number | null;

  @Field(() => Json, {
    nullable: true,
    description: 'Target of a foreign key, `{schema, table, column}`; null without one, and in results.',
  })
  references?: unknown;

  /** Facts beside a column of a live catalog. */
  learned?: readonly ServedFact[];
}

@ObjectType('ResultPage', { description: 'A slice of the rows that a run delivered.' })
export class ResultPageType {
  @Field(() => [ColumnType], { description: 'The columns, in the order of the cells.' })
  schema!: ColumnType[];

  @Field(() => Json, { description: 'Arrays of cells in column order; exact numbers, NULL is null.' })
  rows!: unknown;

  @Field(() => Int, { description: 'How many rows are in `rows`.' })
  rowCount!: number;

  @Field(() => Long, { description: 'How many rows were skipped.' })
  offset!: number;

  @Field(() => Int, { description: 'The most rows this page could hold, after clamping.' })
  limit!: number;

  @Field(() => Long, { description: 'How many rows the whole result has.' })
  totalRows!: number;

  @Field(() => Boolean, { description: 'Whether rows follow this page.' })
  hasMore!: boolean;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the rows are thrown away, fixed when they were written; null where no node delivers any.',
  })
  expiresAt!: string | null;
}

@ObjectType('ExecutionError', { description: 'Why a run failed or was aborted.' })
export class ExecutionErrorType {
  @Field(() => String, { description: 'Stable dotted name from the error catalogue, for programs.' })
  code!: string;

  @Field(() => String, { description: 'What went wrong, in the words an author needs.' })
  message!: string;

  @Field(() => String, { description: 'The same for somebody who did not write the pipeline.' })
  userMessage!: string;

  @Field(() => Json, { description: 'Values behind the message, an object whose members depend on `code`.' })
  details!: unknown;

  @Field(() => String, { description: 'Page that explains the code and the remedy.' })
  docUrl!: string;

  @Field(() => Json, {
    nullable: true,
    description: 'The node that failed, an object with its id and type; null where none is to blame.',
  })
  node!: unknown;

  @Field(() => String, {
    nullable: true,
    description: 'The statement that failed, with placeholders for its values; null where none ran.',
  })
  sql!: string | null;

  @Field(() => Json, {
    nullable: true,
    description: 'What the driver reported, without secrets; null where no driver did.',
  })
  exception!: unknown;
}

@ObjectType('NodeStat', { description: 'What one node of a run did.' })
export class NodeStatType {
  @Field(() => ID, { description: "The node's id in the document of the version that ran." })
  nodeId!: string;

  @Field(() => NodeStatusEnum, { description: 'How far the node got.' })
  status!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the node began; null if it never did.' })
  startedAt!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the node ended; null while it runs or if it never began.',
  })
  completedAt!: string | null;

  @Field(() => Long, { nullable: true, description: 'Milliseconds from begin to end; null until it ended.' })
  durationMs!: number | null;

  @Field(() => Long, { nullable: true, description: 'Rows it gave to the nodes behind it; null: not measured.' })
  rowsOut!: number | null;

  @Field(() => Long, { nullable: true, description: 'Size of those rows in bytes; null: not measured.' })
  bytesOut!: number | null;

  @Field(() => String, { nullable: true, description: 'Stable dotted name of why it failed; null if it did not.' })
  errorCode!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it failed, for people; null if it did not.' })
  errorMessage!: string | null;

  @Field(() => ID, { nullable: true, description: 'The run that a PIPELINE node started; null for other types.' })
  childExecutionId!: string | null;
}

@ObjectType('ExecutionEvent', {
  implements: () => [NodeInterface],
  description: 'Something that happened during a run, as its event stream tells it.',
})
export class ExecutionEventType extends NodeInterface {
  @Field(() => Int, { description: 'Counts from 1 within the run; give the last one as `afterEventId` to go on.' })
  eventId!: number;

  @Field(() => String, { description: 'Name of the event, such as `node_completed`.' })
  type!: string;

  @Field(() => DateTime, { description: 'When it happened.' })
  timestamp!: string;

  @Field(() => Json, { description: "The event's data, an object whose members depend on `type`." })
  payload!: unknown;
}

@ObjectType('Execution', { implements: () => [NodeInterface], description: 'One run of one version of a pipeline.' })
export class ExecutionType extends NodeInterface {
  @Field(() => PipelineType, { description: 'Which pipeline ran.' })
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => Int, { description: 'Number of the version that ran.' })
  pipelineVersion!: number;

  @Field(() => PipelineVersionType, {
    nullable: true,
    description: 'The version that ran; null where it cannot be read any more.',
  })
  version!: Lazy<PipelineVersionType | undefined>;

  @Field(() => ExecutionStatusEnum, { description: 'How far the run got.' })
  status!: ExecutionStatus;

  @Field(() => Boolean, { description: 'Whether the version was a draft when it ran.' })
  isDraftRun!: boolean;

  @Field(() => JsonText, { description: 'Object of the values it ran with, defaults included, as they were spelled.' })
  parametersJson!: string;

  @Field(() => ActorType, { description: 'On whose behalf it ran.' })
  triggeredBy!: Lazy<ActorType>;

  @Field(() => ExecutionTriggerEnum, { description: 'Through which door it was started.' })
  triggeredVia!: ExecutionTrigger;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the request at the root of the tree, to be found in the logs; null where there was none.',
  })
  correlationId!: string | null;

  @Field(() => DateTime, { description: 'When the run was accepted.' })
  startedAt!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the run ended; null while it goes on.' })
  completedAt!: string | null;

  @Field(() => Long, { nullable: true, description: 'Milliseconds from start to end; null while it goes on.' })
  durationMs!: number | null;

  @Field(() => ID, { nullable: true, description: 'The first node that failed; null where none did.' })
  failedNodeId!: string | null;

  @Field(() => ExecutionErrorType, {
    nullable: true,
    description: 'Why it failed or was aborted; null while it goes on and after success.',
  })
  error!: ExecutionErrorType | null;

  @Field(() => [NodeStatType], { nullable: true, description: 'What each node did; null until the first one began.' })
  nodeStats!: NodeStatType[] | null;

  @Field(() => Long, { nullable: true, description: 'Rows delivered to the caller; null without a result.' })
  resultRowCount!: number | null;

  @Field(() => Long, { nullable: true, description: 'Stored size of those rows in bytes; null without a result.' })
  resultSizeBytes!: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the rows are thrown away; null without a result, and once they are gone.',
  })
  resultExpiresAt!: Lazy<string | null>;

  @Field(() => ExecutionType, {
    nullable: true,
    description: 'The run whose PIPELINE node started this one; null for a run somebody asked for.',
  })
  parent!: Lazy<ExecutionType | undefined>;

  @Field(() => ID, {
    nullable: true,
    description: 'The node of the parent that started this one; null without a parent.',
  })
  parentNodeId!: string | null;

  @Field(() => ExecutionType, {
    description: 'The run that somebody asked for, at the top of its tree; itself without a parent.',
  })
  root!: Lazy<ExecutionType | undefined>;
}

export const ExecutionConnection = connectionType('Execution', () => ExecutionType);
export const ExecutionEventConnection = connectionType('ExecutionEvent', () => ExecutionEventType);

@ObjectType({ description: 'Answer of starting or cancelling a run.' })
export class ExecutionPayload {
  @Field(() => ExecutionType, { description: 'The run as it stands; it goes on after this answer.' })
  execution!: ExecutionType | undefined;
}

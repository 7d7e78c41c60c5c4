import { Field, Int, ObjectType } from '@nestjs/graphql';
import { ColumnType } from '../executions/execution.types.js';
import { Json } from '../scalars/json.scalar.js';
import { Long } from '../scalars/long.scalar.js';

/** Rows read from a live datasource, once. */
@ObjectType('Probe')
export class ProbeType {
  @Field(() => [ColumnType])
  schema!: ColumnType[];

  @Field(() => Json, { description: 'Rows as arrays of wire values.' })
  rows!: unknown;

  @Field(() => Int)
  rowCount!: number;

  @Field(() => Boolean, { description: 'There were more rows than were asked for, or than fit.' })
  truncated!: boolean;

  @Field(() => Long, { nullable: true, description: 'Of a statement: from the wait for a connection to the last row.' })
  wallMs!: number | null;

  @Field(() => Json, { nullable: true, description: 'Of a statement: what the engine says it would do.' })
  plan!: unknown;
}

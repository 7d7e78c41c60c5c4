import { Field, Int, ObjectType } from '@nestjs/graphql';
import { ColumnType } from '../executions/execution.types.js';
import { Json } from '../scalars/json.scalar.js';
import { Long } from '../scalars/long.scalar.js';

/** Rows read from a live datasource, once. */
@ObjectType('Probe', { description: 'Rows read from a live datasource, once and not stored.' })
export class ProbeType {
  @Field(() => [ColumnType], { description: 'The columns, in the order of the cells.' })
  schema!: ColumnType[];

  @Field(() => Json, { description: 'Arrays of cells in column order; exact numbers, NULL is null.' })
  rows!: unknown;

  @Field(() => Int, { description: 'How many rows are in `rows`.' })
  rowCount!: number;

  @Field(() => Boolean, { description: 'There were more rows than were asked for, or than fit.' })
  truncated!: boolean;

  @Field(() => Long, {
    nullable: true,
    description: 'Milliseconds from the wait for a connection to the last row; null for a preview.',
  })
  wallMs!: number | null;

  @Field(() => Json, {
    nullable: true,
    description: 'What the engine says it would do with the statement; null for a preview.',
  })
  plan!: unknown;
}

import { Field, ID, ObjectType } from '@nestjs/graphql';
import { Json } from '../scalars/json.scalar.js';

/** What a purge answers. */
@ObjectType()
export class DeletedPayload {
  @Field(() => ID)
  deletedId!: string;
}

@ObjectType('Warning')
export class WarningType {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => Json, { nullable: true })
  details!: unknown;
}

@ObjectType('Failure')
export class FailureType {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  path!: string;

  @Field(() => String)
  message!: string;

  @Field(() => Json, { nullable: true })
  details!: unknown;
}

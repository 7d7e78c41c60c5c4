import { Field, ID, ObjectType } from '@nestjs/graphql';
import { Json } from '../scalars/json.scalar.js';

/** What a purge answers. */
@ObjectType({ description: 'Answer of a mutation after which something is gone.' })
export class DeletedPayload {
  @Field(() => ID, {
    description: 'What is gone, by the id or name it was asked for with, so that a cache can forget it.',
  })
  deletedId!: string;
}

@ObjectType('Warning', { description: 'What was stored but may not be meant.' })
export class WarningType {
  @Field(() => String, { description: 'Stable dotted name from the error catalogue, for programs.' })
  code!: string;

  @Field(() => String, { description: 'What is doubtful and how to put it right, for people.' })
  message!: string;

  @Field(() => Json, {
    nullable: true,
    description: 'Where it was found, such as `{"path": "nodes[0].source"}`; null where the message says all.',
  })
  details!: unknown;
}

@ObjectType('Failure', { description: 'A reason why a save would be refused.' })
export class FailureType {
  @Field(() => String, { description: 'Stable dotted name from the error catalogue, for programs.' })
  code!: string;

  @Field(() => String, { description: 'Place in the document, such as `nodes[0].template`.' })
  path!: string;

  @Field(() => String, { description: 'What is wrong and how to put it right, for people.' })
  message!: string;

  @Field(() => Json, {
    nullable: true,
    description: 'Values behind the message, such as what is allowed; null where there are none.',
  })
  details!: unknown;
}

import { Field, ID, InterfaceType } from '@nestjs/graphql';

/** Everything with an `id`. */
@InterfaceType('Node')
export abstract class NodeInterface {
  @Field(() => ID)
  id!: string;
}

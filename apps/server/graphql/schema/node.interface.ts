import { Field, ID, InterfaceType } from '@nestjs/graphql';

/** Everything with an `id`. */
@InterfaceType('Node', {
  description: 'Whatever can be told from its like by an id; a client may cache by type and id.',
})
export abstract class NodeInterface {
  @Field(() => ID, {
    description: 'What tells it from others of its type: a UUID, or the name where names are never changed.',
  })
  id!: string;
}

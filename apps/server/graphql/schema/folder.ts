import { Field, Int, ObjectType } from '@nestjs/graphql';

/** A folder of a tree; `count` is what its whole subtree holds. */
@ObjectType('Folder', { description: 'A level of the tree of names: everything whose name begins with the path.' })
export class FolderType {
  @Field(() => String, {
    description: 'The whole path, such as `fleet/daily`; give it as `prefix` to open the folder.',
  })
  path!: string;

  @Field(() => String, { description: 'The last part of the path, to be shown in a tree.' })
  segment!: string;

  @Field(() => Int, { description: 'How many objects the whole subtree holds, not only this level.' })
  count!: number;
}

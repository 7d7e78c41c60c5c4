import { Field, Int, ObjectType } from '@nestjs/graphql';

/** A folder of a tree; `count` is what its whole subtree holds. */
@ObjectType('Folder')
export class FolderType {
  @Field(() => String)
  path!: string;

  @Field(() => String)
  segment!: string;

  @Field(() => Int)
  count!: number;
}

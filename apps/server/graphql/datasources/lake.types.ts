import { Field, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { LakeFormat } from '#libs/lake';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { LakeFormatEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';

/** A table of a lake datasource: its files, and since when they cannot be read. */
@ObjectType('LakeTable', {
  implements: () => [NodeInterface],
  description: 'A table of a lake datasource: files in a bucket or folder, read in place.',
})
export class LakeTableType extends NodeInterface {
  @Field(() => [String], { description: 'Where in the catalog it hangs, outermost segment first.' })
  namespace!: readonly string[];

  @Field(() => String, { description: 'How SQL calls it within its namespace.' })
  name!: string;

  @Field(() => LakeFormatEnum, { description: 'How its files are laid out.' })
  format!: LakeFormat;

  @Field(() => String, { description: 'Where its files are: `s3://bucket/…` or `file:///…`.' })
  location!: string;

  @Field(() => String, { nullable: true, description: 'Column by which the files are split; null where they are not.' })
  partitionColumn!: string | null;

  @Field(() => ActorType, { description: 'Who put it into the catalog.' })
  registeredBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'When it was put into the catalog.' })
  registeredAt!: string;

  @Field(() => String, { nullable: true, description: 'Why its view could not be made; null: healthy.' })
  lastError!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it has been broken.' })
  lastErrorAt!: string | null;
}

@InputType({ description: 'A table to put into the catalog of a lake datasource.' })
export class RegisterLakeTableInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => [String], { description: 'One to nine segments.' })
  namespace!: string[];

  @Field(() => String, { description: 'How SQL is to call it within its namespace.' })
  name!: string;

  @Field(() => LakeFormatEnum, { description: 'How its files are laid out.' })
  format!: LakeFormat;

  @Field(() => String, { description: 's3://bucket/… or file:///…' })
  location!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Column by which the files are split; left out where they are not.',
  })
  partitionColumn?: string | null;
}

@InputType({ description: 'The table to take out of the catalog; its files stay.' })
export class UnregisterLakeTableInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => [String], { description: 'Segments it is registered under.' })
  namespace!: string[];

  @Field(() => String, { description: 'What it is called within its namespace.' })
  name!: string;
}

@InputType({ description: 'Many tables at once, listed or described by a manifest.' })
export class ImportLakeTablesInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => JsonText, {
    description: '{"tables": […], "namespace"?, "publish_prefix"?} or {"manifest_url", "namespace"?}',
  })
  importJson!: string;
}

@ObjectType({ description: 'Answer of a registration.' })
export class LakeTablePayload {
  @Field(() => LakeTableType, { description: 'The table as the catalog has it now.' })
  lakeTable!: LakeTableType;
}

@ObjectType({ description: 'What an import did; repeating it changes nothing.' })
export class ImportLakeTablesPayload {
  @Field(() => [LakeTableType], { description: 'Tables that are new in the catalog.' })
  registered!: LakeTableType[];

  @Field(() => Int, { description: 'How many are new.' })
  registeredCount!: number;

  @Field(() => [LakeTableType], { description: 'Tables that were there before and are left as they were.' })
  alreadyRegistered!: LakeTableType[];

  @Field(() => Int, { description: 'How many were there before.' })
  alreadyRegisteredCount!: number;
}

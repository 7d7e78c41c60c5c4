import { Field, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { LakeFormat } from '#libs/lake';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { LakeFormatEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';

/** A table of a lake datasource: its files, and since when they cannot be read. */
@ObjectType('LakeTable', { implements: () => [NodeInterface] })
export class LakeTableType extends NodeInterface {
  @Field(() => [String])
  namespace!: readonly string[];

  @Field(() => String)
  name!: string;

  @Field(() => LakeFormatEnum)
  format!: LakeFormat;

  @Field(() => String)
  location!: string;

  @Field(() => String, { nullable: true })
  partitionColumn!: string | null;

  @Field(() => ActorType)
  registeredBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  registeredAt!: string;

  @Field(() => String, { nullable: true, description: 'Why its view could not be made; null: healthy.' })
  lastError!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it has been broken.' })
  lastErrorAt!: string | null;
}

@InputType()
export class RegisterLakeTableInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => [String], { description: 'One to nine segments.' })
  namespace!: string[];

  @Field(() => String)
  name!: string;

  @Field(() => LakeFormatEnum)
  format!: LakeFormat;

  @Field(() => String, { description: 's3://bucket/… or file:///…' })
  location!: string;

  @Field(() => String, { nullable: true })
  partitionColumn?: string | null;
}

@InputType()
export class UnregisterLakeTableInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => [String])
  namespace!: string[];

  @Field(() => String)
  name!: string;
}

@InputType()
export class ImportLakeTablesInput {
  @Field(() => String, { description: 'Name of the datasource.' })
  datasource!: string;

  @Field(() => JsonText, {
    description: '{"tables": […], "namespace"?, "publish_prefix"?} or {"manifest_url", "namespace"?}',
  })
  importJson!: string;
}

@ObjectType()
export class LakeTablePayload {
  @Field(() => LakeTableType)
  lakeTable!: LakeTableType;
}

@ObjectType()
export class ImportLakeTablesPayload {
  @Field(() => [LakeTableType])
  registered!: LakeTableType[];

  @Field(() => Int)
  registeredCount!: number;

  @Field(() => [LakeTableType])
  alreadyRegistered!: LakeTableType[];

  @Field(() => Int)
  alreadyRegisteredCount!: number;
}

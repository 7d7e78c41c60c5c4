import { Field, Int, ObjectType } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType, type Connection } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { DialectEnum, EntityStatusEnum } from '../schema/enums.js';
import { FolderType } from '../schema/folder.js';
import { NodeInterface } from '../schema/node.interface.js';
import { WarningType } from '../schema/payloads.js';
import { VersionInterface } from '../schema/version.interface.js';

@ObjectType('TemplateImport')
export class TemplateImportType {
  @Field(() => String)
  name!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => String)
  alias!: string;
}

/** A template; its id is its name. */
@ObjectType('Template', { implements: () => [NodeInterface] })
export class TemplateType extends NodeInterface {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  folder!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String)
  description!: string;

  @Field(() => EntityStatusEnum)
  status!: EntityStatus;

  @Field(() => Int, { nullable: true })
  currentVersion!: number | null;

  @Field(() => ActorType)
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;

  @Field(() => TemplateVersionType, { nullable: true, description: 'The draft, else the current version.' })
  working!: Lazy<TemplateVersionType | undefined>;

  @Field(() => TemplateVersionType, { nullable: true })
  draft!: Lazy<TemplateVersionType | undefined>;

  @Field(() => TemplateVersionType, { nullable: true })
  current!: Lazy<TemplateVersionType | undefined>;
}

@ObjectType('TemplateVersion', { implements: () => [VersionInterface, NodeInterface] })
export class TemplateVersionType extends VersionInterface {
  @Field(() => TemplateType)
  template!: Lazy<TemplateType | undefined>;

  @Field(() => String)
  engine!: string;

  @Field(() => DialectEnum)
  dialect!: Dialect;

  @Field(() => Boolean)
  isLibrary!: boolean;

  @Field(() => [TemplateImportType])
  imports!: TemplateImportType[];

  @Field(() => String)
  body!: string;
}

export const TemplateConnection = connectionType('Template', () => TemplateType);
export const TemplateVersionConnection = connectionType('TemplateVersion', () => TemplateVersionType);

@ObjectType('TemplateLevel')
export class TemplateLevelType {
  @Field(() => String)
  prefix!: string;

  @Field(() => [FolderType])
  folders!: Lazy<FolderType[]>;

  @Field(() => TemplateConnection)
  templates!: Connection<TemplateType>;
}

@ObjectType()
export class TemplatePayload {
  @Field(() => TemplateType)
  template!: TemplateType | undefined;

  @Field(() => [WarningType])
  warnings!: WarningType[];
}

@ObjectType()
export class ImportedTemplateType {
  @Field(() => String)
  name!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => String)
  bodyHash!: string;

  @Field(() => Boolean, { description: 'False when the same release was here already.' })
  imported!: boolean;
}

@ObjectType()
export class ImportedTemplatesPayload {
  @Field(() => [ImportedTemplateType])
  templates!: ImportedTemplateType[];
}

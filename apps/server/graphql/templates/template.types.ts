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

@ObjectType('TemplateImport', { description: "A library that a template's body uses." })
export class TemplateImportType {
  @Field(() => String, { description: 'Folder path of the library.' })
  name!: string;

  @Field(() => Int, { description: "Number of the library's version that is pinned." })
  version!: number;

  @Field(() => String, { description: 'What the body calls it by.' })
  alias!: string;
}

/** A template; its id is its name. */
@ObjectType('Template', {
  implements: () => [NodeInterface],
  description: 'A named piece of SQL with parameters, kept in numbered versions.',
})
export class TemplateType extends NodeInterface {
  @Field(() => String, { description: 'Folder path such as `fleet/idle.sql`, never changed.' })
  name!: string;

  @Field(() => String, { description: 'The name without its last part; empty at the root.' })
  folder!: string;

  @Field(() => String, { description: 'Title for people.' })
  displayName!: string;

  @Field(() => String, { description: 'What the body does and which parameters it expects.' })
  description!: string;

  @Field(() => EntityStatusEnum, { description: 'DISCARDED when all of its versions are.' })
  status!: EntityStatus;

  @Field(() => Int, {
    nullable: true,
    description: 'Number of the version that is pinned by default; null while there is none.',
  })
  currentVersion!: number | null;

  @Field(() => ActorType, { description: 'Who saved its first draft.' })
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'When its first draft was saved.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When any of its versions last changed.' })
  updatedAt!: string;

  @Field(() => TemplateVersionType, {
    nullable: true,
    description: 'The draft, else the current version; null where neither is left.',
  })
  working!: Lazy<TemplateVersionType | undefined>;

  @Field(() => TemplateVersionType, {
    nullable: true,
    description: 'The version being written; null if there is none.',
  })
  draft!: Lazy<TemplateVersionType | undefined>;

  @Field(() => TemplateVersionType, {
    nullable: true,
    description: 'The version that is pinned by default; null while there is none.',
  })
  current!: Lazy<TemplateVersionType | undefined>;
}

@ObjectType('TemplateVersion', {
  implements: () => [VersionInterface, NodeInterface],
  description: "A numbered state of a template's body.",
})
export class TemplateVersionType extends VersionInterface {
  @Field(() => TemplateType, { description: 'Whose version it is.' })
  template!: Lazy<TemplateType | undefined>;

  @Field(() => String, { description: 'Language of the body: `freemarker`.' })
  engine!: string;

  @Field(() => DialectEnum, { description: 'Whose SQL the body writes.' })
  dialect!: Dialect;

  @Field(() => Boolean, { description: 'Whether it holds macros for other templates and cannot run by itself.' })
  isLibrary!: boolean;

  @Field(() => [TemplateImportType], { description: 'Libraries its body uses, pinned.' })
  imports!: TemplateImportType[];

  @Field(() => String, { description: 'The source text, as it was saved.' })
  body!: string;
}

export const TemplateConnection = connectionType('Template', () => TemplateType);
export const TemplateVersionConnection = connectionType('TemplateVersion', () => TemplateVersionType);

@ObjectType('TemplateLevel', { description: 'One level of the tree of templates.' })
export class TemplateLevelType {
  @Field(() => String, { description: 'The folder that was opened; empty for the root.' })
  prefix!: string;

  @Field(() => [FolderType], { description: 'Folders directly below it.' })
  folders!: Lazy<FolderType[]>;

  @Field(() => TemplateConnection, { description: 'Templates directly in it.' })
  templates!: Connection<TemplateType>;
}

@ObjectType({ description: 'Answer of a change to a template.' })
export class TemplatePayload {
  @Field(() => TemplateType, { description: 'As it is after the change.' })
  template!: TemplateType | undefined;

  @Field(() => [WarningType], { description: 'What was taken but may not be meant; empty where all is well.' })
  warnings!: WarningType[];
}

@ObjectType({ description: 'What an import did with one release.' })
export class ImportedTemplateType {
  @Field(() => String, { description: 'Folder path of the template.' })
  name!: string;

  @Field(() => Int, { description: 'Number the release has here, the same as where it came from.' })
  version!: number;

  @Field(() => String, { description: 'SHA-256 of the normal form, in hex.' })
  bodyHash!: string;

  @Field(() => Boolean, { description: 'Whether it is new here; false when the same release was here already.' })
  imported!: boolean;
}

@ObjectType({ description: 'Answer of an import.' })
export class ImportedTemplatesPayload {
  @Field(() => [ImportedTemplateType], { description: 'Every release of the file, in its order.' })
  templates!: ImportedTemplateType[];
}

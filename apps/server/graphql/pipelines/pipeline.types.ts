import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType, type Connection } from '../paging/connection.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { EntityStatusEnum, LogicalTypeEnum, NodeTypeEnum } from '../schema/enums.js';
import { FolderType } from '../schema/folder.js';
import { NodeInterface } from '../schema/node.interface.js';
import { FailureType, WarningType } from '../schema/payloads.js';
import { VersionInterface } from '../schema/version.interface.js';
import { CheckType } from './check.types.js';
import { TemplateVersionType } from '../templates/template.types.js';

@ObjectType('Ref')
export class RefType {
  @Field(() => String)
  name!: string;

  @Field(() => Int)
  version!: number;
}

@ObjectType('Parameter')
export class ParameterType {
  @Field(() => String)
  name!: string;

  @Field(() => LogicalTypeEnum, { nullable: true })
  type!: string | null;

  @Field(() => Int, { nullable: true })
  precision!: number | null;

  @Field(() => Int, { nullable: true })
  scale!: number | null;

  @Field(() => Boolean)
  required!: boolean;

  @Field(() => JsonText, { nullable: true })
  defaultJson!: string | null;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => Boolean, { description: 'A key of a calculator: given, its node is not run.' })
  derived!: boolean;
}

@ObjectType('PipelineNode', { implements: () => [NodeInterface] })
export class PipelineNodeType extends NodeInterface {
  @Field(() => NodeTypeEnum)
  type!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => String, { nullable: true })
  source!: string | null;

  @Field(() => RefType, { nullable: true })
  template!: RefType | null;

  @Field(() => RefType, { nullable: true })
  pipeline!: RefType | null;

  @Field(() => Json, { nullable: true })
  output!: unknown;

  @Field(() => [String])
  dependsOn!: string[];

  @Field(() => Json, { nullable: true })
  settings!: unknown;
}

@ObjectType('Pipeline', { implements: () => [NodeInterface] })
export class PipelineType extends NodeInterface {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  folder!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String)
  description!: string;

  @Field(() => ActorType)
  owner!: Lazy<ActorType>;

  @Field(() => EntityStatusEnum)
  status!: EntityStatus;

  @Field(() => Int, { nullable: true })
  currentVersion!: number | null;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;

  @Field(() => PipelineVersionType, { nullable: true, description: 'The draft, else the current version.' })
  working!: Lazy<PipelineVersionType | undefined>;

  @Field(() => PipelineVersionType, { nullable: true })
  draft!: Lazy<PipelineVersionType | undefined>;

  @Field(() => PipelineVersionType, { nullable: true })
  current!: Lazy<PipelineVersionType | undefined>;
}

@ObjectType('PipelineVersion', { implements: () => [VersionInterface, NodeInterface] })
export class PipelineVersionType extends VersionInterface {
  @Field(() => PipelineType)
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => JsonText)
  definitionJson!: Lazy<string>;

  @Field(() => [ParameterType])
  parameters!: Lazy<ParameterType[]>;

  @Field(() => [PipelineNodeType])
  nodes!: Lazy<PipelineNodeType[]>;

  @Field(() => [CheckType])
  checks!: Lazy<CheckType[]>;

  @Field(() => [TemplateVersionType])
  pinnedTemplates!: Lazy<TemplateVersionType[]>;

  @Field(() => Json, { nullable: true, description: 'Nodes whose template has a newer release than the one they pin.' })
  upgradeAvailable!: Lazy<unknown>;
}

export const PipelineConnection = connectionType('Pipeline', () => PipelineType);
export const PipelineVersionConnection = connectionType('PipelineVersion', () => PipelineVersionType);

@ObjectType('PipelineLevel')
export class PipelineLevelType {
  @Field(() => String)
  prefix!: string;

  @Field(() => [FolderType])
  folders!: Lazy<FolderType[]>;

  @Field(() => PipelineConnection)
  pipelines!: Connection<PipelineType>;
}

@ObjectType('ValidationReport')
export class ValidationReportType {
  @Field(() => Boolean)
  valid!: boolean;

  @Field(() => [FailureType])
  failures!: FailureType[];

  @Field(() => [WarningType])
  warnings!: WarningType[];

  @Field(() => String, { nullable: true, description: 'What a save would store; null when it would be refused.' })
  bodyHash!: string | null;
}

@ObjectType()
export class PipelinePayload {
  @Field(() => PipelineType)
  pipeline!: PipelineType | undefined;

  @Field(() => [WarningType])
  warnings!: WarningType[];
}

@ObjectType()
export class ImportedPipelinePayload extends PipelinePayload {
  @Field(() => Boolean, { description: 'False when the same release was here already.' })
  imported!: boolean;
}

@ObjectType()
export class PurgedPipelinePayload {
  @Field(() => ID)
  deletedId!: string;

  @Field(() => [String], { description: 'Draft templates that only this pipeline used.' })
  exclusiveDraftTemplates!: string[];

  @Field(() => [String])
  exclusiveDraftTemplatesPurged!: string[];
}

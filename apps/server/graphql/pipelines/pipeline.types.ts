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

@ObjectType('Ref', { description: 'A pinned version of something else.' })
export class RefType {
  @Field(() => String, { description: 'Folder path of the template or pipeline.' })
  name!: string;

  @Field(() => Int, { description: 'Number of the version that is pinned.' })
  version!: number;
}

@ObjectType('Parameter', { description: 'A value that a run may be given.' })
export class ParameterType {
  @Field(() => String, { description: 'Key in `parametersJson`.' })
  name!: string;

  @Field(() => LogicalTypeEnum, {
    nullable: true,
    description: 'The type a value must have; null where a stored document names one that is unknown here.',
  })
  type!: string | null;

  @Field(() => Int, { nullable: true, description: 'Digits of a decimal; null for other types.' })
  precision!: number | null;

  @Field(() => Int, { nullable: true, description: 'Digits behind the point; null for other types.' })
  scale!: number | null;

  @Field(() => Boolean, { description: 'Whether a run without it is refused.' })
  required!: boolean;

  @Field(() => JsonText, {
    nullable: true,
    description: 'What a run without it uses, as it was spelled; null without a default.',
  })
  defaultJson!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "What it means, in the author's words; null where nothing was said.",
  })
  description!: string | null;

  @Field(() => Boolean, { description: 'Whether a calculator gives it; given by the caller, that node is not run.' })
  derived!: boolean;
}

@ObjectType('PipelineNode', {
  implements: () => [NodeInterface],
  description: 'A step of a pipeline, as the document declares it.',
})
export class PipelineNodeType extends NodeInterface {
  @Field(() => NodeTypeEnum, { description: 'What kind of work the step does.' })
  type!: string;

  @Field(() => String, {
    nullable: true,
    description: "What it is for, in the author's words; null where nothing was said.",
  })
  description!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Datasource or `tempdb` that it runs on; null for nodes without SQL.',
  })
  source!: string | null;

  @Field(() => RefType, { nullable: true, description: 'The SQL it runs, pinned; null for nodes without a template.' })
  template!: RefType | null;

  @Field(() => RefType, {
    nullable: true,
    description: 'The pipeline it runs, pinned; null except for PIPELINE nodes.',
  })
  pipeline!: RefType | null;

  @Field(() => Json, {
    nullable: true,
    description: 'Where its rows go, as the document has it; null where it gives none.',
  })
  output!: unknown;

  @Field(() => [String], { description: 'Ids of nodes that have to succeed before it begins.' })
  dependsOn!: string[];

  @Field(() => Json, {
    nullable: true,
    description: 'Timeout, retries and the like, as the document has them; null where none are set.',
  })
  settings!: unknown;
}

@ObjectType('Pipeline', {
  implements: () => [NodeInterface],
  description: 'A tested way from datasources to rows: a name with numbered versions of a document.',
})
export class PipelineType extends NodeInterface {
  @Field(() => String, { description: 'Folder path such as `fleet/daily/idle_trucks`, never changed.' })
  name!: string;

  @Field(() => String, { description: 'The name without its last part; empty at the root.' })
  folder!: string;

  @Field(() => String, { description: 'Title for people.' })
  displayName!: string;

  @Field(() => String, { description: 'What it delivers, for people and models that look for data.' })
  description!: string;

  @Field(() => ActorType, { description: 'Who created it, and answers for it.' })
  owner!: Lazy<ActorType>;

  @Field(() => EntityStatusEnum, { description: 'DISCARDED when all of its versions are.' })
  status!: EntityStatus;

  @Field(() => Int, {
    nullable: true,
    description: 'Number of the version that runs by default; null while there is none.',
  })
  currentVersion!: number | null;

  @Field(() => DateTime, { description: 'When its first draft was saved.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When any of its versions last changed.' })
  updatedAt!: string;

  @Field(() => PipelineVersionType, {
    nullable: true,
    description: 'The draft, else the current version; null where neither is left.',
  })
  working!: Lazy<PipelineVersionType | undefined>;

  @Field(() => PipelineVersionType, {
    nullable: true,
    description: 'The version being written; null if there is none.',
  })
  draft!: Lazy<PipelineVersionType | undefined>;

  @Field(() => PipelineVersionType, {
    nullable: true,
    description: 'The version that runs by default; null while there is none.',
  })
  current!: Lazy<PipelineVersionType | undefined>;
}

@ObjectType('PipelineVersion', {
  implements: () => [VersionInterface, NodeInterface],
  description: "A numbered state of a pipeline's document.",
})
export class PipelineVersionType extends VersionInterface {
  @Field(() => PipelineType, { description: 'Whose version it is.' })
  pipeline!: Lazy<PipelineType | undefined>;

  @Field(() => JsonText, { description: 'The whole document in its normal form: what an editor opens and saves.' })
  definitionJson!: Lazy<string>;

  @Field(() => [ParameterType], {
    description: "What a run may be given: declared parameters, then the calculators' keys.",
  })
  parameters!: Lazy<ParameterType[]>;

  @Field(() => [PipelineNodeType], { description: 'Its steps, in the order of the document.' })
  nodes!: Lazy<PipelineNodeType[]>;

  @Field(() => [CheckType], { description: 'Its expectations, in the order of the document.' })
  checks!: Lazy<CheckType[]>;

  @Field(() => [TemplateVersionType], {
    description: 'Versions of templates that its nodes run, each once.',
  })
  pinnedTemplates!: Lazy<TemplateVersionType[]>;

  @Field(() => Json, {
    nullable: true,
    description: 'Nodes whose template has a newer release than the one they pin; empty where all are up to date.',
  })
  upgradeAvailable!: Lazy<unknown>;
}

export const PipelineConnection = connectionType('Pipeline', () => PipelineType);
export const PipelineVersionConnection = connectionType('PipelineVersion', () => PipelineVersionType);

@ObjectType('PipelineLevel', { description: 'One level of the tree of pipelines.' })
export class PipelineLevelType {
  @Field(() => String, { description: 'The folder that was opened; empty for the root.' })
  prefix!: string;

  @Field(() => [FolderType], { description: 'Folders directly below it.' })
  folders!: Lazy<FolderType[]>;

  @Field(() => PipelineConnection, { description: 'Pipelines directly in it.' })
  pipelines!: Connection<PipelineType>;
}

@ObjectType('ValidationReport', { description: 'What a save would say; nothing was stored.' })
export class ValidationReportType {
  @Field(() => Boolean, { description: 'Whether a save would be taken.' })
  valid!: boolean;

  @Field(() => [FailureType], { description: 'Every reason against it, empty if it is valid.' })
  failures!: FailureType[];

  @Field(() => [WarningType], { description: 'What would be taken but may not be meant.' })
  warnings!: WarningType[];

  @Field(() => String, {
    nullable: true,
    description: 'The hash a save would store, in hex; null when it would be refused.',
  })
  bodyHash!: string | null;
}

@ObjectType({ description: 'Answer of a change to a pipeline.' })
export class PipelinePayload {
  @Field(() => PipelineType, { description: 'As it is after the change.' })
  pipeline!: PipelineType | undefined;

  @Field(() => [WarningType], { description: 'What was taken but may not be meant; empty where all is well.' })
  warnings!: WarningType[];
}

@ObjectType({ description: 'Answer of an import.' })
export class ImportedPipelinePayload extends PipelinePayload {
  @Field(() => Boolean, { description: 'Whether it is new here; false when the same release was here already.' })
  imported!: boolean;
}

@ObjectType({ description: 'What is gone with a pipeline.' })
export class PurgedPipelinePayload {
  @Field(() => ID, { description: 'Id of the pipeline that is gone.' })
  deletedId!: string;

  @Field(() => [String], { description: 'Names of draft templates that only this pipeline used.' })
  exclusiveDraftTemplates!: string[];

  @Field(() => [String], { description: 'Those of them that are gone too; empty unless that was asked for.' })
  exclusiveDraftTemplatesPurged!: string[];
}

import { Field, ID, InputType, Int } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import { JsonText } from '../scalars/json-text.scalar.js';
import { EntityStatusEnum } from '../schema/enums.js';
import { BrowseOrderInput } from '../schema/order.js';

@InputType('PipelineOrder')
export class PipelineOrderInput extends BrowseOrderInput {}

@InputType('PipelineFilter')
export class PipelineFilterInput {
  @Field(() => ID, { nullable: true, description: 'Id of a user.' })
  owner?: string | null;

  @Field(() => String, { nullable: true, description: 'Name of a datasource that is read or written.' })
  datasource?: string | null;

  @Field(() => String, { nullable: true, description: 'Substring of name, display name or description.' })
  q?: string | null;

  @Field(() => EntityStatusEnum, { nullable: true, description: 'Default ACTIVE.' })
  status?: EntityStatus | null;
}

@InputType()
export class CreatePipelineInput {
  @Field(() => JsonText)
  definitionJson!: string;
}

@InputType()
export class ImportPipelineInput {
  @Field(() => JsonText, { description: 'An exported file as it is, or a pipeline record alone.' })
  definitionJson!: string;
}

/** A pipeline and the hash of what the caller has seen. */
@InputType({ isAbstract: true })
abstract class PipelineHashInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  expectedHash!: string;
}

@InputType()
export class UpdatePipelineInput extends PipelineHashInput {
  @Field(() => JsonText)
  definitionJson!: string;
}

@InputType()
export class ReleasePipelineInput extends PipelineHashInput {
  @Field(() => Boolean, { nullable: true, description: 'Releases pinned drafts too, libraries first.' })
  releasePinnedTemplates?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why failed checks do not matter, 10 characters or more; audited.',
  })
  overrideChecksReason?: string | null;
}

@InputType()
export class PurgePipelineDraftInput extends PipelineHashInput {}

@InputType({ isAbstract: true })
abstract class PipelineVersionInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  version!: number;
}

@InputType()
export class DiscardPipelineVersionInput extends PipelineVersionInput {}

@InputType()
export class RestorePipelineVersionInput extends PipelineVersionInput {}

@InputType()
export class SwitchPipelineInput extends PipelineVersionInput {}

@InputType()
export class PurgePipelineVersionInput extends PipelineVersionInput {
  @Field(() => String, { nullable: true })
  expectedHash?: string | null;
}

@InputType()
export class PurgePipelineInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Boolean, { nullable: true })
  includeExclusiveDraftTemplates?: boolean | null;

  @Field(() => String, { nullable: true })
  expectedHash?: string | null;
}

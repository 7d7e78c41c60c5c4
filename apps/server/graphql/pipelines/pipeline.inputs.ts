import { Field, ID, InputType, Int } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import { JsonText } from '../scalars/json-text.scalar.js';
import { EntityStatusEnum } from '../schema/enums.js';
import { BrowseOrderInput } from '../schema/order.js';

@InputType('PipelineOrder', { description: 'How a list of pipelines is ordered; default: by name.' })
export class PipelineOrderInput extends BrowseOrderInput {}

@InputType('PipelineFilter', { description: 'Which pipelines are wanted; what is left out does not narrow.' })
export class PipelineFilterInput {
  @Field(() => ID, { nullable: true, description: 'Id of the user who created it.' })
  owner?: string | null;

  @Field(() => String, { nullable: true, description: 'Name of a datasource that is read or written.' })
  datasource?: string | null;

  @Field(() => String, { nullable: true, description: 'Substring of name, display name or description.' })
  q?: string | null;

  @Field(() => EntityStatusEnum, { nullable: true, description: 'Default ACTIVE.' })
  status?: EntityStatus | null;
}

@InputType({ description: 'A pipeline to begin, as a draft with the number 1.' })
export class CreatePipelineInput {
  @Field(() => JsonText, { description: 'The whole document, with name, nodes, parameters and checks.' })
  definitionJson!: string;
}

@InputType({ description: 'A release from another deployment, taken whole or not at all.' })
export class ImportPipelineInput {
  @Field(() => JsonText, { description: 'An exported file as it is, or a pipeline record alone.' })
  definitionJson!: string;
}

/** A pipeline and the hash of what the caller has seen. */
@InputType({ isAbstract: true })
abstract class PipelineHashInput {
  @Field(() => ID, { description: 'Whose draft is meant.' })
  id!: string;

  @Field(() => String, { description: 'The `bodyHash` you have seen; refused if somebody saved meanwhile.' })
  expectedHash!: string;
}

@InputType({ description: 'The new state of a draft; a pipeline without one gets the next number.' })
export class UpdatePipelineInput extends PipelineHashInput {
  @Field(() => JsonText, { description: 'The whole document; it replaces what was there.' })
  definitionJson!: string;
}

@InputType({ description: 'The draft to make unchangeable and current, once its checks pass.' })
export class ReleasePipelineInput extends PipelineHashInput {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether pinned draft templates are released too, libraries first; default false.',
  })
  releasePinnedTemplates?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why failed checks do not matter, 10 characters or more; audited.',
  })
  overrideChecksReason?: string | null;
}

@InputType({ description: 'The draft to throw away; with the only version the pipeline goes too.' })
export class PurgePipelineDraftInput extends PipelineHashInput {}

@InputType({ isAbstract: true })
abstract class PipelineVersionInput {
  @Field(() => ID, { description: 'Whose version is meant.' })
  id!: string;

  @Field(() => Int, { description: 'Number of the version.' })
  version!: number;
}

@InputType({ description: 'The release to set aside: it no longer runs, but can be restored.' })
export class DiscardPipelineVersionInput extends PipelineVersionInput {}

@InputType({ description: 'The discarded release to take back.' })
export class RestorePipelineVersionInput extends PipelineVersionInput {}

@InputType({ description: 'The release that is to run by default from now on.' })
export class SwitchPipelineInput extends PipelineVersionInput {}

@InputType({ description: 'The draft version to delete for good, with its runs.' })
export class PurgePipelineVersionInput extends PipelineVersionInput {
  @Field(() => String, {
    nullable: true,
    description: 'The `bodyHash` you have seen; left out, whatever is there is deleted.',
  })
  expectedHash?: string | null;
}

@InputType({ description: 'The pipeline to delete for good, with its runs; refused once anything of it was released.' })
export class PurgePipelineInput {
  @Field(() => ID, { description: 'A pipeline with nothing but a draft, to which nothing refers.' })
  id!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether draft templates that only it used go too; default false.',
  })
  includeExclusiveDraftTemplates?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description: 'The `bodyHash` of the draft you have seen; left out, whatever is there is deleted.',
  })
  expectedHash?: string | null;
}

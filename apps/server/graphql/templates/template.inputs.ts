import { Field, InputType, Int } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import { JsonText } from '../scalars/json-text.scalar.js';
import { DialectEnum, EntityStatusEnum } from '../schema/enums.js';
import { BrowseOrderInput } from '../schema/order.js';

@InputType('TemplateOrder', { description: 'How a list of templates is ordered; default: by name.' })
export class TemplateOrderInput extends BrowseOrderInput {}

@InputType('TemplateFilter', { description: 'Which templates are wanted; what is left out does not narrow.' })
export class TemplateFilterInput {
  @Field(() => DialectEnum, { nullable: true, description: 'Only templates that write the SQL of this engine.' })
  dialect?: Dialect | null;

  @Field(() => String, { nullable: true, description: 'Substring of name, display name or description.' })
  q?: string | null;

  @Field(() => EntityStatusEnum, { nullable: true, description: 'Default ACTIVE.' })
  status?: EntityStatus | null;
}

@InputType({ description: 'A library that the body is to use.' })
export class TemplateImportInput {
  @Field(() => String, { description: 'Folder path of the library.' })
  name!: string;

  @Field(() => Int, { description: "Number of the library's version to pin." })
  version!: number;

  @Field(() => String, { description: 'What the body calls it by.' })
  alias!: string;
}

@InputType({ isAbstract: true })
abstract class TemplateBodyInput {
  @Field(() => String, { description: 'Folder path such as `fleet/idle.sql`; it is never changed.' })
  name!: string;

  @Field(() => String, { description: 'Title for people.' })
  displayName!: string;

  @Field(() => String, { description: 'What the body does and which parameters it expects.' })
  description!: string;

  @Field(() => Boolean, { nullable: true, description: 'Whether it holds macros for other templates; default false.' })
  isLibrary?: boolean | null;

  @Field(() => [TemplateImportInput], {
    nullable: true,
    description: 'Libraries the body uses, pinned; default: none.',
  })
  imports?: TemplateImportInput[] | null;

  @Field(() => String, { description: 'The source text in FreeMarker.' })
  body!: string;
}

@InputType({ description: 'A template to begin, as a draft with the number 1.' })
export class CreateTemplateInput extends TemplateBodyInput {
  @Field(() => DialectEnum, { description: 'Whose SQL the body writes; it is never changed.' })
  dialect!: Dialect;
}

@InputType({ description: 'The whole new state of a draft; a template without one gets the next number.' })
export class UpdateTemplateInput extends TemplateBodyInput {
  @Field(() => DialectEnum, { nullable: true, description: 'Never changes; may be left out.' })
  dialect?: Dialect | null;

  @Field(() => String, { description: 'The `bodyHash` you have seen; refused if somebody saved meanwhile.' })
  expectedHash!: string;
}

/** A template and the hash of what the caller has seen. */
@InputType({ isAbstract: true })
abstract class TemplateHashInput {
  @Field(() => String, { description: 'Whose draft is meant.' })
  name!: string;

  @Field(() => String, { description: 'The `bodyHash` you have seen; refused if somebody saved meanwhile.' })
  expectedHash!: string;
}

@InputType({ description: 'The draft to make unchangeable and current.' })
export class ReleaseTemplateInput extends TemplateHashInput {}

@InputType({ description: 'The draft to throw away; with the only version the template goes too.' })
export class PurgeTemplateDraftInput extends TemplateHashInput {}

@InputType({ isAbstract: true })
abstract class TemplateVersionInput {
  @Field(() => String, { description: 'Whose version is meant.' })
  name!: string;

  @Field(() => Int, { description: 'Number of the version.' })
  version!: number;
}

@InputType({ description: 'The release to set aside: it can no longer be pinned, but be restored.' })
export class DiscardTemplateVersionInput extends TemplateVersionInput {}

@InputType({ description: 'The discarded release to take back.' })
export class RestoreTemplateVersionInput extends TemplateVersionInput {}

@InputType({ description: 'The release that is to be pinned by default from now on.' })
export class SwitchTemplateInput extends TemplateVersionInput {}

@InputType({ description: 'The draft version to delete for good.' })
export class PurgeTemplateVersionInput extends TemplateVersionInput {
  @Field(() => String, {
    nullable: true,
    description: 'The `bodyHash` you have seen; left out, whatever is there is deleted.',
  })
  expectedHash?: string | null;
}

@InputType({ description: 'The template to delete for good; refused once anything of it was released.' })
export class PurgeTemplateInput {
  @Field(() => String, { description: 'A template with nothing but a draft, which nothing pins.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The `bodyHash` of the draft you have seen; left out, whatever is there is deleted.',
  })
  expectedHash?: string | null;
}

@InputType({ description: 'Releases from another deployment, taken together or not at all.' })
export class ImportTemplatesInput {
  @Field(() => JsonText, { description: 'An object whose "templates" are exported template versions.' })
  definitionJson!: string;
}

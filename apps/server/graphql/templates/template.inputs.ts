import { Field, InputType, Int } from '@nestjs/graphql';
import type { EntityStatus } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import { JsonText } from '../scalars/json-text.scalar.js';
import { DialectEnum, EntityStatusEnum } from '../schema/enums.js';
import { BrowseOrderInput } from '../schema/order.js';

@InputType('TemplateOrder')
export class TemplateOrderInput extends BrowseOrderInput {}

@InputType('TemplateFilter')
export class TemplateFilterInput {
  @Field(() => DialectEnum, { nullable: true })
  dialect?: Dialect | null;

  @Field(() => String, { nullable: true, description: 'Substring of name, display name or description.' })
  q?: string | null;

  @Field(() => EntityStatusEnum, { nullable: true, description: 'Default ACTIVE.' })
  status?: EntityStatus | null;
}

@InputType()
export class TemplateImportInput {
  @Field(() => String)
  name!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => String)
  alias!: string;
}

@InputType({ isAbstract: true })
abstract class TemplateBodyInput {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { description: 'What the body does and which parameters it expects.' })
  description!: string;

  @Field(() => Boolean, { nullable: true })
  isLibrary?: boolean | null;

  @Field(() => [TemplateImportInput], { nullable: true })
  imports?: TemplateImportInput[] | null;

  @Field(() => String)
  body!: string;
}

@InputType()
export class CreateTemplateInput extends TemplateBodyInput {
  @Field(() => DialectEnum)
  dialect!: Dialect;
}

@InputType()
export class UpdateTemplateInput extends TemplateBodyInput {
  @Field(() => DialectEnum, { nullable: true, description: 'Never changes; may be left out.' })
  dialect?: Dialect | null;

  @Field(() => String)
  expectedHash!: string;
}

/** A template and the hash of what the caller has seen. */
@InputType({ isAbstract: true })
abstract class TemplateHashInput {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  expectedHash!: string;
}

@InputType()
export class ReleaseTemplateInput extends TemplateHashInput {}

@InputType()
export class PurgeTemplateDraftInput extends TemplateHashInput {}

@InputType({ isAbstract: true })
abstract class TemplateVersionInput {
  @Field(() => String)
  name!: string;

  @Field(() => Int)
  version!: number;
}

@InputType()
export class DiscardTemplateVersionInput extends TemplateVersionInput {}

@InputType()
export class RestoreTemplateVersionInput extends TemplateVersionInput {}

@InputType()
export class SwitchTemplateInput extends TemplateVersionInput {}

@InputType()
export class PurgeTemplateVersionInput extends TemplateVersionInput {
  @Field(() => String, { nullable: true })
  expectedHash?: string | null;
}

@InputType()
export class PurgeTemplateInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  expectedHash?: string | null;
}

@InputType()
export class ImportTemplatesInput {
  @Field(() => JsonText, { description: 'An object whose "templates" are exported template versions.' })
  definitionJson!: string;
}

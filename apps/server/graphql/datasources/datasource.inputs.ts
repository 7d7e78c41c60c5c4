import { Field, InputType, Int } from '@nestjs/graphql';
import type { Dialect } from '#libs/typesystem';
import { JsonText } from '../scalars/json-text.scalar.js';
import { CredentialKindEnum, DialectEnum } from '../schema/enums.js';

@InputType('DatasourceFilter')
export class DatasourceFilterInput {
  @Field(() => DialectEnum, { nullable: true })
  dialect?: Dialect | null;
}

/** Write-only. */
@InputType()
export class CredentialInput {
  @Field(() => CredentialKindEnum)
  kind!: string;

  @Field(() => String, { nullable: true })
  username?: string | null;

  @Field(() => String, { nullable: true })
  secret?: string | null;
}

@InputType({ isAbstract: true })
abstract class DatasourceBodyInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => DialectEnum)
  dialect!: Dialect;

  @Field(() => String)
  jdbcUrl!: string;

  @Field(() => CredentialInput, { nullable: true })
  credential?: CredentialInput | null;

  @Field(() => JsonText, { nullable: true, description: '{"hikari": …, "jdbc": …}' })
  propertiesJson?: string | null;

  @Field(() => Int, { nullable: true })
  queryTimeoutSeconds?: number | null;

  @Field(() => [String], { nullable: true })
  introspectionIncludeSchemas?: string[] | null;

  @Field(() => Boolean, { nullable: true })
  readonly?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Name of the owning workspace; absent: the active one.' })
  workspace?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Of the instance: no workspace owns it.' })
  global?: boolean | null;
}

@InputType()
export class CreateDatasourceInput extends DatasourceBodyInput {}

/** Replaces the datasource whole; the stored secret stays while the kind does. */
@InputType()
export class UpdateDatasourceInput extends DatasourceBodyInput {}

@InputType()
export class DeleteDatasourceInput {
  @Field(() => String)
  name!: string;
}

@InputType()
export class TestDatasourceInput {
  @Field(() => String)
  name!: string;
}

@InputType({ isAbstract: true })
abstract class GrantInput {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  workspace!: string;
}

@InputType()
export class GrantDatasourceInput extends GrantInput {}

@InputType()
export class RevokeDatasourceInput extends GrantInput {}

import { Field, InputType, Int } from '@nestjs/graphql';
import type { Dialect } from '#libs/typesystem';
import { JsonText } from '../scalars/json-text.scalar.js';
import { CredentialKindEnum, DialectEnum } from '../schema/enums.js';

@InputType('DatasourceFilter', { description: 'Which datasources are wanted; what is left out does not narrow.' })
export class DatasourceFilterInput {
  @Field(() => DialectEnum, { nullable: true, description: 'Only databases of this engine.' })
  dialect?: Dialect | null;
}

/** Write-only. */
@InputType({ description: 'How connections prove themselves; goes in and never comes out.' })
export class CredentialInput {
  @Field(() => CredentialKindEnum, { description: 'What the secret is; NONE takes neither user nor secret.' })
  kind!: string;

  @Field(() => String, { nullable: true, description: 'Whom connections log in as, where the kind has users.' })
  username?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Password, token, key or service account file; left out on an update, the stored one stays.',
  })
  secret?: string | null;
}

@InputType({ isAbstract: true })
abstract class DatasourceBodyInput {
  @Field(() => String, { description: 'Lower-case name that pipelines will use; it is never changed.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Title for people; default: the name.' })
  displayName?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What the database holds, for people and models that look for data.',
  })
  description?: string | null;

  @Field(() => DialectEnum, { description: 'Which engine it is; has to fit the address.' })
  dialect!: Dialect;

  @Field(() => String, {
    description: 'Where it is, such as `jdbc:postgresql://db:5432/shop`; a password in it is refused.',
  })
  jdbcUrl!: string;

  @Field(() => CredentialInput, {
    nullable: true,
    description: 'How connections prove themselves; left out on an update, the stored secret stays.',
  })
  credential?: CredentialInput | null;

  @Field(() => JsonText, {
    nullable: true,
    description: 'Settings of the pool and the driver: `{"hikari": {…}, "jdbc": {…}}`.',
  })
  propertiesJson?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Limit of one statement in seconds; default: the limit of the deployment.',
  })
  queryTimeoutSeconds?: number | null;

  @Field(() => [String], {
    nullable: true,
    description: 'The only schemas that browsing shows; empty or left out: all.',
  })
  introspectionIncludeSchemas?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether nodes that write to it are refused; default false.' })
  readonly?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Name of the owning workspace; absent: the active one.' })
  workspace?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Of the instance: no workspace owns it.' })
  global?: boolean | null;
}

@InputType({ description: 'A database to register.' })
export class CreateDatasourceInput extends DatasourceBodyInput {}

/** Replaces the datasource whole; the stored secret stays while the kind does. */
@InputType({
  description:
    'The whole new registration; what is left out returns to its default, the secret stays while its kind does.',
})
export class UpdateDatasourceInput extends DatasourceBodyInput {}

@InputType({ description: 'The datasource to forget; refused while any stored version of a pipeline refers to it.' })
export class DeleteDatasourceInput {
  @Field(() => String, { description: 'Which registered datasource to forget.' })
  name!: string;
}

@InputType({ description: 'The datasource whose connection is tried.' })
export class TestDatasourceInput {
  @Field(() => String, { description: 'Which registered datasource to connect to.' })
  name!: string;
}

@InputType({ isAbstract: true })
abstract class GrantInput {
  @Field(() => String, { description: 'The datasource whose use is given or taken.' })
  name!: string;

  @Field(() => String, { description: 'Name of the workspace that gains or loses it.' })
  workspace!: string;
}

@InputType({ description: 'Whom to let use which datasource.' })
export class GrantDatasourceInput extends GrantInput {}

@InputType({ description: 'From whom to take which datasource.' })
export class RevokeDatasourceInput extends GrantInput {}

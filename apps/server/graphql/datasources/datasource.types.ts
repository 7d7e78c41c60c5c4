import { Field, Int, ObjectType } from '@nestjs/graphql';
import type { Dialect } from '#libs/typesystem';
import type { ServedFact } from '#libs/semantics';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { Json } from '../scalars/json.scalar.js';
import { Long } from '../scalars/long.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { CredentialKindEnum, DialectEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';
import { WorkspaceType } from '../workspaces/workspace.types.js';

@ObjectType('ConnectionTest', { description: 'Outcome of the latest connection test.' })
export class ConnectionTestType {
  @Field(() => DateTime, { description: 'When the database was asked.' })
  testedAt!: string;

  @Field(() => Boolean, { description: 'Whether a connection could be opened and answered.' })
  ok!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'What the driver said, without secrets; null where it said nothing.',
  })
  message!: string | null;
}

/** A datasource; its id is its name. A secret has no place in it. */
@ObjectType('Datasource', {
  implements: () => [NodeInterface],
  description: 'A database that pipelines read from and write to; its secret never comes out.',
})
export class DatasourceType extends NodeInterface {
  @Field(() => String, { description: 'Chosen at creation and never changed; pipelines refer to it.' })
  name!: string;

  @Field(() => String, { description: 'Title for people; the name where none was given.' })
  displayName!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What the database holds, in the words of who registered it; null where nothing was said.',
  })
  description!: string | null;

  @Field(() => DialectEnum, { description: 'Which engine it is, and so which SQL its templates speak.' })
  dialect!: Dialect;

  @Field(() => String, { description: 'Where it is, such as `jdbc:postgresql://db:5432/shop`; carries no password.' })
  jdbcUrl!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Whom connections log in as; null where the credential needs no user.',
  })
  username!: string | null;

  @Field(() => CredentialKindEnum, { description: 'What kind of secret is stored for it.' })
  credentialKind!: string;

  @Field(() => Boolean, { description: 'Whether a secret is stored; the secret itself is write-only.' })
  passwordSet!: boolean;

  @Field(() => Json, { description: 'Settings as they were given: `hikari` for the pool, `jdbc` for the driver.' })
  properties!: unknown;

  @Field(() => Json, { description: 'Settings of the connection pool that are in force, defaults included.' })
  pool!: unknown;

  @Field(() => Int, {
    nullable: true,
    description: 'Limit of one statement in seconds; null: the limit of the deployment.',
  })
  queryTimeoutSeconds!: number | null;

  @Field(() => [String], { description: 'The only schemas that browsing shows; empty: all of them.' })
  introspectionIncludeSchemas!: readonly string[];

  @Field(() => WorkspaceType, { nullable: true, description: 'Null: of the instance, or of a workspace unseen.' })
  ownerWorkspace!: Lazy<WorkspaceType | null>;

  @Field(() => Boolean, { description: 'Whether nodes that write to it are refused.' })
  isReadonly!: boolean;

  @Field(() => ConnectionTestType, { nullable: true, description: 'Latest connection test; null until there was one.' })
  lastTest!: ConnectionTestType | null;

  @Field(() => ActorType, { description: 'Who registered it.' })
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'When it was registered.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When its settings were last changed.' })
  updatedAt!: string;
}

export const DatasourceConnection = connectionType('Datasource', () => DatasourceType);

@ObjectType('DatasourceGrant', { description: "A workspace's right to use a datasource." })
export class DatasourceGrantType {
  @Field(() => WorkspaceType, { description: 'Whose pipelines may use the datasource.' })
  workspace!: Lazy<WorkspaceType | null>;

  @Field(() => ActorType, { description: 'Who gave the right.' })
  grantedBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'Since when the right has been there.' })
  grantedAt!: string;
}

@ObjectType('SchemaList', { description: 'The schemas of a live database.' })
export class SchemaListType {
  @Field(() => [String], { description: 'Names of the schemas, joined with dots where a dialect has several levels.' })
  schemas!: string[];

  @Field(() => Json, { description: 'The same as `[{namespace, label}]`, for dialects with several levels.' })
  entries!: unknown;

  @Field(() => Boolean, { description: 'Whether there were more than the limit of the deployment lets through.' })
  truncated!: boolean;
}

@ObjectType('Table', { description: 'A table or view of a live database.' })
export class TableType {
  @Field(() => String, { nullable: true, description: 'Its schema; null where the dialect has none.' })
  schema!: string | null;

  @Field(() => [String], {
    description: 'The schema as a list of levels, outermost first; give it back as `namespace`.',
  })
  namespace!: readonly string[];

  @Field(() => String, { description: 'As the catalog of the database writes it.' })
  name!: string;

  @Field(() => String, { description: 'What the driver calls it, such as `TABLE` or `VIEW`.' })
  type!: string;

  @Field(() => String, { nullable: true, description: 'The comment stored in the database; null without one.' })
  remarks?: string | null;

  /** Facts beside it. */
  learned?: readonly ServedFact[];
}

@ObjectType('TableList', { description: 'The tables of a live database, or of one of its schemas.' })
export class TableListType {
  @Field(() => [TableType], { description: 'Tables and views that the stored user may see.' })
  tables!: TableType[];

  @Field(() => Boolean, { description: 'Whether there were more than the limit of the deployment lets through.' })
  truncated!: boolean;
}

@ObjectType({ description: 'Answer of a mutation of a datasource.' })
export class DatasourcePayload {
  @Field(() => DatasourceType, { description: 'As it is after the change.' })
  datasource!: DatasourceType;
}

/** What a connection test found; a database that does not answer is an outcome, not an error. */
@ObjectType({
  description: 'What a connection test found; a database that does not answer is an outcome, not an error.',
})
export class TestDatasourcePayload extends DatasourcePayload {
  @Field(() => Boolean, { description: 'Whether a connection could be opened and answered.' })
  connected!: boolean;

  @Field(() => DateTime, { description: 'When the database was asked.' })
  testedAt!: string;

  @Field(() => Long, {
    nullable: true,
    description: 'How long connecting and asking took, in milliseconds; null when it failed.',
  })
  latencyMs!: number | null;

  @Field(() => String, { nullable: true, description: 'What the database says it is; null when it failed.' })
  serverVersion!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it failed, without secrets; null when it did not.' })
  error!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Code of the driver, such as `ECONNREFUSED` or `CREDENTIAL`; null when it did not fail.',
  })
  errorClass!: string | null;
}

@ObjectType({ description: 'Answer of granting and revoking.' })
export class DatasourceGrantsPayload {
  @Field(() => [DatasourceGrantType], { description: 'All grants of the datasource after the change.' })
  grants!: DatasourceGrantType[];
}

import { Field, Int, ObjectType } from '@nestjs/graphql';
import type { Dialect } from '#libs/typesystem';
import type { ServedFact } from '#libs/semantics';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { CredentialKindEnum, DialectEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';
import { WorkspaceType } from '../workspaces/workspace.types.js';

@ObjectType('ConnectionTest')
export class ConnectionTestType {
  @Field(() => DateTime)
  testedAt!: string;

  @Field(() => Boolean)
  ok!: boolean;

  @Field(() => String, { nullable: true })
  message!: string | null;
}

/** A datasource; its id is its name. A secret has no place in it. */
@ObjectType('Datasource', { implements: () => [NodeInterface] })
export class DatasourceType extends NodeInterface {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => DialectEnum)
  dialect!: Dialect;

  @Field(() => String)
  jdbcUrl!: string;

  @Field(() => String, { nullable: true })
  username!: string | null;

  @Field(() => CredentialKindEnum)
  credentialKind!: string;

  @Field(() => Boolean)
  passwordSet!: boolean;

  @Field(() => Json)
  properties!: unknown;

  @Field(() => Json)
  pool!: unknown;

  @Field(() => Int, { nullable: true })
  queryTimeoutSeconds!: number | null;

  @Field(() => [String])
  introspectionIncludeSchemas!: readonly string[];

  @Field(() => WorkspaceType, { nullable: true, description: 'Null: of the instance, or of a workspace unseen.' })
  ownerWorkspace!: Lazy<WorkspaceType | null>;

  @Field(() => Boolean)
  isReadonly!: boolean;

  @Field(() => ConnectionTestType, { nullable: true })
  lastTest!: ConnectionTestType | null;

  @Field(() => ActorType)
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;
}

export const DatasourceConnection = connectionType('Datasource', () => DatasourceType);

@ObjectType('DatasourceGrant')
export class DatasourceGrantType {
  @Field(() => WorkspaceType)
  workspace!: Lazy<WorkspaceType | null>;

  @Field(() => ActorType)
  grantedBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  grantedAt!: string;
}

@ObjectType('SchemaList')
export class SchemaListType {
  @Field(() => [String])
  schemas!: string[];

  @Field(() => Json)
  entries!: unknown;

  @Field(() => Boolean)
  truncated!: boolean;
}

@ObjectType('Table')
export class TableType {
  @Field(() => String, { nullable: true })
  schema!: string | null;

  @Field(() => [String])
  namespace!: readonly string[];

  @Field(() => String)
  name!: string;

  @Field(() => String)
  type!: string;

  @Field(() => String, { nullable: true })
  remarks?: string | null;

  /** Facts beside it. */
  learned?: readonly ServedFact[];
}

@ObjectType('TableList')
export class TableListType {
  @Field(() => [TableType])
  tables!: TableType[];

  @Field(() => Boolean)
  truncated!: boolean;
}

@ObjectType()
export class DatasourcePayload {
  @Field(() => DatasourceType)
  datasource!: DatasourceType;
}

/** What a connection test found; a database that does not answer is an outcome, not an error. */
@ObjectType()
export class TestDatasourcePayload extends DatasourcePayload {
  @Field(() => Boolean)
  connected!: boolean;

  @Field(() => DateTime)
  testedAt!: string;

  @Field(() => Int, { nullable: true })
  latencyMs!: number | null;

  @Field(() => String, { nullable: true })
  serverVersion!: string | null;

  @Field(() => String, { nullable: true })
  error!: string | null;

  @Field(() => String, { nullable: true })
  errorClass!: string | null;
}

@ObjectType()
export class DatasourceGrantsPayload {
  @Field(() => [DatasourceGrantType])
  grants!: DatasourceGrantType[];
}

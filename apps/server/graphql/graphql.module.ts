import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { ChecksModule } from '#libs/checks';
import { DatasourcesModule } from '#libs/datasources';
import { EndpointsModule } from '#libs/endpoints';
import { ExecutionsModule } from '#libs/executions';
import { Admission, IdentityModule } from '#libs/identity';
import { LakeModule } from '#libs/lake';
import { MailModule } from '#libs/mail';
import { PipelinesModule } from '#libs/pipelines';
import { PromotionModule } from '#libs/promotion';
import { SemanticsModule } from '#libs/semantics';
import { TemplatesModule } from '#libs/templates';
import { WorkspacesModule } from '#libs/workspaces';
import { ContentChanges } from './content/content-changes.js';
import { DatasourceNodes } from './datasources/datasource-nodes.js';
import { EndpointNodes } from './endpoints/endpoint-nodes.js';
import { GraphqlEngine } from './engine/graphql-engine.js';
import { guardSchema } from './engine/guarded-schema.js';
import { SchemaDriver } from './engine/schema-driver.js';
import { ExecutionNodes } from './executions/execution-nodes.js';
import { ExecutionUpdates } from './executions/execution-updates.js';
import { GraphqlController } from './graphql.controller.js';
import { Actors } from './identity/actor.js';
import { IdentityNodes } from './identity/identity-nodes.js';
import { CheckNodes } from './pipelines/check-nodes.js';
import { PipelineNodes } from './pipelines/pipeline-nodes.js';
import { RESOLVERS } from './schema/resolvers.js';
import { schemaOptions } from './schema/schema-options.js';
import { SseModule } from '../sse/sse.module.js';
import { PersistedOperations } from './persisted/persisted-operations.js';
import { TrustedDocuments } from './persisted/trusted-documents.js';
import { FactNodes } from './semantics/fact-nodes.js';
import { SubscriptionStreams } from './subscriptions/subscription-streams.js';
import { TemplateNodes } from './templates/template-nodes.js';
import { WorkspaceNodes } from './workspaces/workspace-nodes.js';

const FAMILIES = [
  IdentityModule,
  MailModule,
  WorkspacesModule,
  DatasourcesModule,
  LakeModule,
  SemanticsModule,
  TemplatesModule,
  PipelinesModule,
  ChecksModule,
  ExecutionsModule,
  EndpointsModule,
  PromotionModule,
];

const NODES = [
  Actors,
  IdentityNodes,
  WorkspaceNodes,
  DatasourceNodes,
  FactNodes,
  TemplateNodes,
  CheckNodes,
  PipelineNodes,
  ExecutionNodes,
  ExecutionUpdates,
  ContentChanges,
  EndpointNodes,
];

/** The GraphQL door: thin resolvers over the services that REST uses (03 §12, §13). */
@Module({
  imports: [
    ...FAMILIES,
    SseModule,
    GraphQLModule.forRootAsync({
      driver: SchemaDriver,
      imports: [IdentityModule],
      inject: [Admission],
      useFactory: (admission: Admission) => ({
        ...schemaOptions,
        transformSchema: (schema) => guardSchema(schema, admission),
      }),
    }),
  ],
  controllers: [GraphqlController],
  providers: [...RESOLVERS, ...NODES, GraphqlEngine, TrustedDocuments, PersistedOperations, SubscriptionStreams],
  exports: [GraphqlEngine],
})
export class GraphqlDoor {}

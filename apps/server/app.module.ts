import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { AuditModule } from '#libs/audit';
import { ServingController } from './endpoints/serving.controller.js';
import { GraphqlDoor } from './graphql/graphql.module.js';
import { HealthController } from './health/health.controller.js';
import { ProcessMetrics } from './health/process-metrics.js';
import { Readiness } from './health/readiness.js';
import { FAMILIES, InfrastructureModule, WiringModule } from './families.module.js';
import { BodyInterceptor } from './http/body.interceptor.js';
import { CanonicalIds } from './http/canonical-ids.js';
import { CsrfCookie } from './http/csrf-cookie.js';
import { DenialInterceptor } from './http/denial.interceptor.js';
import { EnvelopeInterceptor } from './http/envelope.interceptor.js';
import { ErrorFilter } from './http/error.filter.js';
import { OperationGuard } from './http/operation.guard.js';
import { IdentityJobs } from './jobs/identity-jobs.js';
import { McpDoor } from './mcp/mcp.module.js';
import { ApiReference } from './openapi/api-reference.js';
import { DocsController } from './pages/docs.controller.js';
import { PagesController } from './pages/pages.controller.js';
import { AuditController } from './rest/audit.controller.js';
import { GuidesController } from './rest/guides.controller.js';
import { CalculatorsController } from './rest/calculators.controller.js';
import { DatasourcesController } from './rest/datasources.controller.js';
import { EndpointsController } from './rest/endpoints.controller.js';
import { ExecutionsController } from './rest/executions.controller.js';
import { IdentityController } from './rest/identity.controller.js';
import { LakeTablesController } from './rest/lake-tables.controller.js';
import { OidcController } from './rest/oidc.controller.js';
import { Paging } from './rest/paging.js';
import { PasswordResetController } from './rest/password-reset.controller.js';
import { PipelinesController } from './rest/pipelines.controller.js';
import { PromotionController } from './rest/promotion.controller.js';
import { PromotionReceiverController } from './rest/promotion-receiver.controller.js';
import { SemanticsController } from './rest/semantics.controller.js';
import { TemplatesController } from './rest/templates.controller.js';
import { UsersController } from './rest/users.controller.js';
import { WorkspacesController } from './rest/workspaces.controller.js';
import { ExecutionStreams } from './sse/execution-streams.js';
import { SseModule } from './sse/sse.module.js';
import { StreamMetrics } from './sse/stream-metrics.js';

const CONTROLLERS = [
  HealthController,
  PagesController,
  DocsController,
  IdentityController,
  OidcController,
  PasswordResetController,
  UsersController,
  WorkspacesController,
  AuditController,
  DatasourcesController,
  SemanticsController,
  LakeTablesController,
  TemplatesController,
  PipelinesController,
  ExecutionsController,
  EndpointsController,
  PromotionController,
  PromotionReceiverController,
  CalculatorsController,
  GuidesController,
  ServingController,
];

/** The composition root: stores below, families above them, doors on top. */
@Module({})
export class AppModule {
  static with(infrastructure: Provider[]): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DiscoveryModule,
        AuditModule,
        InfrastructureModule.with(infrastructure),
        WiringModule.create(),
        ...FAMILIES,
        GraphqlDoor,
        McpDoor,
        SseModule,
      ],
      controllers: CONTROLLERS,
      providers: [
        Paging,
        CsrfCookie,
        Readiness,
        ProcessMetrics,
        IdentityJobs,
        ExecutionStreams,
        StreamMetrics,
        ApiReference,
        { provide: APP_GUARD, useClass: OperationGuard },
        { provide: APP_PIPE, useClass: CanonicalIds },
        { provide: APP_INTERCEPTOR, useClass: DenialInterceptor },
        { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
        { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
        { provide: APP_FILTER, useExisting: ErrorFilter },
      ],
      exports: [Readiness],
    };
  }
}

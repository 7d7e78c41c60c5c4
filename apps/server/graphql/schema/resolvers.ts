import { AuditResolver } from '../audit/audit.resolver.js';
import { ContentSubscription } from '../content/content-subscription.resolver.js';
import { DatasourceMutations } from '../datasources/datasource-mutations.resolver.js';
import { DatasourceResolver } from '../datasources/datasource.resolver.js';
import { LakeResolver } from '../datasources/lake.resolver.js';
import { ProbeResolver } from '../datasources/probe.resolver.js';
import { ApiKeyBindingsResolver, EndpointResolver, PipelineEndpointsResolver } from '../endpoints/endpoint.resolver.js';
import { ExecutionSubscriptions } from '../executions/execution-subscriptions.resolver.js';
import { ExecutionResolver, PipelineExecutionsResolver } from '../executions/execution.resolver.js';
import { IdentityMutations } from '../identity/identity-mutations.resolver.js';
import { IdentityResolver } from '../identity/identity.resolver.js';
import { UsersResolver } from '../identity/users.resolver.js';
import { CheckResolver } from '../pipelines/check.resolver.js';
import { PipelineMutations } from '../pipelines/pipeline-mutations.resolver.js';
import { PipelineResolver } from '../pipelines/pipeline.resolver.js';
import { TemplateUsersResolver } from '../pipelines/template-users.resolver.js';
import { PromotionResolver } from '../promotion/promotion.resolver.js';
import { CalculatorsResolver } from '../reference/calculators.resolver.js';
import {
  ColumnFactsResolver,
  DatasourceFactsResolver,
  FactResolver,
  TableFactsResolver,
} from '../semantics/fact.resolver.js';
import { TemplateMutations } from '../templates/template-mutations.resolver.js';
import { TemplateResolver } from '../templates/template.resolver.js';
import { WorkspaceMutations } from '../workspaces/workspace-mutations.resolver.js';
import { InstanceResolver } from '../instance/instance.resolver.js';
import { SystemResolver } from '../instance/system.resolver.js';
import { WorkspaceResolver } from '../workspaces/workspace.resolver.js';

/** The classes whose methods are fields of the schema. */
export const RESOLVERS = [
  InstanceResolver,
  SystemResolver,
  IdentityResolver,
  IdentityMutations,
  UsersResolver,
  AuditResolver,
  WorkspaceResolver,
  WorkspaceMutations,
  DatasourceResolver,
  DatasourceMutations,
  ProbeResolver,
  FactResolver,
  DatasourceFactsResolver,
  TableFactsResolver,
  ColumnFactsResolver,
  LakeResolver,
  TemplateResolver,
  TemplateMutations,
  PipelineResolver,
  PipelineMutations,
  CheckResolver,
  TemplateUsersResolver,
  ExecutionResolver,
  PipelineExecutionsResolver,
  ExecutionSubscriptions,
  ContentSubscription,
  EndpointResolver,
  ApiKeyBindingsResolver,
  PipelineEndpointsResolver,
  CalculatorsResolver,
  PromotionResolver,
];

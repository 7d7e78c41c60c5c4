import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { ChecksModule } from '#libs/checks';
import { DatasourcesModule } from '#libs/datasources';
import { EndpointsModule } from '#libs/endpoints';
import { ExecutionsModule } from '#libs/executions';
import { IdentityModule } from '#libs/identity';
import { LakeModule } from '#libs/lake';
import { PipelinesModule } from '#libs/pipelines';
import { SemanticsModule } from '#libs/semantics';
import { TemplatesModule } from '#libs/templates';
import { SkillController } from './docs/skill.controller.js';
import { McpController } from './mcp.controller.js';
import { RequestServers } from './protocol/request-server.js';
import { ResourceListing } from './resources/resource-listing.js';
import { ResourceReader } from './resources/resource-reader.js';
import { CalculatorTools } from './tools/calculators/calculator-tools.js';
import { DatasourceTools } from './tools/datasources/datasource-tools.js';
import { DocTools } from './tools/docs/doc-tools.js';
import { EndpointTools } from './tools/endpoints/endpoint-tools.js';
import { ExecutionTools } from './tools/executions/execution-tools.js';
import { LakeTools } from './tools/lake/lake-tools.js';
import { PipelineTools } from './tools/pipelines/pipeline-tools.js';
import { RunTools } from './tools/pipelines/run-tools.js';
import { SemanticTools } from './tools/semantics/semantic-tools.js';
import { TemplateTools } from './tools/templates/template-tools.js';
import { ToolAudit } from './tools/tool-audit.js';
import { TOOL_FAMILIES, ToolDispatcher } from './tools/tool-dispatcher.js';
import type { ToolFamily } from './tools/tool.js';

const FAMILIES = [
  IdentityModule,
  AuditModule,
  DatasourcesModule,
  TemplatesModule,
  PipelinesModule,
  ChecksModule,
  ExecutionsModule,
  EndpointsModule,
  SemanticsModule,
  LakeModule,
];
const TOOLS = [
  PipelineTools,
  RunTools,
  TemplateTools,
  DatasourceTools,
  ExecutionTools,
  CalculatorTools,
  EndpointTools,
  LakeTools,
  SemanticTools,
  DocTools,
];

/** The MCP door: thin tools over the services that REST and GraphQL use (06 §12). */
@Module({
  imports: FAMILIES,
  controllers: [McpController, SkillController],
  providers: [
    ...TOOLS,
    { provide: TOOL_FAMILIES, inject: TOOLS, useFactory: (...families: ToolFamily[]) => families },
    ResourceListing,
    ResourceReader,
    ToolAudit,
    ToolDispatcher,
    RequestServers,
  ],
})
export class McpDoor {}

import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { ChecksModule } from '#libs/checks';
import { ExecutionsModule } from '#libs/executions';
import { IdentityModule } from '#libs/identity';
import { PipelinesModule } from '#libs/pipelines';
import { McpController } from './mcp.controller.js';
import { RequestServers } from './protocol/request-server.js';
import { PipelineTools } from './tools/pipelines/pipeline-tools.js';
import { RunTools } from './tools/pipelines/run-tools.js';
import { ToolAudit } from './tools/tool-audit.js';
import { TOOL_FAMILIES, ToolDispatcher } from './tools/tool-dispatcher.js';
import type { ToolFamily } from './tools/tool.js';

const FAMILIES = [IdentityModule, AuditModule, PipelinesModule, ChecksModule, ExecutionsModule];
const TOOLS = [PipelineTools, RunTools];

/** The MCP door: thin tools over the services that REST and GraphQL use (06 §12). */
@Module({
  imports: FAMILIES,
  controllers: [McpController],
  providers: [
    ...TOOLS,
    { provide: TOOL_FAMILIES, inject: TOOLS, useFactory: (...families: ToolFamily[]) => families },
    ToolAudit,
    ToolDispatcher,
    RequestServers,
  ],
})
export class McpDoor {}

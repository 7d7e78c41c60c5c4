import { Injectable } from '@nestjs/common';
import { ExecutionEvents, ExecutionService } from '#libs/executions';
import { Admission, type OperationId } from '#libs/identity';
import { Configuration, Logger, writeJson, type Principal } from '#libs/kernel';
import { PipelineReading } from '#libs/pipelines';
import { AnnotatedCatalog } from '#libs/semantics';
import { TemplateReading } from '#libs/templates';
import { toPenstockError } from '../../http/failure.js';
import { findDocPage } from '../docs/doc-pages.js';
import { internal, RPC, RpcError } from '../protocol/rpc-error.js';
import { everyEntry } from '../tools/every-entry.js';
import { ToolAudit, type CallOutcome } from '../tools/tool-audit.js';
import { parseResourceUri, type Resource } from './resource-uri.js';

export interface ResourceContent {
  uri: string;
  mimeType: string;
  text: string;
}

const OPERATIONS: Readonly<Record<Resource['kind'], OperationId>> = {
  doc: 'reference.read',
  pipeline: 'pipeline.read',
  template: 'template.read',
  datasources: 'datasource.read',
  datasource: 'datasource.read',
  execution: 'execution.read',
};
const MAX_EVENTS = 500;

/** Reads one resource, by the services behind the tools. What is missing and what may not be read are alike. */
@Injectable()
export class ResourceReader {
  readonly #pageSize: number;

  constructor(
    private readonly admission: Admission,
    private readonly pipelines: PipelineReading,
    private readonly templates: TemplateReading,
    private readonly datasources: AnnotatedCatalog,
    private readonly executions: ExecutionService,
    private readonly events: ExecutionEvents,
    private readonly audit: ToolAudit,
    private readonly log: Logger,
    configuration: Configuration,
  ) {
    this.#pageSize = configuration.get('datapipelines.web.page-max-limit');
  }

  /** @throws RpcError −32002; −32603 for a failure of ours */
  async read(principal: Principal, uri: string): Promise<ResourceContent> {
    const startedAt = performance.now();
    let outcome: CallOutcome = 'success';
    try {
      const resource = parseResourceUri(uri);
      if (!resource) throw notFound(uri);
      const operation = OPERATIONS[resource.kind];
      await this.admission.admit(principal, operation, { path: '/mcp', method: 'POST' });
      const content = await this.admission.carryOut(principal, operation, () => this.#content(principal, resource));
      if (content === undefined) throw notFound(uri);
      if (typeof content === 'string') return { uri, mimeType: 'text/markdown', text: content };
      return { uri, mimeType: 'application/json', text: writeJson(content) };
    } catch (failure) {
      outcome = 'refused';
      if (failure instanceof RpcError) throw failure;
      const error = toPenstockError(failure);
      if (error.status < 500) throw notFound(uri);
      outcome = 'failed';
      const { correlationId } = principal;
      this.log.error('A resource could not be read.', { correlation_id: correlationId, error: error.cause ?? error });
      throw internal(error);
    } finally {
      await this.audit.resourceRead(principal, uri, outcome, startedAt);
    }
  }

  async #content(principal: Principal, resource: Resource): Promise<object | string | undefined> {
    switch (resource.kind) {
      case 'doc':
        return findDocPage(resource.name)?.markdown();
      case 'pipeline': {
        const view = await this.pipelines.read(principal, resource.id, resource.version);
        const { id, version, parameters = {} } = view;
        return resource.parameters ? { pipeline_id: id, version, parameters } : view;
      }
      case 'template':
        return this.templates.read(principal, resource.name, resource.version);
      case 'datasources': {
        const { items, total } = await everyEntry(this.#pageSize, {
          page: (asked) => this.datasources.datasources(principal, {}, asked),
          count: () => this.datasources.count(principal, {}),
          placeOf: ({ name }) => name,
        });
        return { datasources: items, ...(items.length < total ? { total, truncated: true } : {}) };
      }
      case 'datasource':
        return this.datasources.datasource(principal, resource.name);
      case 'execution':
        if (!resource.events) return this.executions.read(principal, resource.id);
        return { ...(await this.events.page(principal, resource.id, { after: 0, limit: MAX_EVENTS })) };
    }
  }
}

function notFound(uri: string): RpcError {
  return new RpcError(RPC.resourceNotFound, 'There is no such resource.', { uri: uri.slice(0, 200) });
}

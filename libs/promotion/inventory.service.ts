import { Injectable } from '@nestjs/common';
import { DatasourceAccess } from '#libs/datasources';
import { EndpointTransfer } from '#libs/endpoints';
import { authorise, WorkspaceDirectory } from '#libs/identity';
import { Configuration, type Principal } from '#libs/kernel';
import { PipelineClosure } from '#libs/pipelines';
import { postureOf, TemplateTransfer } from '#libs/templates';
import type { Inventory } from './inventory.js';

/** Tells a promoting deployment what stands here (contract 05 §13). */
@Injectable()
export class InventoryService {
  constructor(
    private readonly configuration: Configuration,
    private readonly workspaces: WorkspaceDirectory,
    private readonly pipelines: PipelineClosure,
    private readonly templates: TemplateTransfer,
    private readonly datasources: DatasourceAccess,
    private readonly endpoints: EndpointTransfer,
  ) {}

  /** @throws `workspace.not_found` for one that is unknown, inactive or not the key's own */
  async read(principal: Principal, workspaceName: string): Promise<Inventory> {
    const addressed = await this.workspaces.addressed(principal, workspaceName);
    const { id, name } = authorise(principal, 'promotion.receive', addressed);
    const [pipelines, templates, datasources, endpoints, keys] = await Promise.all([
      this.pipelines.current(id),
      this.templates.current(id),
      this.datasources.visibleNames(id),
      this.endpoints.files(id),
      this.endpoints.keyNames(id),
    ]);
    return {
      deployment: this.configuration.get('datapipelines.env'),
      authoring_enabled: postureOf(this.configuration).authoringEnabled,
      workspace: name,
      pipelines: pipelines.map(entry),
      templates: templates.map(entry),
      datasources,
      endpoints,
      endpoint_keys: keys,
    };
  }
}

function entry({ name, version, bodyHash }: { name: string; version: number; bodyHash: string }) {
  return { name, current_version: version, body_hash: bodyHash };
}

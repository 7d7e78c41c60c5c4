import { Injectable } from '@nestjs/common';
import { ResultShapes, type WireColumn } from '#libs/executions';
import { authorise } from '#libs/identity';
import { Configuration, type Principal } from '#libs/kernel';
import { PipelineCatalog, type ParameterDeclaration } from '#libs/pipelines';
import type { EndpointView } from './endpoint-views.js';
import { EndpointService } from './endpoint.service.js';
import { isServable } from './served-versions.js';

/** What a caller of one endpoint has to know. */
export interface EndpointContract {
  endpoint: EndpointView;
  /** Of the version that is served; undefined while none is. */
  version: number | undefined;
  parameters: ReadonlyMap<string, ParameterDeclaration>;
  /** As last seen; undefined until a run delivered rows. */
  columns: readonly WireColumn[] | undefined;
}

/** Describes published endpoints for those who call them (03 §8). */
@Injectable()
export class EndpointReference {
  constructor(
    private readonly endpoints: EndpointService,
    private readonly pipelines: PipelineCatalog,
    private readonly shapes: ResultShapes,
    private readonly configuration: Configuration,
  ) {}

  /** @throws `endpoint.not_found` */
  async describe(principal: Principal, path: string): Promise<EndpointContract> {
    const workspace = authorise(principal, 'endpoint.read');
    const endpoint = await this.endpoints.read(principal, path);
    const current = await this.pipelines.released(workspace.id, endpoint.pipeline_id);
    const served = current && isServable(current, this.configuration) ? current : undefined;
    return {
      endpoint,
      version: served?.version,
      parameters: served?.document.parameters ?? new Map(),
      columns: served && (await this.shapes.newest(served.pipelineId, served.version)),
    };
  }
}

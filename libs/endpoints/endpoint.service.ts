import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { authorise } from '#libs/identity';
import {
  Configuration,
  canonicalId,
  isUuid,
  PenstockError,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { constraintOf, Database, type Queryable, type Transaction } from '#libs/persistence';
import { PipelineCatalog, ReadOnlyPipelines, type ReadOnlyVerdict } from '#libs/pipelines';
import { EndpointRegistry } from './endpoint-registry.js';
import { endpointView, type EndpointView } from './endpoint-views.js';
import { parsePathPattern, withoutRoot, type PathPattern } from './path-pattern.js';
import { PublishedEndpointRepository } from './published-endpoint.repository.js';

/** Wire form of a publication. */
export interface Publication {
  path: string;
  /** Id or name. */
  pipeline: string;
  timeout_seconds?: number;
  description?: string;
  enabled?: boolean;
}

/** Publishing released, side-effect-free pipelines as GET endpoints (03 §7). */
@Injectable()
export class EndpointService {
  readonly #baseUrl: string;

  constructor(
    private readonly database: Database,
    private readonly endpoints: PublishedEndpointRepository,
    private readonly pipelines: PipelineCatalog,
    private readonly readOnly: ReadOnlyPipelines,
    private readonly registry: EndpointRegistry,
    private readonly audit: AuditLog,
    private readonly configuration: Configuration,
  ) {
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  /**
   * @throws `endpoint.path_invalid`, `endpoint.path_variable_unknown` 400; `endpoint.path_conflict`,
   *   `endpoint.pipeline_not_readonly` 409; the pipeline's 404
   */
  async publish(principal: Principal, request: Publication): Promise<EndpointView> {
    const workspace = authorise(principal, 'endpoint.publish');
    const pattern = parsePathPattern(request.path);
    const pipelineId = await this.publishable(workspace.id, request.pipeline, pattern);
    try {
      return await this.database.transaction(async (tx) => {
        await this.refuseConflict(tx, workspace.id, pattern);
        const id = await this.endpoints.insert(tx, {
          workspaceId: workspace.id,
          pattern,
          pipelineId,
          timeoutSeconds: this.clampTimeout(request.timeout_seconds),
          description: request.description ?? '',
          isEnabled: request.enabled ?? true,
          createdBy: principal.userId,
        });
        await this.audit.append(tx, principal, 'endpoint.published', { endpoint_id: id, path: pattern.text });
        tx.afterCommit(() => this.registry.announceChange());
        return this.#view(tx, workspace.id, pattern.text);
      });
    } catch (error) {
      if (constraintOf(error)?.name === 'published_endpoints_path_pattern_key') throw pathConflict(null);
      throw error;
    }
  }

  /** By path, which `after` and `before` are. */
  async list(principal: Principal, page: KeysetPage): Promise<KeysetListing<EndpointView>> {
    const { items, ...more } = await this.endpoints.page(authorise(principal, 'endpoint.read').id, page);
    return { items: items.map((endpoint) => endpointView(endpoint, this.#baseUrl)), ...more };
  }

  async count(principal: Principal): Promise<number> {
    return this.endpoints.count(authorise(principal, 'endpoint.read').id);
  }

  async read(principal: Principal, path: string): Promise<EndpointView> {
    return this.#view(this.database, authorise(principal, 'endpoint.read').id, withoutRoot(path));
  }

  /** Endpoints by pipeline, for lists; pipelines without one are absent. */
  async ofPipelines(principal: Principal, pipelineIds: readonly string[]): Promise<Map<string, EndpointView[]>> {
    const found = await this.endpoints.ofPipelines(authorise(principal, 'endpoint.read').id, pipelineIds);
    const byPipeline = new Map<string, EndpointView[]>();
    for (const endpoint of found) {
      const views = byPipeline.get(endpoint.pipelineId) ?? [];
      byPipeline.set(endpoint.pipelineId, [...views, endpointView(endpoint, this.#baseUrl)]);
    }
    return byPipeline;
  }

  /** The path is fixed; what is absent stays. */
  async update(principal: Principal, path: string, change: Partial<Omit<Publication, 'path'>>): Promise<EndpointView> {
    const workspace = authorise(principal, 'endpoint.publish');
    const pattern = parsePathPattern(path);
    const pipelineId =
      change.pipeline === undefined ? undefined : await this.publishable(workspace.id, change.pipeline, pattern);
    return this.database.transaction(async (tx) => {
      const updated = await this.endpoints.update(tx, workspace.id, pattern.text, {
        pipelineId,
        timeoutSeconds: change.timeout_seconds === undefined ? undefined : this.clampTimeout(change.timeout_seconds),
        description: change.description,
        isEnabled: change.enabled,
      });
      if (!updated) throw new PenstockError('endpoint.not_found');
      const view = await this.#view(tx, workspace.id, pattern.text);
      await this.audit.append(tx, principal, 'endpoint.published', { endpoint_id: view.id, path: view.path });
      tx.afterCommit(() => this.registry.announceChange());
      return view;
    });
  }

  /** Its key bindings stay: the node may be published again. */
  async unpublish(principal: Principal, path: string): Promise<void> {
    const workspace = authorise(principal, 'endpoint.unpublish');
    await this.database.transaction(async (tx) => {
      const id = await this.endpoints.remove(tx, workspace.id, withoutRoot(path));
      if (id === undefined) throw new PenstockError('endpoint.not_found');
      await this.audit.append(tx, principal, 'endpoint.unpublished', { endpoint_id: id, path: withoutRoot(path) });
      tx.afterCommit(() => this.registry.announceChange());
    });
  }

  async #view(q: Pick<Transaction, 'query' | 'execute'>, workspaceId: string, path: string): Promise<EndpointView> {
    const endpoint = await this.endpoints.findByPath(q, workspaceId, path);
    if (!endpoint) throw new PenstockError('endpoint.not_found');
    return endpointView(endpoint, this.#baseUrl);
  }

  /** The pipeline's id, if what it would serve today may be served by GET and knows the path's variables. */
  async publishable(
    workspaceId: string,
    idOrName: string,
    pattern: PathPattern,
    q: Queryable = this.database,
  ): Promise<string> {
    const id = isUuid(idOrName) ? canonicalId(idOrName) : await this.pipelines.idOf(workspaceId, idOrName, q);
    const pipeline =
      id === undefined
        ? undefined
        : ((await this.pipelines.released(workspaceId, id, q)) ??
          (await this.pipelines.forRun(workspaceId, id, undefined, q)));
    if (!pipeline) throw new PenstockError('pipeline.execution.not_found');
    requireReadOnly(await this.readOnly.judge(workspaceId, pipeline.document, q), 409);
    const unknown = pattern.variables.find((name) => !pipeline.document.parameters.has(name));
    if (unknown !== undefined) {
      throw new PenstockError('endpoint.path_variable_unknown', {
        message: `The path's variable {${unknown}} is no parameter of the pipeline.`,
        details: { variable: unknown, parameters: [...pipeline.document.parameters.keys()] },
      });
    }
    return pipeline.pipelineId;
  }

  /** @throws `endpoint.path_conflict`; holds the publish lock until the transaction ends */
  async refuseConflict(tx: Transaction, workspaceId: string, pattern: PathPattern): Promise<void> {
    const conflicting = await this.endpoints.findConflict(tx, pattern);
    if (!conflicting) return;
    // Another workspace's path is nobody's business here.
    throw pathConflict(conflicting.workspaceId === workspaceId ? conflicting.pattern.text : null);
  }

  /** Seconds within the bounds of this deployment; its default for none. */
  clampTimeout(seconds: number | undefined): number {
    const wanted = seconds ?? this.configuration.get('datapipelines.endpoints.timeout-default-seconds');
    const least = this.configuration.get('datapipelines.endpoints.timeout-min-seconds');
    const most = this.configuration.get('datapipelines.endpoints.timeout-max-seconds');
    return Math.min(Math.max(wanted, least), most);
  }
}

/** @throws `endpoint.pipeline_not_readonly` with the node that writes */
export function requireReadOnly(verdict: ReadOnlyVerdict, status: 409 | 503): void {
  if (verdict.ok) return;
  throw new PenstockError('endpoint.pipeline_not_readonly', {
    message: `The node “${verdict.nodeId}” writes; only pipelines that read may be served by GET.`,
    details: {
      node_id: verdict.nodeId,
      ...(verdict.datasource === undefined ? {} : { datasource: verdict.datasource }),
    },
    status,
  });
}

function pathConflict(path: string | null): PenstockError {
  return new PenstockError('endpoint.path_conflict', {
    message:
      path === null
        ? 'Another published path matches some of the same URLs.'
        : `The published path “${path}” matches some of the same URLs.`,
    details: { conflicting_path: path },
  });
}

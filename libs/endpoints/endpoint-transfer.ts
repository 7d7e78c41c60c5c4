import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { Configuration, PenstockError, type ActingWorkspace, type JsonValue, type Principal } from '#libs/kernel';
import type { Queryable, Transaction } from '#libs/persistence';
import { EndpointRegistry } from './endpoint-registry.js';
import { EndpointService } from './endpoint.service.js';
import { readEndpointFiles, type EndpointFile, type ReadEndpointFile } from './endpoint-file.js';
import { KeyBindingRepository, type KeyBinding } from './key-binding.repository.js';
import { ancestors } from './path-pattern.js';
import { PublishedEndpointRepository } from './published-endpoint.repository.js';
import type { PublishedEndpoint } from './published-endpoint.js';

/** What became of one endpoint. `changed` is false when it stood here as it came. */
export interface PlacedEndpoint {
  path: string;
  pipeline: string;
  changed: boolean;
}

/** Endpoints between deployments, with the keys of their nodes by name. Authorises nothing: its callers did. */
@Injectable()
export class EndpointTransfer {
  constructor(
    private readonly configuration: Configuration,
    private readonly endpoints: PublishedEndpointRepository,
    private readonly bindings: KeyBindingRepository,
    private readonly service: EndpointService,
    private readonly registry: EndpointRegistry,
    private readonly audit: AuditLog,
  ) {}

  /** The endpoints of a workspace by path, or of some of its pipelines. */
  async files(workspaceId: string, pipelineIds?: readonly string[]): Promise<EndpointFile[]> {
    const [published, bindings] = await Promise.all([
      pipelineIds === undefined
        ? this.endpoints.ofWorkspace(workspaceId)
        : this.endpoints.ofPipelines(workspaceId, pipelineIds),
      this.bindings.list(workspaceId),
    ]);
    return published.map((endpoint) => endpointFile(endpoint, bindings));
  }

  /** Names of the endpoint keys that a binding could name. */
  keyNames(workspaceId: string): Promise<string[]> {
    return this.bindings.liveKeyNames(workspaceId);
  }

  /** @throws PenstockError with everything that is wrong in the entries */
  read(path: string, entries: JsonValue | undefined): ReadEndpointFile[] {
    return readEndpointFiles(path, entries, this.configuration.get('datapipelines.limits.max-import-entries'));
  }

  /** @throws `endpoint.promotion.key_missing` 409 with every name that no live endpoint key of the workspace has */
  async requireKeys(
    q: Queryable,
    workspaceId: string,
    files: readonly ReadEndpointFile[],
  ): Promise<Map<string, string>> {
    const names = [...new Set(files.flatMap(({ bindings }) => bindings.map(({ key_name: name }) => name)))];
    const keys = await this.bindings.keysNamed(q, workspaceId, names);
    const missing = names.filter((name) => !keys.has(name));
    if (missing.length > 0) throw keysMissing(missing);
    return keys;
  }

  /**
   * Publishes what is new, changes what differs, and binds the keys where they do not decide yet: bindings that only
   * this deployment has stay. The pipelines they name are stored by now.
   *
   * @throws as a publication does
   */
  async store(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    files: readonly ReadEndpointFile[],
  ): Promise<PlacedEndpoint[]> {
    if (files.length === 0) return [];
    const keys = await this.requireKeys(tx, workspace.id, files);
    const placed: PlacedEndpoint[] = [];
    for (const file of files) {
      const published = await this.#publish(tx, workspace, principal, file);
      const bound = await this.#bind(tx, workspace, principal, file, keys);
      placed.push({ path: file.path, pipeline: file.pipeline, changed: published || bound });
    }
    if (placed.some(({ changed }) => changed)) tx.afterCommit(() => this.registry.announceChange());
    return placed;
  }

  async #publish(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    file: ReadEndpointFile,
  ): Promise<boolean> {
    const pipelineId = await this.service.publishable(workspace.id, file.pipeline, file.pattern, tx);
    const { description, enabled: isEnabled } = file;
    // The bounds of this deployment, as for one that is published here.
    const timeoutSeconds = this.service.clampTimeout(file.timeout_seconds);
    const wanted = { pipelineId, timeoutSeconds, description, isEnabled };
    const existing = await this.endpoints.findByPath(tx, workspace.id, file.path);
    if (existing && isAs(existing, wanted)) return false;
    // The row may be unpublished between the two statements: it is new then.
    const isThere = existing !== undefined && (await this.endpoints.update(tx, workspace.id, file.path, wanted));
    if (!isThere) await this.service.refuseConflict(tx, workspace.id, file.pattern);
    const made = { workspaceId: workspace.id, pattern: file.pattern, createdBy: principal.userId, ...wanted };
    const id = isThere ? existing.id : await this.endpoints.insert(tx, made);
    const actor = { ...principal, workspace };
    await this.audit.append(tx, actor, 'endpoint.published', { endpoint_id: id, path: file.path });
    return true;
  }

  /**
   * At the path itself, wherever its sender has them: a node above would begin to decide for its neighbours, or let the
   * keys in to them as well. Where the node of the sender decides here too, and has the keys, they stand.
   */
  async #bind(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { path, bindings }: ReadEndpointFile,
    keys: ReadonlyMap<string, string>,
  ): Promise<boolean> {
    if (bindings.length === 0) return false;
    const deciding = decidingBindings(path, await this.bindings.list(workspace.id, tx));
    const stands = ({ path_prefix: node, key_name: name }: EndpointFile['bindings'][number]): boolean =>
      deciding.some((at) => at.apiKeyId === keys.get(name) && [node, path].includes(at.pathPrefix));
    if (bindings.every(stands)) return false;
    for (const keyId of new Set(bindings.flatMap(({ key_name: name }) => keys.get(name) ?? []))) {
      if (!(await this.bindings.insert(tx, workspace.id, path, keyId, principal.userId))) continue;
      const details = { api_key_id: keyId, path_prefix: path };
      await this.audit.append(tx, { ...principal, workspace }, 'endpoint.key_bound', details);
    }
    return true;
  }
}

/** Those of the node that decides who may call a path: the deepest at or above it that has any. */
function decidingBindings(path: string, bindings: readonly KeyBinding[]): readonly KeyBinding[] {
  const node = ancestors(path).find((at) => bindings.some(({ pathPrefix }) => pathPrefix === at));
  return bindings.filter(({ pathPrefix }) => pathPrefix === node);
}

function endpointFile(endpoint: PublishedEndpoint, all: readonly KeyBinding[]): EndpointFile {
  const bindings = new Map(
    decidingBindings(endpoint.pattern.text, all).map(({ pathPrefix, keyName }) => [keyName, pathPrefix]),
  );
  return {
    path: endpoint.pattern.text,
    pipeline: endpoint.pipelineName,
    timeout_seconds: endpoint.timeoutSeconds,
    description: endpoint.description,
    enabled: endpoint.isEnabled,
    bindings: [...bindings].map(([name, prefix]) => ({ path_prefix: prefix, key_name: name })),
  };
}

function isAs(
  endpoint: PublishedEndpoint,
  wanted: Pick<PublishedEndpoint, 'pipelineId' | 'timeoutSeconds' | 'description' | 'isEnabled'>,
): boolean {
  return (
    endpoint.pipelineId === wanted.pipelineId &&
    endpoint.timeoutSeconds === wanted.timeoutSeconds &&
    endpoint.description === wanted.description &&
    endpoint.isEnabled === wanted.isEnabled
  );
}

export function keysMissing(names: readonly string[]): PenstockError {
  return new PenstockError('endpoint.promotion.key_missing', {
    message: `The target has no live endpoint key named ${names.slice(0, 10).join(', ')}: create it there, then promote again.`,
    details: { keys: names },
  });
}

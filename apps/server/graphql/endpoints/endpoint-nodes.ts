import { Injectable } from '@nestjs/common';
import { KeyBindingService, type EndpointView, type KeyBindingView } from '#libs/endpoints';
import { Batch } from '../engine/batch.js';
import type { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import type { KeyBindingType, PublishedEndpointType } from './endpoint.types.js';

/** All bindings of the workspace: they are few, and every lookup is about some of them. */
const ALL = 'all';

/** Makes endpoints and bindings of what the services give. */
@Injectable()
export class EndpointNodes {
  readonly #bindings: Batch<string, KeyBindingView[]>;

  constructor(
    private readonly actors: Actors,
    bindings: KeyBindingService,
  ) {
    this.#bindings = new Batch(async (principal) => new Map([[ALL, await bindings.list(principal)]]));
  }

  endpoint(view: EndpointView): PublishedEndpointType {
    return {
      id: view.id,
      path: view.path,
      url: view.url,
      pipelineId: view.pipeline_id,
      timeoutSeconds: view.timeout_seconds,
      description: view.description,
      isEnabled: view.enabled,
      pathVariables: view.path_variables,
      bindings: (_args, context) => this.bindings(context, ({ path_prefix }) => covers(path_prefix, view.path)),
      createdBy: this.actors.of(view.created_by),
      createdAt: view.created_at,
      updatedAt: view.updated_at,
    };
  }

  binding(view: KeyBindingView): KeyBindingType {
    return {
      pathPrefix: view.path_prefix,
      keyId: view.api_key_id,
      keyName: view.api_key_name,
      createdBy: this.actors.of(view.created_by),
      createdAt: view.created_at,
    };
  }

  /** The bindings of the acting workspace that `which` picks; none where there is no workspace. */
  async bindings(context: OperationContext, which: (view: KeyBindingView) => boolean): Promise<KeyBindingType[]> {
    if (!context.principal.workspace) return [];
    const all = (await context.load(this.#bindings, ALL)) ?? [];
    return all.filter(which).map((view) => this.binding(view));
  }
}

/** Whether a prefix is the path itself or a node above it. */
function covers(prefix: string, path: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}

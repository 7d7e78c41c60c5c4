import { Args, Context, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { EndpointService, KeyBindingService, type BindingAddress, type EndpointView } from '#libs/endpoints';
import { PenstockError, type Principal } from '#libs/kernel';
import type { OperationContext as Operation } from '../engine/operation-context.js';
import { Batch } from '../engine/batch.js';
import { ApiKeyType } from '../identity/identity.types.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { PipelineNodes } from '../pipelines/pipeline-nodes.js';
import { PipelineType } from '../pipelines/pipeline.types.js';
import { found } from '../schema/lookup.js';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
import { RootField } from '../schema/root-field.js';
import { EndpointNodes } from './endpoint-nodes.js';
import {
  BindEndpointKeyInput,
  EndpointPayload,
  KeyBindingPayload,
  KeyBindingType,
  PublishedEndpointConnection,
  PublishedEndpointType,
  PublishEndpointInput,
  UnbindEndpointKeyInput,
  UnboundPayload,
  UnpublishEndpointInput,
  UpdateEndpointInput,
} from './endpoint.types.js';

@Resolver(() => PublishedEndpointType)
export class EndpointResolver {
  constructor(
    private readonly endpoints: EndpointService,
    private readonly bindings: KeyBindingService,
    private readonly nodes: EndpointNodes,
    private readonly pipelines: PipelineNodes,
  ) {}

  @Query(() => PublishedEndpointType, {
    nullable: true,
    description: 'A published path; null when it is absent or of another workspace.',
  })
  @RootField('endpoint.read')
  async endpoint(
    @Context('principal') caller: Principal,
    @Args('path', { description: 'As it was published, variables in braces.' }) path: string,
  ): Promise<PublishedEndpointType | null> {
    const view = await found(this.endpoints.read(caller, path));
    return view && this.nodes.endpoint(view);
  }

  @Query(() => PublishedEndpointConnection, {
    name: 'endpoints',
    description: 'The published paths of the active workspace, by path.',
  })
  @RootField('endpoint.read')
  async list(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
  ): Promise<Connection<PublishedEndpointType>> {
    const cursors = new Cursors('endpoints');
    return toConnection(await this.endpoints.list(caller, cursors.page(page)), {
      cursors,
      keyOf: ({ path }) => path,
      nodeOf: (view) => this.nodes.endpoint(view),
      count: () => this.endpoints.count(caller),
    });
  }

  @ResolveField(() => PipelineType, { description: 'The pipeline whose current release it runs.' })
  pipeline(
    @Parent() { pipelineId }: PublishedEndpointType,
    @Context() context: Operation,
  ): Promise<PipelineType | undefined> {
    return this.pipelines.load(context, pipelineId);
  }

  @Mutation(() => EndpointPayload, { description: 'Puts a pipeline on the air under a path that nobody has.' })
  @RootField('endpoint.publish')
  async publishEndpoint(
    @Context('principal') caller: Principal,
    @InputArg() { path, pipeline, ...settings }: PublishEndpointInput,
  ): Promise<EndpointPayload> {
    return this.#payload(await this.endpoints.publish(caller, { path, pipeline, ...settingsOf(settings) }));
  }

  @Mutation(() => EndpointPayload, { description: 'Changes what a published path runs or how it answers.' })
  @RootField('endpoint.publish')
  async updateEndpoint(
    @Context('principal') caller: Principal,
    @InputArg() { path, pipeline, ...settings }: UpdateEndpointInput,
  ): Promise<EndpointPayload> {
    const change = { ...(pipeline == null ? {} : { pipeline }), ...settingsOf(settings) };
    return this.#payload(await this.endpoints.update(caller, path, change));
  }

  @Mutation(() => DeletedPayload, { description: 'Takes a path off the air; callers get 404 from then on.' })
  @RootField('endpoint.unpublish')
  async unpublishEndpoint(
    @Context('principal') caller: Principal,
    @InputArg() { path }: UnpublishEndpointInput,
  ): Promise<DeletedPayload> {
    const { id } = await this.endpoints.read(caller, path);
    await this.endpoints.unpublish(caller, path);
    return { deletedId: id };
  }

  @Mutation(() => KeyBindingPayload, { description: 'Lets an endpoint key call the paths below a prefix.' })
  @RootField('api_key.bind')
  async bindEndpointKey(
    @Context('principal') caller: Principal,
    @InputArg() input: BindEndpointKeyInput,
  ): Promise<KeyBindingPayload> {
    return { binding: this.nodes.binding(await this.bindings.bind(caller, addressOf(input))) };
  }

  @Mutation(() => UnboundPayload, { description: 'Takes the paths below a prefix from an endpoint key.' })
  @RootField('api_key.bind')
  async unbindEndpointKey(
    @Context('principal') caller: Principal,
    @InputArg() input: UnbindEndpointKeyInput,
  ): Promise<UnboundPayload> {
    await this.bindings.unbind(caller, addressOf(input));
    return { pathPrefix: input.pathPrefix };
  }

  #payload(view: EndpointView): EndpointPayload {
    return { endpoint: this.nodes.endpoint(view) };
  }
}

/** The bindings of a key. */
@Resolver(() => ApiKeyType)
export class ApiKeyBindingsResolver {
  constructor(private readonly nodes: EndpointNodes) {}

  @ResolveField(() => [KeyBindingType], { description: 'Paths an endpoint key may call; empty for the other kinds.' })
  bindings(@Parent() { id }: ApiKeyType, @Context() context: Operation): Promise<KeyBindingType[]> {
    return this.nodes.bindings(context, ({ api_key_id }) => api_key_id === id);
  }
}

/** The endpoints of a pipeline. */
@Resolver(() => PipelineType)
export class PipelineEndpointsResolver {
  readonly #byPipeline: Batch<string, EndpointView[]>;

  constructor(
    private readonly nodes: EndpointNodes,
    endpoints: EndpointService,
  ) {
    this.#byPipeline = new Batch((principal, ids) => endpoints.ofPipelines(principal, ids));
  }

  @ResolveField(() => [PublishedEndpointType], { description: 'Published paths that run this pipeline.' })
  async endpoints(@Parent() { id }: PipelineType, @Context() context: Operation): Promise<PublishedEndpointType[]> {
    return ((await context.load(this.#byPipeline, id)) ?? []).map((view) => this.nodes.endpoint(view));
  }
}

function settingsOf({ timeoutSeconds, description, enabled }: Partial<PublishEndpointInput>) {
  return {
    ...(timeoutSeconds == null ? {} : { timeout_seconds: timeoutSeconds }),
    ...(description == null ? {} : { description }),
    ...(enabled == null ? {} : { enabled }),
  };
}

function addressOf({ pathPrefix, apiKeyId, apiKeyName }: BindEndpointKeyInput): BindingAddress {
  if ((apiKeyId == null) === (apiKeyName == null)) {
    throw new PenstockError('pipeline.execution.invalid_parameter_type', {
      message: 'Name the key by “apiKeyId” or by “apiKeyName”.',
      details: { field: 'apiKeyId', reason: 'field' },
    });
  }
  return { pathPrefix, apiKeyId: apiKeyId ?? undefined, apiKeyName: apiKeyName ?? undefined };
}

import { Args, Context, Int, Mutation, Parent, Query, ResolveField, Resolver, ID } from '@nestjs/graphql';
import {
  ExecutionEvents,
  ExecutionResults,
  ExecutionService,
  Launcher,
  type EventPage,
  type ResultPage,
} from '#libs/executions';
import { isPenstockError, pageOfList, PenstockError, type KeysetPage, type Principal } from '#libs/kernel';
import { Batch } from '../engine/batch.js';
import { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { turned, turnedPage } from '../paging/list-page.js';
import { PipelineType } from '../pipelines/pipeline.types.js';
import { Long } from '../scalars/long.scalar.js';
import { filterOf } from '../schema/filter.js';
import { jsonObjectOf } from '../schema/json-input.js';
import { pagesOfParents } from '../schema/page-of-parent.js';
import { InputArg } from '../schema/input-arg.js';
import { Cost, RootField } from '../schema/root-field.js';
import { ExecutionNodes } from './execution-nodes.js';
import {
  CancelExecutionInput,
  ExecutePipelineInput,
  ExecutionFilterInput,
  ExecutionOrderInput,
} from './execution.inputs.js';
import {
  ExecutionConnection,
  ExecutionEventConnection,
  ExecutionPayload,
  ExecutionType,
  ResultPageType,
  type ExecutionEventType,
} from './execution.types.js';

const RESULT_COST = 20;
/** A run emits a handful of events and two per node: all of them are read for any page of them. */
const ALL_EVENTS = 100_000;

@Resolver(() => ExecutionType)
export class ExecutionResolver {
  readonly #events: Batch<string, EventPage>;
  readonly #results;

  constructor(
    private readonly executions: ExecutionService,
    events: ExecutionEvents,
    results: ExecutionResults,
    private readonly launcher: Launcher,
    private readonly nodes: ExecutionNodes,
  ) {
    this.#events = new Batch((principal, ids) => events.pages(principal, ids, { after: 0, limit: ALL_EVENTS }));
    this.#results = pagesOfParents<{ offset?: number; limit?: number }, ResultPage | PenstockError>(
      (principal, ids, _page, asked) => results.pages(principal, ids, asked),
    );
  }

  @Query(() => ExecutionType, {
    nullable: true,
    description: 'A run by its id; null when it is absent or the viewer may not see it.',
  })
  @RootField('execution.read')
  execution(
    @Context() context: OperationContext,
    @Args('id', { type: () => ID, description: 'As the start of the run answered it.' }) id: string,
  ): Promise<ExecutionType | undefined> {
    return this.nodes.load(context, id);
  }

  /** Newest first, unless ordered otherwise. */
  @Query(() => ExecutionConnection, {
    name: 'executions',
    description: 'The runs the viewer may see, newest first unless ordered otherwise.',
  })
  @RootField('execution.read')
  async list(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => ExecutionFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all of it.',
    })
    given?: ExecutionFilterInput | null,
    @Args('orderBy', { type: () => ExecutionOrderInput, nullable: true, description: 'Left out: newest first.' })
    orderBy?: ExecutionOrderInput | null,
  ): Promise<Connection<ExecutionType>> {
    const filter = filterOf(given);
    const oldestFirst = orderBy?.direction === 'ASC';
    const cursors = new Cursors('executions', { ...filter, oldestFirst });
    const asked = cursors.page(page);
    const read = (wanted: KeysetPage) => this.executions.list(caller, filter, wanted);
    const listing = oldestFirst ? turned(await read(turnedPage(asked))) : await read(asked);
    return this.nodes.connection(listing, cursors, { count: () => this.executions.count(caller, filter) });
  }

  /** Rows of the result; the errors of the cursor are the field's. */
  @ResolveField(() => ResultPageType, {
    nullable: true,
    description: 'Delivered rows; null with an error while the run goes on, after it failed, and once they expired.',
  })
  @Cost(RESULT_COST)
  async result(
    @Parent() { id }: ExecutionType,
    @Context() context: OperationContext,
    @Args('offset', { type: () => Long, nullable: true, description: 'Rows to skip; default 0.' })
    offset?: number | null,
    @Args('limit', {
      type: () => Int,
      nullable: true,
      description: 'Rows to give, clamped to 1 and the maximum of the deployment.',
    })
    limit?: number | null,
  ): Promise<ResultPageType> {
    const asked = { offset: offset ?? undefined, limit: limit ?? undefined };
    const page = await context.load(this.#results, { parent: id, page: {}, filter: asked });
    if (!page) throw new PenstockError('result.execution_not_found');
    if (isPenstockError(page)) throw page;
    return this.nodes.result(page);
  }

  @ResolveField(() => ExecutionConnection, { description: 'Runs that its PIPELINE nodes started, newest first.' })
  children(
    @Parent() { id }: ExecutionType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
  ): Promise<Connection<ExecutionType>> {
    return this.nodes.pageOf(context, 'parent', id, {}, page);
  }

  @ResolveField(() => ExecutionEventConnection, {
    name: 'events',
    description: 'What happened during the run, in order, while the deployment keeps it.',
  })
  @Cost(RESULT_COST)
  async eventsOf(
    @Parent() { id }: ExecutionType,
    @Context() context: OperationContext,
    @Args() asked: PageArgs,
  ): Promise<Connection<ExecutionEventType>> {
    const told = await context.load(this.#events, id);
    if (!told) throw new PenstockError('result.execution_not_found');
    const { events } = told;
    const keyOf = (event: (typeof events)[number]): string => String(event.event_id).padStart(12, '0');
    const cursors = new Cursors('executionEvents', { id });
    return toConnection(pageOfList(events, keyOf, cursors.page(asked)), {
      cursors,
      keyOf,
      nodeOf: ({ event_id, event, timestamp, data }) =>
        this.nodes.event(id, { eventId: event_id, type: event, timestamp, data: data.text }),
      count: () => events.length,
    });
  }

  /** Starts a run that nobody has to watch; the answer is the running execution. */
  @Mutation(() => ExecutionPayload, {
    description: 'Starts a run and answers at once with it in RUNNING; watch it or ask for its result later.',
  })
  @RootField('pipeline.execute')
  async executePipeline(
    @Context() context: OperationContext,
    @InputArg() input: ExecutePipelineInput,
  ): Promise<ExecutionPayload> {
    const { principal } = context;
    const { executionId } = await this.launcher.launch(principal, {
      pipelineId: input.id,
      version: input.version ?? undefined,
      parameters: input.parametersJson == null ? {} : jsonObjectOf(input.parametersJson, 'parametersJson'),
      triggeredVia: principal.method === 'session' ? 'UI' : 'REST',
      detached: true,
      idempotencyKey: input.idempotencyKey ?? undefined,
      resultTtlSeconds: input.resultTtlSeconds ?? undefined,
      resultPageRows: input.resultPageRows ?? undefined,
    });
    return { execution: await this.nodes.load(context, executionId) };
  }

  /** Asks for the end of a run; `execution_aborted` tells that it came. */
  @Mutation(() => ExecutionPayload, {
    description: 'Asks for the end of a run; it is ABORTED once its statements are cancelled.',
  })
  @RootField('execution.cancel')
  async cancelExecution(
    @Context() context: OperationContext,
    @InputArg() { id }: CancelExecutionInput,
  ): Promise<ExecutionPayload> {
    await this.executions.cancel(context.principal, id);
    return { execution: await this.nodes.load(context, id) };
  }
}

/** The runs of a pipeline. */
@Resolver(() => PipelineType)
export class PipelineExecutionsResolver {
  constructor(private readonly nodes: ExecutionNodes) {}

  @ResolveField(() => ExecutionConnection, {
    description: 'Runs of this pipeline that the viewer may see, newest first.',
  })
  executions(
    @Parent() { id }: PipelineType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => ExecutionFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all of it.',
    })
    given?: ExecutionFilterInput | null,
  ): Promise<Connection<ExecutionType>> {
    return this.nodes.pageOf(context, 'pipeline', id, filterOf(given), page);
  }

  @ResolveField(() => ExecutionType, {
    nullable: true,
    description: 'The newest run the viewer may see; null before the first.',
  })
  lastExecution(
    @Parent() { id }: PipelineType,
    @Context() context: OperationContext,
  ): Promise<ExecutionType | undefined> {
    return this.nodes.latest(context, id);
  }
}

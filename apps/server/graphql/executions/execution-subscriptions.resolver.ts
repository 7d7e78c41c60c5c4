import { Args, Context, ID, Int, Resolver, Subscription } from '@nestjs/graphql';
import { ExecutionEvents } from '#libs/executions';
import { OperationContext } from '../engine/operation-context.js';
import { RootField } from '../schema/root-field.js';
import { ExecutionNodes } from './execution-nodes.js';
import { ExecutionUpdates } from './execution-updates.js';
import { ExecutionEventType, ExecutionType } from './execution.types.js';

@Resolver()
export class ExecutionSubscriptions {
  constructor(
    private readonly events: ExecutionEvents,
    private readonly updates: ExecutionUpdates,
    private readonly nodes: ExecutionNodes,
  ) {}

  /** Every event behind `afterEventId` once, in order, live or replayed; completes after the terminal ones. */
  @Subscription(() => ExecutionEventType, {
    description: 'Every event of a run once and in order, replayed and then live; completes with the run.',
  })
  @RootField('execution.read')
  async executionEvents(
    @Context() { principal, signal }: OperationContext,
    @Args('executionId', { type: () => ID, description: 'The run that is watched.' }) executionId: string,
    @Args('afterEventId', {
      type: () => Int,
      nullable: true,
      description: 'The last `eventId` already seen; left out: from the beginning.',
    })
    afterEventId?: number | null,
  ): Promise<AsyncIterable<{ executionEvents: ExecutionEventType }>> {
    const watch = await this.events.watch(principal, executionId, {
      after: Math.max(0, afterEventId ?? 0),
      signal: signal ?? AbortSignal.abort(),
    });
    return this.#eventsOf(watch.executionId, watch.frames);
  }

  /** A run, or the runs of a pipeline, as they change: at most once a second each. */
  @Subscription(() => ExecutionType, { description: 'Runs as they change, at most once a second each.' })
  @RootField('execution.read')
  executionUpdated(
    @Context() { principal, signal }: OperationContext,
    @Args('pipelineId', {
      type: () => ID,
      nullable: true,
      description: 'Only runs of this pipeline; left out: all of the workspace.',
    })
    pipelineId?: string | null,
    @Args('executionId', { type: () => ID, nullable: true, description: 'Only this run; completes when it ends.' })
    executionId?: string | null,
  ): AsyncIterable<{ executionUpdated: ExecutionType }> {
    const gone = signal ?? AbortSignal.abort();
    const views =
      executionId == null
        ? this.updates.ofPipeline(principal, pipelineId ?? undefined, gone)
        : this.updates.ofExecution(principal, executionId, gone);
    return this.#updatesOf(views);
  }

  async *#eventsOf(executionId: string, frames: Awaited<ReturnType<ExecutionEvents['watch']>>['frames']) {
    for await (const frame of frames) yield { executionEvents: this.nodes.event(executionId, frame) };
  }

  async *#updatesOf(views: ReturnType<ExecutionUpdates['ofExecution']>) {
    for await (const view of views) yield { executionUpdated: this.nodes.execution(view) };
  }
}

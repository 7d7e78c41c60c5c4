import { Args, Context, ID, Resolver, Subscription } from '@nestjs/graphql';
import { Clock, PenstockError } from '#libs/kernel';
import { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { RootField } from '../schema/root-field.js';
import { ContentChanges } from './content-changes.js';
import { ContentChangeType } from './content.types.js';
import type { VersionChange } from './version-changes.js';

@Resolver()
export class ContentSubscription {
  constructor(
    private readonly changes: ContentChanges,
    private readonly actors: Actors,
    private readonly clock: Clock,
  ) {}

  /** Reading a template asks for the same capability and scope as reading a pipeline; its own row is judged below. */
  @Subscription(() => ContentChangeType, {
    description:
      'What others do to the pipeline or template that is open in an editor: what stands there, then each change.',
  })
  @RootField('pipeline.read')
  contentChanged(
    @Context() { principal, signal }: OperationContext,
    @Args('pipelineId', { type: () => ID, nullable: true, description: 'The pipeline that is open.' })
    pipelineId?: string | null,
    @Args('templateName', { type: () => String, nullable: true, description: 'Or the template that is open.' })
    templateName?: string | null,
  ): AsyncIterable<{ contentChanged: ContentChangeType }> {
    const gone = signal ?? AbortSignal.abort();
    if (pipelineId != null && templateName == null) {
      const changes = this.changes.ofPipeline(principal, pipelineId, gone);
      return this.#told(changes, { pipelineId, templateName: null });
    }
    if (templateName != null && pipelineId == null) {
      const changes = this.changes.ofTemplate(principal, templateName, gone);
      return this.#told(changes, { pipelineId: null, templateName });
    }
    throw new PenstockError('pipeline.execution.invalid_parameter_type', {
      message: 'Name what is watched: either “pipelineId” or “templateName”, and not both.',
      details: { field: 'pipelineId', reason: 'field' },
    });
  }

  async *#told(
    changes: AsyncIterable<VersionChange>,
    watched: Pick<ContentChangeType, 'pipelineId' | 'templateName'>,
  ): AsyncGenerator<{ contentChanged: ContentChangeType }, void, void> {
    for await (const { version, status, body_hash, updated_by, updated_at } of changes) {
      yield {
        contentChanged: {
          ...watched,
          version,
          status,
          bodyHash: body_hash,
          updatedBy: this.actors.maybe(updated_by),
          updatedAt: updated_at ?? this.clock.now().toISOString(),
        },
      };
    }
  }
}

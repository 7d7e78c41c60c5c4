import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import { CheckService } from '#libs/checks';
import type { Principal } from '#libs/kernel';
import { PipelineAuthoring, PipelineLifecycle, PipelineTransfer, type PipelineView } from '#libs/pipelines';
import type { OperationContext } from '../engine/operation-context.js';
import { jsonObjectOf, jsonOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { RootField } from '../schema/root-field.js';
import { CheckNodes } from './check-nodes.js';
import { PipelineChecksPayload, RunPipelineChecksInput } from './check.types.js';
import { PipelineNodes } from './pipeline-nodes.js';
import {
  CreatePipelineInput,
  DiscardPipelineVersionInput,
  ImportPipelineInput,
  PurgePipelineDraftInput,
  PurgePipelineInput,
  PurgePipelineVersionInput,
  ReleasePipelineInput,
  RestorePipelineVersionInput,
  SwitchPipelineInput,
  UpdatePipelineInput,
} from './pipeline.inputs.js';
import { ImportedPipelinePayload, PipelinePayload, PurgedPipelinePayload } from './pipeline.types.js';

@Resolver()
export class PipelineMutations {
  constructor(
    private readonly authoring: PipelineAuthoring,
    private readonly lifecycle: PipelineLifecycle,
    private readonly transfer: PipelineTransfer,
    private readonly checks: CheckService,
    private readonly checkNodes: CheckNodes,
    private readonly nodes: PipelineNodes,
  ) {}

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.create')
  async createPipeline(
    @Context() context: OperationContext,
    @Args('input') { definitionJson }: CreatePipelineInput,
  ): Promise<PipelinePayload> {
    const body = jsonOf(definitionJson, 'definitionJson');
    return this.#payload(context, await this.authoring.create(context.principal, body));
  }

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.update')
  async updatePipeline(
    @Context() context: OperationContext,
    @Args('input') { id, definitionJson, expectedHash }: UpdatePipelineInput,
  ): Promise<PipelinePayload> {
    const body = jsonOf(definitionJson, 'definitionJson');
    return this.#payload(context, await this.authoring.update(context.principal, id, body, expectedHash));
  }

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.release')
  async releasePipeline(
    @Context() context: OperationContext,
    @Args('input') { id, expectedHash, releasePinnedTemplates, overrideChecksReason }: ReleasePipelineInput,
  ): Promise<PipelinePayload> {
    const options = {
      releasePinnedTemplates: releasePinnedTemplates ?? false,
      overrideChecksReason: overrideChecksReason ?? undefined,
    };
    return this.#payload(context, await this.lifecycle.release(context.principal, id, expectedHash, options));
  }

  /** Runs every check now; each run is in the history before the answer. */
  @Mutation(() => PipelineChecksPayload)
  @RootField('pipeline.run_checks')
  async runPipelineChecks(
    @Context() context: OperationContext,
    @Args('input') { id, version, parametersJson }: RunPipelineChecksInput,
  ): Promise<PipelineChecksPayload> {
    const given = parametersJson == null ? undefined : jsonObjectOf(parametersJson, 'parametersJson');
    const done = await this.checks.run(context.principal, id, version ?? undefined, given, context.deadline.signal);
    return { version: done.version, runs: done.runs.map((run) => this.checkNodes.run(run)) };
  }

  /** An exported file, all or nothing. */
  @Mutation(() => ImportedPipelinePayload)
  @RootField('pipeline.import')
  async importPipeline(
    @Context() context: OperationContext,
    @Args('input') { definitionJson }: ImportPipelineInput,
  ): Promise<ImportedPipelinePayload> {
    const file = jsonObjectOf(definitionJson, 'definitionJson');
    const { pipeline, imported } = await this.transfer.import(context.principal, file);
    return { ...(await this.#payload(context, pipeline)), imported };
  }

  /** Deletes the draft and its executions. */
  @Mutation(() => DeletedPayload)
  @RootField('pipeline.purge')
  async purgePipelineDraft(
    @Context('principal') caller: Principal,
    @Args('input') { id, expectedHash }: PurgePipelineDraftInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeDraft(caller, id, expectedHash);
    return { deletedId: id };
  }

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.discard')
  async discardPipelineVersion(
    @Context() context: OperationContext,
    @Args('input') { id, version }: DiscardPipelineVersionInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.discard(context.principal, id, version));
  }

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.restore')
  async restorePipelineVersion(
    @Context() context: OperationContext,
    @Args('input') { id, version }: RestorePipelineVersionInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.restore(context.principal, id, version));
  }

  @Mutation(() => PipelinePayload)
  @RootField('pipeline.switch')
  async switchPipeline(
    @Context() context: OperationContext,
    @Args('input') { id, version }: SwitchPipelineInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.switchCurrent(context.principal, id, version));
  }

  @Mutation(() => DeletedPayload)
  @RootField('pipeline.purge')
  async purgePipelineVersion(
    @Context('principal') caller: Principal,
    @Args('input') { id, version, expectedHash }: PurgePipelineVersionInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeVersion(caller, id, version, expectedHash ?? undefined);
    return { deletedId: `${id}@${version}` };
  }

  @Mutation(() => PurgedPipelinePayload)
  @RootField('pipeline.purge')
  async purgePipeline(
    @Context('principal') caller: Principal,
    @Args('input') { id, includeExclusiveDraftTemplates, expectedHash }: PurgePipelineInput,
  ): Promise<PurgedPipelinePayload> {
    const options = { includeExclusiveDraftTemplates: includeExclusiveDraftTemplates ?? false };
    const report = await this.lifecycle.purge(caller, id, options, expectedHash ?? undefined);
    return {
      deletedId: id,
      exclusiveDraftTemplates: report.exclusive_draft_templates,
      exclusiveDraftTemplatesPurged: report.exclusive_draft_templates_purged,
    };
  }

  async #payload(context: OperationContext, { id, warnings }: PipelineView): Promise<PipelinePayload> {
    return {
      pipeline: await this.nodes.load(context, id),
      warnings: (warnings ?? []).map(({ code, message, path }) => ({ code, message, details: { path } })),
    };
  }
}

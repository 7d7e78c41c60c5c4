import { Context, Mutation, Resolver } from '@nestjs/graphql';
import { CheckService } from '#libs/checks';
import type { Principal } from '#libs/kernel';
import { PipelineAuthoring, PipelineLifecycle, PipelineTransfer, type PipelineView } from '#libs/pipelines';
import type { OperationContext } from '../engine/operation-context.js';
import { jsonObjectOf, jsonOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
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

  @Mutation(() => PipelinePayload, { description: 'Saves a new pipeline as a draft.' })
  @RootField('pipeline.create')
  async createPipeline(
    @Context() context: OperationContext,
    @InputArg() { definitionJson }: CreatePipelineInput,
  ): Promise<PipelinePayload> {
    const body = jsonOf(definitionJson, 'definitionJson');
    return this.#payload(context, await this.authoring.create(context.principal, body));
  }

  @Mutation(() => PipelinePayload, { description: 'Saves a draft over, or begins the next one from a document.' })
  @RootField('pipeline.update')
  async updatePipeline(
    @Context() context: OperationContext,
    @InputArg() { id, definitionJson, expectedHash }: UpdatePipelineInput,
  ): Promise<PipelinePayload> {
    const body = jsonOf(definitionJson, 'definitionJson');
    return this.#payload(context, await this.authoring.update(context.principal, id, body, expectedHash));
  }

  @Mutation(() => PipelinePayload, {
    description: 'Runs the checks of the draft, then makes it unchangeable and current.',
  })
  @RootField('pipeline.release')
  async releasePipeline(
    @Context() context: OperationContext,
    @InputArg() { id, expectedHash, releasePinnedTemplates, overrideChecksReason }: ReleasePipelineInput,
  ): Promise<PipelinePayload> {
    const options = {
      releasePinnedTemplates: releasePinnedTemplates ?? false,
      overrideChecksReason: overrideChecksReason ?? undefined,
    };
    return this.#payload(context, await this.lifecycle.release(context.principal, id, expectedHash, options));
  }

  /** Runs every check now; each run is in the history before the answer. */
  @Mutation(() => PipelineChecksPayload, {
    description: 'Runs every check of a version now; each verdict is in the history before the answer.',
  })
  @RootField('pipeline.run_checks')
  async runPipelineChecks(
    @Context() context: OperationContext,
    @InputArg() { id, version, parametersJson }: RunPipelineChecksInput,
  ): Promise<PipelineChecksPayload> {
    const given = parametersJson == null ? undefined : jsonObjectOf(parametersJson, 'parametersJson');
    const done = await this.checks.run(context.principal, id, version ?? undefined, given, context.deadline.signal);
    return { version: done.version, runs: done.runs.map((run) => this.checkNodes.run(run)) };
  }

  /** An exported file, all or nothing. */
  @Mutation(() => ImportedPipelinePayload, {
    description: 'Takes a release exported elsewhere, all or nothing; repeating it changes nothing.',
  })
  @RootField('pipeline.import')
  async importPipeline(
    @Context() context: OperationContext,
    @InputArg() { definitionJson }: ImportPipelineInput,
  ): Promise<ImportedPipelinePayload> {
    const file = jsonObjectOf(definitionJson, 'definitionJson');
    const { pipeline, imported } = await this.transfer.import(context.principal, file);
    return { ...(await this.#payload(context, pipeline)), imported };
  }

  /** Deletes the draft and its executions. */
  @Mutation(() => DeletedPayload, { description: 'Throws a draft away for good, with its runs.' })
  @RootField('pipeline.purge')
  async purgePipelineDraft(
    @Context('principal') caller: Principal,
    @InputArg() { id, expectedHash }: PurgePipelineDraftInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeDraft(caller, id, expectedHash);
    return { deletedId: id };
  }

  @Mutation(() => PipelinePayload, { description: 'Sets a release aside: it no longer runs, but can be restored.' })
  @RootField('pipeline.discard')
  async discardPipelineVersion(
    @Context() context: OperationContext,
    @InputArg() { id, version }: DiscardPipelineVersionInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.discard(context.principal, id, version));
  }

  @Mutation(() => PipelinePayload, { description: 'Takes a discarded release back.' })
  @RootField('pipeline.restore')
  async restorePipelineVersion(
    @Context() context: OperationContext,
    @InputArg() { id, version }: RestorePipelineVersionInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.restore(context.principal, id, version));
  }

  @Mutation(() => PipelinePayload, { description: 'Makes another release the one that runs by default.' })
  @RootField('pipeline.switch')
  async switchPipeline(
    @Context() context: OperationContext,
    @InputArg() { id, version }: SwitchPipelineInput,
  ): Promise<PipelinePayload> {
    return this.#payload(context, await this.lifecycle.switchCurrent(context.principal, id, version));
  }

  @Mutation(() => DeletedPayload, {
    description: 'Deletes a draft by its number for good, with its runs.',
  })
  @RootField('pipeline.purge')
  async purgePipelineVersion(
    @Context('principal') caller: Principal,
    @InputArg() { id, version, expectedHash }: PurgePipelineVersionInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeVersion(caller, id, version, expectedHash ?? undefined);
    return { deletedId: `${id}@${version}` };
  }

  @Mutation(() => PurgedPipelinePayload, {
    description: 'Deletes a pipeline that has nothing but a draft for good, with its runs.',
  })
  @RootField('pipeline.purge')
  async purgePipeline(
    @Context('principal') caller: Principal,
    @InputArg() { id, includeExclusiveDraftTemplates, expectedHash }: PurgePipelineInput,
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

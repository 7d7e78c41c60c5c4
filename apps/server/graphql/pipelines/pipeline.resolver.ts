import { Args, Context, ID, Int, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { PenstockError, writeJson, type Principal } from '#libs/kernel';
import { PipelineAuthoring, PipelineReading, PipelineTransfer } from '#libs/pipelines';
import type { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { filterOf } from '../schema/filter.js';
import { jsonOf } from '../schema/json-input.js';
import { found } from '../schema/lookup.js';
import { EMPTY_PAGE } from '../schema/page-of-parent.js';
import { browseOrder } from '../schema/order.js';
import { RootField } from '../schema/root-field.js';
import { PipelineNodes } from './pipeline-nodes.js';
import { PipelineFilterInput, PipelineOrderInput } from './pipeline.inputs.js';
import {
  PipelineConnection,
  PipelineLevelType,
  PipelineType,
  PipelineVersionConnection,
  PipelineVersionType,
  ValidationReportType,
} from './pipeline.types.js';

@Resolver(() => PipelineType)
export class PipelineResolver {
  constructor(
    private readonly reading: PipelineReading,
    private readonly authoring: PipelineAuthoring,
    private readonly transfer: PipelineTransfer,
    private readonly nodes: PipelineNodes,
  ) {}

  /** By exactly one of `id` and `name`. */
  @Query(() => PipelineType, {
    nullable: true,
    description: 'A pipeline by id or by name; null when it is absent or of another workspace.',
  })
  @RootField('pipeline.read')
  async pipeline(
    @Context() context: OperationContext,
    @Args('id', { type: () => ID, nullable: true, description: 'UUID of the pipeline; excludes `name`.' })
    id?: string | null,
    @Args('name', { type: () => String, nullable: true, description: 'Folder path of the pipeline; excludes `id`.' })
    name?: string | null,
  ): Promise<PipelineType | null | undefined> {
    if ((id == null) === (name == null)) {
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: 'Name the pipeline by “id” or by “name”.',
        details: { field: 'id', reason: 'field' },
      });
    }
    if (id != null) return this.nodes.load(context, id);
    const view = await found(this.reading.readByName(context.principal, name as string));
    return view && this.nodes.load(context, view.id);
  }

  /** By name, unless ordered otherwise. */
  @Query(() => PipelineConnection, {
    description: 'The pipelines of the active workspace, by name unless ordered otherwise.',
  })
  @RootField('pipeline.read')
  async pipelines(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => PipelineFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all ACTIVE ones.',
    })
    given?: PipelineFilterInput | null,
    @Args('orderBy', { type: () => PipelineOrderInput, nullable: true, description: 'Left out: by name.' })
    orderBy?: PipelineOrderInput | null,
  ): Promise<Connection<PipelineType>> {
    const filter = filterOf(given);
    const order = browseOrder(orderBy);
    const cursors = new Cursors('pipelines', { ...filter, order });
    return toConnection(await this.reading.listOrdered(caller, filter, order, cursors.page(page)), {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: ({ summary }) => this.nodes.pipeline(summary),
      count: () => this.reading.count(caller, filter),
    });
  }

  /** One level of the tree of names; the empty prefix is its root. */
  @Query(() => PipelineLevelType, {
    description: 'One level of the tree of names: folders and the pipelines directly in it.',
  })
  @RootField('pipeline.read')
  async pipelineTree(
    @Context('principal') caller: Principal,
    @Args('prefix', { description: 'The folder to open, without a slash at the end; empty for the root.' })
    prefix: string,
    @Args() page: PageArgs,
  ): Promise<PipelineLevelType> {
    const cursors = new Cursors('pipelineTree', { prefix });
    const { folders, count, ...listing } = await this.reading.treeKeyset(caller, prefix, cursors.page(page));
    const pipelines = toConnection(listing, {
      cursors,
      keyOf: ({ name }) => name,
      nodeOf: (summary) => this.nodes.pipeline(summary),
      count,
    });
    return { prefix, folders, pipelines };
  }

  /** Judges a definition as a save would, and stores nothing. */
  @Query(() => ValidationReportType, { description: 'Judges a document as a save would, and stores nothing.' })
  @RootField('pipeline.validate')
  async validatePipeline(
    @Context('principal') caller: Principal,
    @Args('definitionJson', { type: () => JsonText, description: 'The whole document.' }) definitionJson: string,
  ): Promise<ValidationReportType> {
    const report = await this.authoring.validate(caller, jsonOf(definitionJson, 'definitionJson'));
    return {
      valid: report.valid,
      failures: report.failures.map((failure) => ({ details: null, ...failure })),
      warnings: report.warnings.map(({ code, message, path }) => ({ code, message, details: { path } })),
      bodyHash: report.body_hash,
    };
  }

  /** The released version as a file: what `importPipeline` takes. */
  @Query(() => JsonText, { description: 'The released version as a file that `importPipeline` takes.' })
  @RootField('pipeline.read')
  async exportPipeline(
    @Context('principal') caller: Principal,
    @Args('id', { type: () => ID, description: 'The pipeline to export.' }) id: string,
    @Args('includeTemplates', {
      type: () => Boolean,
      nullable: true,
      description: 'Whether the pinned templates are in the file too; default false.',
    })
    includeTemplates?: boolean | null,
  ): Promise<string> {
    return writeJson(await this.transfer.export(caller, id, { includeTemplates: includeTemplates ?? true }));
  }

  @ResolveField(() => PipelineVersionType, {
    nullable: true,
    description: 'One version by its number; null when there is none.',
  })
  version(
    @Parent() { id }: PipelineType,
    @Context() context: OperationContext,
    @Args('number', { type: () => Int, description: 'As in `Version.number`.' }) number: number,
  ): Promise<PipelineVersionType | undefined> {
    return this.nodes.version(context, id, number);
  }

  /** Highest first. */
  @ResolveField(() => PipelineVersionConnection, { description: 'All versions, the newest first.' })
  async versions(
    @Parent() { id }: PipelineType,
    @Context() context: OperationContext,
    @Args() asked: PageArgs,
  ): Promise<Connection<PipelineVersionType>> {
    const cursors = new Cursors('pipelineVersions', { id });
    const key = { parent: id, page: cursors.page(asked), filter: undefined };
    return toConnection((await context.load(this.nodes.versionPages, key)) ?? EMPTY_PAGE, {
      cursors,
      keyOf: ({ version }) => String(version),
      nodeOf: (summary) => this.nodes.versionOf(id, summary),
      count: async () => (await context.load(this.nodes.versionCounts, id)) ?? 0,
    });
  }
}

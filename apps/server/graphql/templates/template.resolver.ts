import { Args, Context, Int, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { TemplatePreview, TemplateReading } from '#libs/templates';
import type { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { jsonOf } from '../schema/json-input.js';
import { EMPTY_PAGE } from '../schema/page-of-parent.js';
import { browseOrder } from '../schema/order.js';
import { RootField } from '../schema/root-field.js';
import { filterOf } from '../schema/filter.js';
import { TemplateNodes } from './template-nodes.js';
import { TemplateFilterInput, TemplateOrderInput } from './template.inputs.js';
import {
  TemplateConnection,
  TemplateLevelType,
  TemplateType,
  TemplateVersionConnection,
  TemplateVersionType,
} from './template.types.js';

@Resolver(() => TemplateType)
export class TemplateResolver {
  constructor(
    private readonly reading: TemplateReading,
    private readonly previews: TemplatePreview,
    private readonly nodes: TemplateNodes,
  ) {}

  @Query(() => TemplateType, {
    nullable: true,
    description: 'A template by its name; null when it is absent or of another workspace.',
  })
  @RootField('template.read')
  template(
    @Context() context: OperationContext,
    @Args('name', { description: 'Folder path of the template.' }) name: string,
  ): Promise<TemplateType | undefined> {
    return this.nodes.load(context, name);
  }

  /** By name, unless ordered otherwise. */
  @Query(() => TemplateConnection, {
    description: 'The templates of the active workspace, by name unless ordered otherwise.',
  })
  @RootField('template.read')
  async templates(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => TemplateFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all ACTIVE ones.',
    })
    given?: TemplateFilterInput | null,
    @Args('orderBy', { type: () => TemplateOrderInput, nullable: true, description: 'Left out: by name.' })
    orderBy?: TemplateOrderInput | null,
  ): Promise<Connection<TemplateType>> {
    const filter = filterOf(given);
    const order = browseOrder(orderBy);
    const cursors = new Cursors('templates', { ...filter, order });
    return toConnection(await this.reading.listOrdered(caller, filter, order, cursors.page(page)), {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: ({ summary }) => this.nodes.template(summary),
      count: () => this.reading.count(caller, filter),
    });
  }

  /** One level of the tree of names; the empty prefix is its root. */
  @Query(() => TemplateLevelType, {
    description: 'One level of the tree of names: folders and the templates directly in it.',
  })
  @RootField('template.read')
  async templateTree(
    @Context('principal') caller: Principal,
    @Args('prefix', { description: 'The folder to open, without a slash at the end; empty for the root.' })
    prefix: string,
    @Args() page: PageArgs,
  ): Promise<TemplateLevelType> {
    const cursors = new Cursors('templateTree', { prefix });
    const { folders, count, ...listing } = await this.reading.treeKeyset(caller, prefix, cursors.page(page));
    const templates = toConnection(listing, {
      cursors,
      keyOf: ({ id }) => id,
      nodeOf: (summary) => this.nodes.template(summary),
      count,
    });
    return { prefix, folders, templates };
  }

  /** What a template renders to; nothing runs. */
  @Query(() => Json, { description: 'The SQL a template makes of its values; nothing runs.' })
  @RootField('template.render')
  renderTemplate(
    @Context('principal') caller: Principal,
    @Args('name', { description: 'Folder path of the template.' }) name: string,
    @Args('version', {
      type: () => Int,
      nullable: true,
      description: 'Number of the version; left out: the working one.',
    })
    version?: number | null,
    @Args('contextJson', {
      type: () => JsonText,
      nullable: true,
      description: 'Object of the values the body reads; left out: an empty one.',
    })
    contextJson?: string | null,
    @Args('mode', {
      type: () => String,
      nullable: true,
      description: '`text` (default) writes values out, `bound` gives placeholders with the values beside them.',
    })
    mode?: string | null,
  ): Promise<unknown> {
    const context = contextJson == null ? undefined : jsonOf(contextJson, 'contextJson');
    return this.previews.render(caller, { name, version, context, mode: mode ?? undefined });
  }

  @ResolveField(() => TemplateVersionType, {
    nullable: true,
    description: 'One version by its number; null when there is none.',
  })
  version(
    @Parent() { name }: TemplateType,
    @Context() context: OperationContext,
    @Args('number', { type: () => Int, description: 'As in `Version.number`.' }) number: number,
  ): Promise<TemplateVersionType | undefined> {
    return this.nodes.version(context, name, number);
  }

  /** Highest first. */
  @ResolveField(() => TemplateVersionConnection, { description: 'All versions, the newest first.' })
  async versions(
    @Parent() { name }: TemplateType,
    @Context() context: OperationContext,
    @Args() asked: PageArgs,
  ): Promise<Connection<TemplateVersionType>> {
    const cursors = new Cursors('templateVersions', { name });
    const key = { parent: name, page: cursors.page(asked), filter: undefined };
    return toConnection((await context.load(this.nodes.versionPages, key)) ?? EMPTY_PAGE, {
      cursors,
      keyOf: ({ version }) => String(version),
      nodeOf: (view) => this.nodes.versionOf(view),
      count: async () => (await context.load(this.nodes.versionCounts, name)) ?? 0,
    });
  }
}

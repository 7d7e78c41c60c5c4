import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { EMPTY_PAGE } from '../schema/page-of-parent.js';
import { TemplateType } from '../templates/template.types.js';
import { PipelineNodes } from './pipeline-nodes.js';
import { PipelineVersionConnection, type PipelineVersionType } from './pipeline.types.js';

/** Who uses a template. */
@Resolver(() => TemplateType)
export class TemplateUsersResolver {
  constructor(private readonly nodes: PipelineNodes) {}

  /** Working versions of pipelines that pin the working version of the template, by name of the pipeline. */
  @ResolveField(() => PipelineVersionConnection, {
    description: 'Versions of pipelines that pin any version of this template.',
  })
  async usedBy(
    @Parent() { name }: TemplateType,
    @Context() context: OperationContext,
    @Args() asked: PageArgs,
  ): Promise<Connection<PipelineVersionType>> {
    const cursors = new Cursors('templateUsers', { name });
    const key = { parent: name, page: cursors.page(asked), filter: undefined };
    return toConnection((await context.load(this.nodes.templateUsers, key)) ?? EMPTY_PAGE, {
      cursors,
      keyOf: (user) => user.name,
      nodeOf: ({ pipelineId, working }) => this.nodes.versionOf(pipelineId, working),
      count: async () => (await context.load(this.nodes.templateUserCounts, name)) ?? 0,
    });
  }
}

import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { checkKey } from '#libs/checks';
import type { OperationContext } from '../engine/operation-context.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { EMPTY_PAGE } from '../schema/page-of-parent.js';
import { CheckNodes } from './check-nodes.js';
import { CheckRunConnection, CheckType, type CheckRunType } from './check.types.js';

@Resolver(() => CheckType)
export class CheckResolver {
  constructor(private readonly nodes: CheckNodes) {}

  /** Newest first, by hand and for releases alike. */
  @ResolveField(() => CheckRunConnection, { description: 'Verdicts on this check of this version, newest first.' })
  async runs(
    @Parent() { ref }: CheckType,
    @Context() context: OperationContext,
    @Args() asked: PageArgs,
  ): Promise<Connection<CheckRunType>> {
    const parent = checkKey(ref);
    const cursors = new Cursors('checkRuns', { parent });
    const key = { parent, page: cursors.page(asked), filter: undefined };
    return toConnection((await context.load(this.nodes.runPages, key)) ?? EMPTY_PAGE, {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: (run) => this.nodes.run(run),
      count: async () => (await context.load(this.nodes.runCounts, ref)) ?? 0,
    });
  }
}

import { Args, Context, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { writeJson, type JsonObject, type Principal } from '#libs/kernel';
import { FactListing, FactRecording, FactStanding, type FactQuery } from '#libs/semantics';
import { DatasourceType, TableType } from '../datasources/datasource.types.js';
import { OperationContext } from '../engine/operation-context.js';
import { ColumnType } from '../executions/execution.types.js';
import { PageArgs, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { filterOf } from '../schema/filter.js';
import { jsonOf } from '../schema/json-input.js';
import { InputArg } from '../schema/input-arg.js';
import { Cost, RootField } from '../schema/root-field.js';
import { wireInput } from '../schema/wire-input.js';
import { FactNodes } from './fact-nodes.js';
import {
  DatasourceFactFilterInput,
  LearnedFactFilterInput,
  RecordFactInput,
  RetireFactInput,
  VerifyFactInput,
} from './fact.inputs.js';
import { FactPayload, LearnedFactConnection, LearnedFactType, RecordFactPayload } from './fact.types.js';

/** Recording and verifying look at the live database. */
const LIVE_COST = 50;

/** What people and agents have learned about datasources (06 §11). */
@Resolver(() => LearnedFactType)
export class FactResolver {
  constructor(
    private readonly listing: FactListing,
    private readonly recording: FactRecording,
    private readonly standing: FactStanding,
    private readonly nodes: FactNodes,
  ) {}

  /** Newest first, as stored. */
  @Query(() => LearnedFactConnection, {
    description: 'What is known about the datasources the active workspace may use, newest first.',
  })
  @RootField('semantic.read')
  async learnedFacts(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => LearnedFactFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all that stand.',
    })
    given?: LearnedFactFilterInput | null,
  ): Promise<Connection<LearnedFactType>> {
    const query = { ...queryOf(given), datasource: given?.datasource ?? undefined };
    const cursors = new Cursors('facts', filterOf(given));
    const listing = await this.listing.listKeyset(caller, query, cursors.page(page));
    return this.nodes.connection(listing, cursors, () => this.listing.count(caller, query));
  }

  @Mutation(() => RecordFactPayload, {
    description: 'Writes down something learned about a datasource; what it supersedes is retired.',
  })
  @RootField('semantic.record')
  @Cost(LIVE_COST)
  async recordFact(
    @Context() { principal, deadline }: OperationContext,
    @InputArg() { datasource, ...input }: RecordFactInput,
  ): Promise<RecordFactPayload> {
    const body = jsonOf(writeJson(wireInput(input)), 'input') as JsonObject;
    const { fact, refsAdded } = await this.recording.record(principal, datasource, body, deadline.signal);
    return { fact: this.nodes.fact(fact), refsAdded };
  }

  @Mutation(() => FactPayload, { description: 'Takes a fact back, with a reason.' })
  @RootField('semantic.retire')
  async retireFact(
    @Context('principal') caller: Principal,
    @InputArg() { id, reason }: RetireFactInput,
  ): Promise<FactPayload> {
    return { fact: this.nodes.fact(await this.standing.retire(caller, id, reason)) };
  }

  @Mutation(() => FactPayload, {
    description: 'Vouches for a fact in person: it is VERIFIED until the catalog changes.',
  })
  @RootField('semantic.verify')
  @Cost(LIVE_COST)
  async verifyFact(
    @Context() { principal, deadline }: OperationContext,
    @InputArg() { id }: VerifyFactInput,
  ): Promise<FactPayload> {
    return { fact: this.nodes.fact(await this.standing.verify(principal, id, deadline.signal)) };
  }
}

/** The facts of a datasource. */
@Resolver(() => DatasourceType)
export class DatasourceFactsResolver {
  constructor(private readonly nodes: FactNodes) {}

  @ResolveField(() => LearnedFactConnection, {
    description: 'What is known about it beyond its catalog, newest first.',
  })
  facts(
    @Parent() { name }: DatasourceType,
    @Context() context: OperationContext,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => DatasourceFactFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all that stand.',
    })
    given?: DatasourceFactFilterInput | null,
  ): Promise<Connection<LearnedFactType>> {
    return this.nodes.pageOf(context, name, queryOf(given), page);
  }
}

/** The facts beside a table of a live catalog. */
@Resolver(() => TableType)
export class TableFactsResolver {
  constructor(private readonly nodes: FactNodes) {}

  @ResolveField(() => [LearnedFactType], { description: 'What is known about the table as a whole; at most 50.' })
  facts(@Parent() { learned = [] }: TableType): LearnedFactType[] {
    return learned.map((fact) => this.nodes.served(fact));
  }
}

/** The facts beside a column of a live catalog; a column of a result has none. */
@Resolver(() => ColumnType)
export class ColumnFactsResolver {
  constructor(private readonly nodes: FactNodes) {}

  @ResolveField(() => [LearnedFactType], {
    description: 'What is known about the column; at most 50, and empty for columns of results.',
  })
  facts(@Parent() { learned = [] }: ColumnType): LearnedFactType[] {
    return learned.map((fact) => this.nodes.served(fact));
  }
}

function queryOf(given: DatasourceFactFilterInput | null | undefined): FactQuery {
  const { table, scope, includeRetired, since } = filterOf(given);
  return { table, scope, include_retired: includeRetired, since };
}

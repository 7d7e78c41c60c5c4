import { Args, Context, Query, Resolver } from '@nestjs/graphql';
import { DatasourceService, IntrospectionService } from '#libs/datasources';
import type { Principal } from '#libs/kernel';
import { AnnotatedCatalog } from '#libs/semantics';
import { OperationContext } from '../engine/operation-context.js';
import { ColumnType } from '../executions/execution.types.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { filterOf } from '../schema/filter.js';
import { PipelineNodes } from '../pipelines/pipeline-nodes.js';
import { found } from '../schema/lookup.js';
import { Cost, RootField } from '../schema/root-field.js';
import { DatasourceNodes } from './datasource-nodes.js';
import { ReferenceListType } from './reference.types.js';
import { DatasourceFilterInput } from './datasource.inputs.js';
import {
  DatasourceConnection,
  DatasourceGrantType,
  DatasourceType,
  SchemaListType,
  TableListType,
} from './datasource.types.js';

/** Live reads of a catalog leave the server. */
const LIVE_COST = 50;
const namespaceArg = {
  type: () => [String],
  nullable: true,
  description: 'Levels of the schema, outermost first, as listings give them; left out: the one the connection means.',
};

@Resolver(() => DatasourceType)
export class DatasourceResolver {
  constructor(
    private readonly service: DatasourceService,
    private readonly introspection: IntrospectionService,
    private readonly catalog: AnnotatedCatalog,
    private readonly nodes: DatasourceNodes,
    private readonly pipelines: PipelineNodes,
  ) {}

  @Query(() => DatasourceType, {
    nullable: true,
    description: 'A database by name; null when it is absent or not granted.',
  })
  @RootField('datasource.read')
  async datasource(
    @Context('principal') caller: Principal,
    @Args('name', { description: 'What it was registered as.' }) name: string,
  ): Promise<DatasourceType | null> {
    const view = await found(this.service.read(caller, name));
    return view && this.nodes.datasource(view);
  }

  @Query(() => DatasourceConnection, { description: 'The databases the active workspace may use, by name.' })
  @RootField('datasource.read')
  async datasources(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => DatasourceFilterInput,
      nullable: true,
      description: 'Narrows the list; left out: all of it.',
    })
    given?: DatasourceFilterInput | null,
  ): Promise<Connection<DatasourceType>> {
    const filter = filterOf(given);
    const cursors = new Cursors('datasources', filter);
    return toConnection(await this.service.list(caller, filter, cursors.page(page)), {
      cursors,
      keyOf: ({ name }) => name,
      nodeOf: (view) => this.nodes.datasource(view),
      count: () => this.service.count(caller, filter),
    });
  }

  @Query(() => [DatasourceGrantType], { description: 'The workspaces that may use a database besides its owner.' })
  @RootField('datasource.grant')
  async datasourceGrants(
    @Context('principal') caller: Principal,
    @Args('name', { description: 'The datasource whose grants are wanted.' }) name: string,
  ): Promise<DatasourceGrantType[]> {
    return (await this.service.grants(caller, name)).map((view) => this.nodes.grant(view));
  }

  /** Null for a datasource that is absent or not granted. */
  @Query(() => ReferenceListType, {
    description: 'Who reads from or writes to a database; null when it is absent or not granted.',
  })
  @RootField('datasource.read')
  async datasourceReferences(
    @Context('principal') caller: Principal,
    @Args('name', { description: 'The datasource that is referred to.' }) name: string,
  ): Promise<ReferenceListType | null> {
    const report = await found(this.service.referencesTo(caller, name));
    return (
      report && {
        references: report.references.map((each) => ({
          pipeline: (_args, context) => this.pipelines.load(context, each.pipeline_id),
          nodeId: each.node_id ?? null,
          checkId: each.check_id ?? null,
          pipelineVersion: each.pipeline_version,
          versionStatus: each.version_status,
        })),
        hiddenCount: report.hidden,
      }
    );
  }

  @Query(() => SchemaListType, { description: 'Schemas of the live database, read from its catalog now.' })
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  datasourceSchemas(
    @Context() context: OperationContext,
    @Args('name', { description: 'The datasource whose catalog is read.' }) name: string,
  ): Promise<SchemaListType> {
    return this.introspection.schemas(context.principal, name, context.deadline.signal);
  }

  @Query(() => TableListType, { description: 'Tables of the live database, with the facts known about them.' })
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  async datasourceTables(
    @Context() context: OperationContext,
    @Args('name', { description: 'The datasource whose catalog is read.' }) name: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
  ): Promise<TableListType> {
    const filter = { namespace: namespace ?? undefined };
    const { principal, deadline } = context;
    const { tables, truncated } = await this.catalog.tablesWithFacts(principal, name, filter, deadline.signal);
    return { tables: tables.map(({ item, facts }) => ({ ...item, learned: facts })), truncated };
  }

  @Query(() => [ColumnType], { description: 'Columns of a live table, with the facts known about them.' })
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  async datasourceColumns(
    @Context() context: OperationContext,
    @Args('name', { description: 'The datasource whose catalog is read.' }) name: string,
    @Args('table', { description: "The table's name, as the catalog writes it." }) table: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
  ): Promise<ColumnType[]> {
    const request = { table, namespace: namespace ?? undefined };
    const columns = await this.catalog.columnsWithFacts(context.principal, name, request, context.deadline.signal);
    return columns.map((column) => this.nodes.column(column));
  }
}

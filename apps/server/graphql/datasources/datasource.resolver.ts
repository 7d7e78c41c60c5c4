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
const namespaceArg = { type: () => [String], nullable: true };

@Resolver(() => DatasourceType)
export class DatasourceResolver {
  constructor(
    private readonly service: DatasourceService,
    private readonly introspection: IntrospectionService,
    private readonly catalog: AnnotatedCatalog,
    private readonly nodes: DatasourceNodes,
    private readonly pipelines: PipelineNodes,
  ) {}

  @Query(() => DatasourceType, { nullable: true })
  @RootField('datasource.read')
  async datasource(
    @Context('principal') caller: Principal,
    @Args('name') name: string,
  ): Promise<DatasourceType | null> {
    const view = await found(this.service.read(caller, name));
    return view && this.nodes.datasource(view);
  }

  @Query(() => DatasourceConnection)
  @RootField('datasource.read')
  async datasources(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', { type: () => DatasourceFilterInput, nullable: true }) given?: DatasourceFilterInput | null,
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

  @Query(() => [DatasourceGrantType])
  @RootField('datasource.grant')
  async datasourceGrants(
    @Context('principal') caller: Principal,
    @Args('name') name: string,
  ): Promise<DatasourceGrantType[]> {
    return (await this.service.grants(caller, name)).map((view) => this.nodes.grant(view));
  }

  /** Null for a datasource that is absent or not granted. */
  @Query(() => ReferenceListType)
  @RootField('datasource.read')
  async datasourceReferences(
    @Context('principal') caller: Principal,
    @Args('name') name: string,
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

  @Query(() => SchemaListType)
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  datasourceSchemas(@Context() context: OperationContext, @Args('name') name: string): Promise<SchemaListType> {
    return this.introspection.schemas(context.principal, name, context.deadline.signal);
  }

  @Query(() => TableListType)
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  async datasourceTables(
    @Context() context: OperationContext,
    @Args('name') name: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
  ): Promise<TableListType> {
    const filter = { namespace: namespace ?? undefined };
    const { principal, deadline } = context;
    const { tables, truncated } = await this.catalog.tablesWithFacts(principal, name, filter, deadline.signal);
    return { tables: tables.map(({ item, facts }) => ({ ...item, learned: facts })), truncated };
  }

  @Query(() => [ColumnType])
  @RootField('datasource.introspect')
  @Cost(LIVE_COST)
  async datasourceColumns(
    @Context() context: OperationContext,
    @Args('name') name: string,
    @Args('table') table: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
  ): Promise<ColumnType[]> {
    const request = { table, namespace: namespace ?? undefined };
    const columns = await this.catalog.columnsWithFacts(context.principal, name, request, context.deadline.signal);
    return columns.map((column) => this.nodes.column(column));
  }
}

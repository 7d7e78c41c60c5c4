import { Args, Context, Int, Query, Resolver } from '@nestjs/graphql';
import { RowPreview, SqlProbe, TableStatistics, type PreviewRequest, type PreviewView } from '#libs/datasources';
import { isPenstockError } from '#libs/kernel';
import { OperationContext } from '../engine/operation-context.js';
import { protocolError } from '../errors/protocol-error.js';
import { JsonText } from '../scalars/json-text.scalar.js';
import { Json } from '../scalars/json.scalar.js';
import { jsonObjectOf } from '../schema/json-input.js';
import { Cost, RootField } from '../schema/root-field.js';
import { ProbeType } from './probe.types.js';

/** What reads a live datasource leaves the server. */
const LIVE_COST = 50;
const namespaceArg = {
  type: () => [String],
  nullable: true,
  description: 'Levels of the schema, outermost first; left out: the one the connection means.',
};
const limitArg = {
  type: () => Int,
  nullable: true,
  description: 'Most rows to give, 1 to 500; default 50.',
};

/** Statistics of tables, first rows, statements of an author's own (06 §9). */
@Resolver()
export class ProbeResolver {
  constructor(
    private readonly statistics: TableStatistics,
    private readonly preview: RowPreview,
    private readonly probe: SqlProbe,
  ) {}

  @Query(() => Json, {
    description: 'What the database knows of a live table without reading it: rows, indexes, spread of values.',
  })
  @RootField('datasource.read')
  @Cost(LIVE_COST)
  datasourceTableStats(
    @Context() { principal, deadline }: OperationContext,
    @Args('name', { description: 'The datasource that is asked.' }) name: string,
    @Args('table', { description: "The table's name, as the catalog writes it." }) table: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
  ): Promise<unknown> {
    return this.statistics.read(principal, name, { table, namespace: namespace ?? undefined }, deadline.signal);
  }

  @Query(() => ProbeType, { description: 'The first rows of a live table.' })
  @RootField('datasource.probe')
  @Cost(LIVE_COST)
  async datasourcePreview(
    @Context() { principal, deadline }: OperationContext,
    @Args('name', { description: 'The datasource that is read.' }) name: string,
    @Args('table', { description: "The table's name, as the catalog writes it." }) table: string,
    @Args('namespace', namespaceArg) namespace?: string[] | null,
    @Args('orderBy', {
      type: () => Json,
      nullable: true,
      description: '`[{column, direction: "ASC" or "DESC"}]`; left out: as the database gives them.',
    })
    orderBy?: unknown,
    @Args('limit', limitArg) limit?: number | null,
  ): Promise<ProbeType> {
    const request = {
      table,
      namespace: namespace ?? undefined,
      order_by: orderOf(orderBy),
      limit: limit ?? undefined,
    };
    const read = await asUserInput(this.preview.read(principal, name, request, deadline.signal));
    return { ...probeType(read), wallMs: null, plan: null };
  }

  @Query(() => ProbeType, {
    description: "Runs one reading statement of an author's own and gives its rows with the plan.",
  })
  @RootField('datasource.probe')
  @Cost(LIVE_COST)
  async sqlProbe(
    @Context() { principal, deadline }: OperationContext,
    @Args('name', { description: 'The datasource that is read.' }) name: string,
    @Args('sql', {
      description: 'One statement that reads, with `:name` for parameters; anything that writes is refused.',
    })
    sql: string,
    @Args('parametersJson', {
      type: () => JsonText,
      nullable: true,
      description: 'Typed values: `{"name": {"type": "INTEGER", "value": 1}, …}`.',
    })
    parametersJson?: string | null,
    @Args('limit', limitArg) limit?: number | null,
    @Args('timeoutSeconds', {
      type: () => Int,
      nullable: true,
      description: 'Most seconds the statement may take, up to 30; default 10.',
    })
    timeoutSeconds?: number | null,
  ): Promise<ProbeType> {
    const request = {
      sql,
      parameters: parametersJson == null ? undefined : jsonObjectOf(parametersJson, 'parametersJson'),
      limit: limit ?? undefined,
      timeout_seconds: timeoutSeconds ?? undefined,
    };
    const { wall_ms, plan, ...read } = await asUserInput(this.probe.run(principal, name, request, deadline.signal));
    return { ...probeType(read), wallMs: wall_ms, plan };
  }
}

function probeType({ schema, rows, row_count, truncated }: PreviewView) {
  return { schema, rows, rowCount: row_count, truncated };
}

/** A refused statement or argument is the client's own input, under the name clients know for it (06 §9). */
async function asUserInput<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isPenstockError(error) || error.code !== 'pipeline.execution.invalid_parameter_type') throw error;
    throw protocolError(error.message, 'BAD_USER_INPUT');
  }
}

function orderOf(given: unknown): PreviewRequest['order_by'] {
  if (given == null) return undefined;
  if (Array.isArray(given) && given.every(isSorting)) return given;
  throw protocolError('“orderBy” must be a list of {column, direction}.', 'BAD_USER_INPUT');
}

function isSorting(given: unknown): given is { column: string; direction?: 'ASC' | 'DESC' } {
  if (typeof given !== 'object' || given === null) return false;
  const members = Object.entries(given);
  return (
    members.some(([key]) => key === 'column') &&
    members.every(([key, value]) => (key === 'column' || key === 'direction') && typeof value === 'string')
  );
}

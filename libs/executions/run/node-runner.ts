import { statementSecondsOf, type BoundStatement, type Cursor, type DatasourceAccess } from '#libs/datasources';
import { isSqlNode, TEMPDB, type SqlNode } from '#libs/pipelines';
import type { TemplateRenderer } from '#libs/templates';
import { bindStatement, type Dialect, type TypedValue } from '#libs/typesystem';
import { disciplined, runCounted, type StagingStatement } from '../staging/staging-statement.js';
import { materialise } from '../staging/staged-result.js';
import { stageQuery } from '../staging/staged-table.js';
import type { StagingConnection } from '../staging/staging-connection.js';
import { runChildNode } from '../family/child-node.js';
import { refuseOtherClass, renderNode } from './node-statement.js';
import type { LeaseHolder } from './lease-holder.js';
import { refuseReadonly } from './live-datasource.js';
import type { NodeBudget } from './node-budget.js';
import { statementSeconds, type NodeTimeSettings } from './node-limits.js';
import { enter, NodeOutputs, stagingOf } from './node-output.js';
import type { NodeTask, NodeYield } from './node-work.js';
import { drainOf, drainOfStaged } from './row-drain.js';

export interface NodeRunnerSettings extends NodeTimeSettings {
  /** `datapipelines.executor.source-fetch-size`. */
  fetchSize: number;
  writebackBatchRows: number;
}

/** Runs one node: render, connect, execute, output (contract 02 §5). Its time is the budget's, its stop the signal's. */
export class NodeRunner {
  constructor(
    private readonly renderer: TemplateRenderer,
    private readonly datasources: DatasourceAccess,
    private readonly settings: NodeRunnerSettings,
    private readonly outputs = new NodeOutputs(datasources, settings),
  ) {}

  /** Rejects with whatever went wrong first; the phase on the budget says where. `leases` lets a caller cut it off. */
  run(task: NodeTask, budget: NodeBudget, leases: LeaseHolder): Promise<NodeYield> {
    const { node } = task;
    if (isSqlNode(node)) return this.#runSql({ ...task, node }, budget, leases);
    return runChildNode({ ...task, node }, budget, leases, this.outputs);
  }

  async #runSql(task: NodeTask<SqlNode>, budget: NodeBudget, leases: LeaseHolder): Promise<NodeYield> {
    const { node, scope } = task;
    const record = node.source === TEMPDB ? undefined : await scope.sources.forRead(node.source);
    const dialect = record?.dialect ?? 'DUCKDB';
    task.trace.dialect = dialect;
    budget.limitStatement(
      statementSeconds(node, scope.document, record ? statementSecondsOf(record) : null, this.settings),
    );
    const statement = await this.#statement(task, dialect, budget);
    return node.source === TEMPDB
      ? await this.#onTempdb(task, statement, budget, leases)
      : await this.#onDatasource(task, statement, dialect, budget, leases);
  }

  /** Render, then the bind values typed for the driver. */
  async #statement(
    task: NodeTask<SqlNode>,
    dialect: Dialect,
    budget: NodeBudget,
  ): Promise<BoundStatement & StagingStatement> {
    const { node, scope, trace } = task;
    budget.phase = 'render';
    const input = { dialect, context: scope.context.of(node.id), now: scope.now };
    const { sql, binds } = await renderNode(this.renderer, node, scope.templates, input, budget.signal);
    trace.sql = sql;
    trace.boundTexts = boundTexts(binds);
    return bindStatement(dialect, sql, binds);
  }

  async #onTempdb(
    task: NodeTask<SqlNode>,
    statement: StagingStatement,
    budget: NodeBudget,
    leases: LeaseHolder,
  ): Promise<NodeYield> {
    const { node } = task;
    enter(task, budget, 'connect', 'connecting');
    return stagingOf(task).withConnection(budget.signal, async (connection) => {
      enter(task, budget, 'execute', 'executing');
      const sql = await disciplined(connection, statement.sql, node.type, budget.signal);
      const checked = { sql, values: statement.values };
      const { output } = node;
      if (node.type !== 'DQL') {
        const changed = await budget.statement(() => runCounted(connection, checked, budget.signal));
        if (node.type === 'DML') task.progress.counted(changed);
        return { rowsOut: node.type === 'DML' ? changed : 0, bytesOut: 0 };
      }
      if (output?.target === 'tempdb') {
        const rowsOut = await budget.statement(() => stageQuery(connection, output.table, checked, budget.signal));
        stagingOf(task).tableStaged();
        task.progress.counted(rowsOut);
        return { rowsOut, bytesOut: 0 };
      }
      return this.#outOfTempdb(task, connection, checked, budget, leases);
    });
  }

  async #outOfTempdb(
    task: NodeTask<SqlNode>,
    connection: StagingConnection,
    statement: StagingStatement,
    budget: NodeBudget,
    leases: LeaseHolder,
  ): Promise<NodeYield> {
    const result = await budget.statement(() => materialise(connection, task.node.id, statement, budget.signal));
    try {
      return await this.outputs.put(task, drainOfStaged(result, budget, task.progress), budget, leases, () => []);
    } finally {
      await result.drop();
    }
  }

  async #onDatasource(
    task: NodeTask<SqlNode>,
    statement: BoundStatement,
    dialect: Dialect,
    budget: NodeBudget,
    leases: LeaseHolder,
  ): Promise<NodeYield> {
    const { node, scope } = task;
    const { signal } = budget;
    refuseOtherClass(dialect, statement.sql, node);
    enter(task, budget, 'connect', 'connecting');
    if (node.type !== 'DQL') await refuseReadonly(this.datasources, node.source, scope.workspaceId);
    const access = node.type === 'DQL' ? 'read' : 'write';
    const cause = { executionId: scope.executionId, nodeId: node.id };
    const lease = await leases.hold(this.datasources.lease(node.source, { signal, access, cause }));
    enter(task, budget, 'execute', 'executing');
    if (node.type !== 'DQL') {
      const changed = await budget.statement(() => lease.execute(statement, { signal, backstopMs: budget.backstopMs }));
      task.progress.witnessed({ committed: true });
      if (node.type === 'DML') task.progress.counted(changed);
      return { rowsOut: node.type === 'DML' ? changed : 0, bytesOut: 0 };
    }
    const options = { fetchSize: this.settings.fetchSize, signal, backstopMs: budget.backstopMs };
    const cursor = await budget.statement(() => lease.openCursor(statement, options));
    return this.#fromCursor(task, cursor, budget, leases);
  }

  async #fromCursor(
    task: NodeTask<SqlNode>,
    cursor: Cursor,
    budget: NodeBudget,
    leases: LeaseHolder,
  ): Promise<NodeYield> {
    try {
      return await this.outputs.put(
        task,
        await drainOf(cursor, budget, task.progress),
        budget,
        leases,
        () => cursor.warnings,
      );
    } finally {
      await cursor.close();
    }
  }
}

/** Texts a driver might quote in an error. */
function boundTexts(binds: ReadonlyMap<string, TypedValue>): string[] {
  return [...binds.values()].flatMap(({ value }) => (typeof value === 'string' && value !== '' ? [value] : []));
}

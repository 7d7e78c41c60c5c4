import { context, SpanKind, SpanStatusCode, trace, type Attributes, type Context, type Span } from '@opentelemetry/api';
import type { Dialect } from '#libs/typesystem';
import { isSqlNode, type PipelineNode } from '#libs/pipelines';
import type { NodeStat } from './node-stats.js';
import type { TerminalOutcome } from './run-ending.js';
import type { RunPlan } from './run-plan.js';

/** The sampler keeps every span that carries it (contract 02 §12). */
export const EXECUTION_ID = 'datapipelines.execution.id';

/** Words of OpenTelemetry's database conventions. */
const SYSTEMS: Readonly<Record<Dialect, string>> = {
  POSTGRES: 'postgresql',
  MYSQL: 'mysql',
  MSSQL: 'microsoft.sql_server',
  ORACLE: 'oracle.db',
  H2: 'h2database',
  SQLITE: 'sqlite',
  DUCKDB: 'duckdb',
  LAKE: 'duckdb',
};

/**
 * The spans of one run: one for the execution, below whatever launched it, and one for each node below that. Names and
 * codes only: no SQL, no parameter and no value ever becomes an attribute. Costs nothing while nobody traces.
 */
export class RunSpans {
  readonly #tracer = trace.getTracer('penstock');
  readonly #attributes: Attributes;
  readonly #nodes = new Map<string, Span>();
  #run: Span | undefined;
  #within: Context = context.active();

  constructor(private readonly plan: RunPlan) {
    this.#attributes = { [EXECUTION_ID]: plan.executionId };
  }

  begin(): void {
    const { pipeline, correlationId, lineage, clock } = this.plan;
    const attributes: Attributes = {
      ...this.#attributes,
      'datapipelines.pipeline.id': pipeline.pipelineId,
      'datapipelines.pipeline.version': pipeline.version,
      'datapipelines.execution.root_id': lineage.rootExecutionId,
      'datapipelines.correlation_id': correlationId,
    };
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: new Date(clock.startedAt) };
    this.#run = this.#tracer.startSpan('pipeline execution', options, this.#within);
    this.#within = trace.setSpan(this.#within, this.#run);
  }

  /** Does `work` as a part of a node: what it begins is below the node's span. */
  within<T>(nodeId: string, work: () => T): T {
    const span = this.#nodes.get(nodeId);
    return span ? context.with(trace.setSpan(this.#within, span), work) : work();
  }

  nodeStarted(node: PipelineNode, at: Date): void {
    const attributes: Attributes = {
      ...this.#attributes,
      'datapipelines.node.id': node.id,
      'datapipelines.node.type': node.type,
      ...(isSqlNode(node) ? { 'datapipelines.node.source': node.source } : {}),
    };
    const options = { kind: SpanKind.CLIENT, attributes, startTime: at };
    this.#nodes.set(node.id, this.#tracer.startSpan(`node ${node.type}`, options, this.#within));
  }

  nodeEnded(stat: NodeStat, dialect: string | undefined): void {
    const span = this.#nodes.get(stat.node_id);
    if (!span) return;
    this.#nodes.delete(stat.node_id);
    if (dialect !== undefined && dialect in SYSTEMS) span.setAttribute('db.system.name', SYSTEMS[dialect as Dialect]);
    if (stat.rows_out >= 0) span.setAttribute('datapipelines.node.rows_out', stat.rows_out);
    this.#finish(span, stat.status === 'FAILED' ? (stat.error_code ?? 'failed') : undefined, stat.status);
  }

  /** Ends the run's span, and with it those of nodes that were cut. */
  end({ status, failure }: Pick<TerminalOutcome, 'status' | 'failure'>): void {
    for (const span of this.#nodes.values()) this.#finish(span, undefined, 'ABORTED');
    this.#nodes.clear();
    if (this.#run) this.#finish(this.#run, failure?.code, status);
  }

  /** In the run's own time: it begins at the row's stamp and goes on monotonically. */
  #finish(span: Span, errorCode: string | undefined, status: string): void {
    span.setAttribute('datapipelines.status', status);
    if (errorCode !== undefined) {
      span.setAttribute('error.type', errorCode);
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode });
    }
    span.end(this.plan.clock.now());
  }
}

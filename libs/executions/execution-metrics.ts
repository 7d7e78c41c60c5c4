import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { isSqlNode, type PipelineNode } from '#libs/pipelines';
import { BoundedSeries } from './bounded-series.js';
import type { NodeStat } from './run/node-stats.js';
import type { AbortReason } from './run/outcome.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Nodes, and pipelines, whose series are kept: those that ran last. */
const NODES_KEPT = 2000;
const PIPELINES_KEPT = 2000;
const STATUSES = ['SUCCESS', 'FAILED', 'ABORTED'];
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

export type ResultWriteOutcome = 'stored' | 'too_large' | 'storage_unavailable';
export type CursorOutcome = 'hit' | 'expired' | 'not_found';

/** Values that are read when somebody scrapes. */
export interface ExecutionGauges {
  running(): number;
  stagingEngines(): number;
  stagedTables(): number;
  spilledBytes(): Promise<number>;
  stagingCallsWaiting(): number;
}

/** The metrics of contract 02 §12, registered in one place. Labels are closed sets or stored ids. */
export class ExecutionMetrics {
  readonly #executions;
  readonly #aborted;
  readonly #duration;
  readonly #swept;
  readonly #fenced;
  readonly #nodeDuration;
  readonly #rowsOut;
  readonly #stagedRows;
  readonly #stagedBytes;
  readonly #abandoned;
  readonly #resultBytes;
  readonly #resultWrites;
  readonly #resultSize;
  readonly #cursorReads;
  readonly #persistLag;
  readonly #eventsDropped;
  readonly #idempotencyHits;
  readonly #idempotencyConflicts;
  readonly #nodesKept = new BoundedSeries<{ pipeline_id: string; node_id: string; source: string }>(
    NODES_KEPT,
    ({ source, ...node }) => {
      this.#nodeDuration.remove({ ...node, source });
      this.#rowsOut.remove(node);
    },
  );
  readonly #pipelinesKept = new BoundedSeries<{ pipeline_id: string }>(PIPELINES_KEPT, (pipeline) => {
    this.#duration.remove(pipeline);
    for (const status of STATUSES) this.#executions.remove({ status, ...pipeline });
  });

  constructor(private readonly registry: Registry) {
    const registers = [registry];
    const counter = <L extends string>(counted: string, help: string, labelNames: L[] = []) => {
      const name = `datapipelines_${counted}_total`;
      return known<Counter<L>>(registry, name) ?? new Counter({ name, help, labelNames, registers });
    };
    const histogram = <L extends string>(measured: string, help: string, labelNames: L[], buckets: number[]) => {
      const name = `datapipelines_${measured}`;
      return known<Histogram<L>>(registry, name) ?? new Histogram({ name, help, labelNames, buckets, registers });
    };
    const seconds = <L extends string>(name: string, help: string, labelNames: L[]) =>
      histogram(`${name}_seconds`, help, labelNames, SECONDS);
    this.#executions = counter('executions', 'Executions that ended.', ['status', 'pipeline_id']);
    this.#aborted = counter('executions_aborted', 'Executions ended from outside.', ['reason']);
    this.#duration = seconds('executions_duration', 'Time from start to end.', ['pipeline_id']);
    this.#swept = counter('executions_swept', 'Executions of lost instances ended by this one.');
    this.#fenced = counter('executions_fenced', 'Executions this instance lost to another.');
    this.#nodeDuration = seconds('nodes_duration', 'Time of a node.', ['pipeline_id', 'node_id', 'source']);
    this.#rowsOut = counter('nodes_rows_out', 'Rows nodes put out.', ['pipeline_id', 'node_id']);
    this.#stagedRows = counter('staging_rows', 'Rows staged.');
    this.#stagedBytes = counter('staging_bytes', 'Bytes of values staged from datasources.');
    this.#abandoned = counter('nodes_statements_abandoned', 'Statements that did not stop when asked.');
    this.#resultBytes = counter('result_bytes_written', 'Bytes of stored results, before compression.');
    this.#resultWrites = counter('result_writes', 'Results by what became of them.', ['outcome']);
    this.#cursorReads = counter('result_cursor_reads', 'Reads of results.', ['format', 'outcome']);
    this.#resultSize = histogram('result_size_bytes', 'Sizes of stored results.', [], BYTES);
    const lag = 'datapipelines_events_persist_lag_seconds';
    const lagHelp = 'Age of the oldest event of the last batch written to the table.';
    this.#persistLag = known<Gauge>(registry, lag) ?? new Gauge({ name: lag, help: lagHelp, registers });
    this.#eventsDropped = counter('events_dropped', 'Events the transient log never got.');
    this.#idempotencyHits = counter('idempotency_cache_hits', 'Launches answered by an earlier run.');
    this.#idempotencyConflicts = counter('idempotency_conflicts', 'Keys used again for another request.');
  }

  /** The instance that is asked from now on. */
  watch(gauges: ExecutionGauges): void {
    const gauge = (gauged: string, help: string, read: () => number | Promise<number>) => {
      const name = `datapipelines_${gauged}`;
      this.registry.removeSingleMetric(name);
      return new Gauge({
        name,
        help,
        registers: [this.registry],
        async collect() {
          this.set(await read());
        },
      });
    };
    gauge('executions_concurrent', 'Executions running here.', () => gauges.running());
    gauge('staging_engines', 'Staging engines open here.', () => gauges.stagingEngines());
    gauge('staging_active_tables', 'Tables staged in engines open here.', () => gauges.stagedTables());
    gauge('staging_spill_bytes', 'Bytes staging holds on disk.', () => gauges.spilledBytes());
    gauge('staging_calls_waiting', 'Native calls that wait for a thread.', () => gauges.stagingCallsWaiting());
  }

  executionEnded(status: string, pipelineId: string, seconds: number, reason?: AbortReason): void {
    this.#pipelinesKept.use({ pipeline_id: pipelineId });
    this.#executions.inc({ status, pipeline_id: pipelineId });
    this.#duration.observe({ pipeline_id: pipelineId }, seconds);
    if (reason) this.#aborted.inc({ reason });
  }

  nodeEnded(pipelineId: string, node: PipelineNode, stat: NodeStat): void {
    const labels = { pipeline_id: pipelineId, node_id: node.id };
    const timed = { ...labels, source: isSqlNode(node) ? node.source : node.type };
    this.#nodesKept.use(timed);
    this.#nodeDuration.observe(timed, stat.duration_ms / 1000);
    // -1 = not measured.
    if (stat.rows_out < 0) return;
    this.#rowsOut.inc(labels, stat.rows_out);
    if (!isSqlNode(node) || node.output?.target !== 'tempdb') return;
    this.#stagedRows.inc(stat.rows_out);
    this.#stagedBytes.inc(stat.bytes_out);
  }

  swept(count: number): void {
    this.#swept.inc(count);
  }

  fenced(): void {
    this.#fenced.inc();
  }

  statementAbandoned(): void {
    this.#abandoned.inc();
  }

  resultWritten(outcome: ResultWriteOutcome, bytes = 0): void {
    this.#resultWrites.inc({ outcome });
    if (outcome !== 'stored') return;
    this.#resultBytes.inc(bytes);
    this.#resultSize.observe(bytes);
  }

  cursorRead(format: 'json' | 'csv', outcome: CursorOutcome): void {
    this.#cursorReads.inc({ format, outcome });
  }

  persistLag(seconds: number): void {
    this.#persistLag.set(seconds);
  }

  eventsDropped(count: number): void {
    this.#eventsDropped.inc(count);
  }

  idempotencyHit(): void {
    this.#idempotencyHits.inc();
  }

  idempotencyConflict(): void {
    this.#idempotencyConflicts.inc();
  }
}

/** Several servers of one process share the registry, and then its metrics. */
function known<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

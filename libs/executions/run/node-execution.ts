import { isPenstockError } from '#libs/kernel';
import { isSqlNode, type CalculatorNode, type PipelineNode, type WorkNode } from '#libs/pipelines';
import { failureRecord, type FailedNode, type FailureRecord } from './failure-record.js';
import { LeaseHolder } from './lease-holder.js';
import { NodeBudget } from './node-budget.js';
import { wallClockSeconds } from './node-limits.js';
import { NodeProgress, type ProgressSample } from './node-progress.js';
import type { NodeEntry } from './node-stats.js';
import type { NodeTask, NodeTrace, NodeYield, RunScope } from './node-work.js';
import { RunStopped } from './outcome.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';
import { withinGrace } from './within-grace.js';

/**
 * A PIPELINE node ends behind its child, which may need the whole grace for its own nodes and a moment for its record. All
 * generations stop at the same time, so this holds at any depth.
 */
const FAMILY_GRACE = 2;

/** A served call's id is known to nobody before its answer. */
const SERVED_GATHER_MS = 100;

/** Runs the nodes of one run and records what becomes of them: statistics, events, the first failure. */
export class NodeExecution {
  constructor(
    private readonly state: RunState,
    private readonly scope: RunScope,
    private readonly services: RunServices,
  ) {}

  /** True when the node succeeded. Never rejects. */
  async run(node: PipelineNode): Promise<boolean> {
    const at = this.#started(node);
    return node.type === 'CALCULATOR' ? this.#compute(node) : this.#work(node, this.#progress(node, at));
  }

  /** In place: a calculator waits for nothing, and its time is bounded by what it takes. */
  #compute(node: CalculatorNode): boolean {
    try {
      const record = this.state.calculation.run(node);
      const at = this.state.now();
      this.#ended({ node }, at, this.state.stats.computed(node.id, at, record));
      return true;
    } catch (error) {
      this.#fail({ node }, this.#record(node, {}, error));
      return false;
    }
  }

  async #work(node: WorkNode, progress: NodeProgress): Promise<boolean> {
    const { settings, runner } = this.services;
    const budget = new NodeBudget(
      this.state.latch.signal,
      wallClockSeconds(node, settings),
      undefined,
      settings.cancelGraceMs,
    );
    const leases = new LeaseHolder((error) => this.services.logger.warn('A connection did not go back.', { error }));
    const task: NodeTask = { node, scope: this.scope, progress, trace: {} };
    try {
      const work = runner.run(task, budget, leases);
      const abandon = () => this.#abandoned(node, leases);
      const grace = isSqlNode(node) ? settings.cancelGraceMs : FAMILY_GRACE * settings.cancelGraceMs;
      const yielded = await withinGrace(work, budget.signal, grace, abandon);
      // A connection finds back to its first state while the run goes on; whoever needs it next waits for it in the pool.
      void leases.release('ok');
      this.#succeeded(task, yielded);
      return true;
    } catch (error) {
      await leases.release('destroy');
      this.#notSucceeded(task, budget, error);
      return false;
    } finally {
      progress.close();
      budget.dispose();
    }
  }

  /** The node never got its permits: it started and failed at once. */
  refused(node: PipelineNode, reason: unknown): Promise<void> {
    const at = this.#started(node);
    const progress = node.type === 'CALCULATOR' ? undefined : this.#progress(node, at);
    this.#fail({ node, progress }, this.#record(node, {}, reason));
    return Promise.resolve();
  }

  #started(node: PipelineNode): Date {
    const { state } = this;
    const at = state.now();
    state.stats.started(node.id, at);
    state.spans.nodeStarted(node, at);
    state.emit(state.events.nodeStarted(at, node.id));
    this.services.progress.boundary(state);
    return at;
  }

  #progress(node: WorkNode, at: Date): NodeProgress {
    const { state, services } = this;
    const clock = {
      now: () => state.now(),
      sampleIntervalMs: services.settings.progressSampleMs,
      ...(state.plan.trail ? { gatherMs: SERVED_GATHER_MS } : {}),
    };
    return new NodeProgress(
      node,
      at,
      clock,
      (sample) => this.#tell(sample),
      (rows, bytes) => {
        state.stats.progress(node.id, rows, bytes);
        services.progress.rows(state);
      },
      state.plan.stream ? 'parent' : 'caller',
    );
  }

  /** Samples are the first to go when the table does not take events for long: every other event is kept. */
  #tell(sample: ProgressSample): void {
    if (this.services.hub.isCrowded) return this.services.metrics.eventsDropped(1);
    this.state.emit(this.state.events.nodeProgress(this.state.now(), sample));
  }

  #succeeded(task: NodeTask, { rowsOut, bytesOut, delivered }: NodeYield): void {
    const { node, progress } = task;
    const at = this.state.now();
    if (delivered) this.state.delivered = delivered;
    progress.end('completed');
    this.#ended(task, at, this.state.stats.succeeded(node.id, at, rowsOut, bytesOut));
  }

  #ended({ node, trace }: { node: PipelineNode; trace?: NodeTrace }, at: Date, stat: NodeEntry): void {
    this.state.spans.nodeEnded(stat, trace?.dialect);
    this.state.emit(this.state.events.nodeCompleted(at, stat));
    this.services.progress.boundary(this.state);
    this.services.metrics.nodeEnded(this.state.plan.pipeline.pipelineId, node, stat);
    this.services.cancellations.lookSoon();
  }

  #notSucceeded(task: NodeTask, budget: NodeBudget, error: unknown): void {
    const { node, trace } = task;
    const { reason } = budget.signal;
    // A budget that ran out is the cause, whatever the driver said when it was cut.
    const cause: unknown = isPenstockError(reason) ? reason : error;
    if (!this.state.latch.outcome) return this.#fail(task, this.#record(node, trace, cause, budget));
    const known = cause instanceof RunStopped || reason === cause;
    task.progress.end('aborted');
    this.state.stats.cut(node.id, known ? undefined : this.#record(node, trace, cause, budget));
    this.services.progress.boundary(this.state);
  }

  #fail(
    { node, progress, trace }: { node: PipelineNode; progress?: NodeProgress | undefined; trace?: NodeTrace },
    error: FailureRecord,
  ): void {
    const at = this.state.now();
    progress?.end('failed');
    const stat = this.state.stats.failed(node.id, at, error);
    this.state.spans.nodeEnded(stat, trace?.dialect);
    this.state.emit(this.state.events.nodeFailed(at, stat, error));
    this.state.latch.set({ kind: 'failed', error, nodeId: node.id });
    this.services.progress.boundary(this.state);
    this.services.metrics.nodeEnded(this.state.plan.pipeline.pipelineId, node, stat);
  }

  #abandoned(node: PipelineNode, leases: LeaseHolder): void {
    const { executionId, correlationId } = this.state.plan;
    const fields = { execution_id: executionId, correlation_id: correlationId, node_id: node.id };
    this.services.logger.warn('node.statement_abandoned', fields);
    this.services.metrics.statementAbandoned();
    void leases.cut();
  }

  #record(node: PipelineNode, trace: NodeTrace, error: unknown, budget?: NodeBudget): FailureRecord {
    const { errorDetail, baseUrl } = this.services.settings;
    return failureRecord(error, {
      correlationId: this.state.plan.correlationId,
      baseUrl,
      detail: errorDetail,
      phase: budget?.phase ?? 'connect',
      node: failedNode(node, trace),
      sql: trace.sql,
      boundTexts: trace.boundTexts,
      engine: this.scope.staging,
    });
  }
}

function failedNode(node: PipelineNode, { dialect = 'unknown' }: NodeTrace): FailedNode {
  const { id, type } = node;
  switch (node.type) {
    case 'CALCULATOR':
      return { id, type, kind: node.calculator.kind };
    case 'PIPELINE':
      return { id, type, pipeline: node.pipeline.name, pipeline_version: node.pipeline.version };
    default:
      return {
        id,
        type,
        datasource: node.source,
        dialect,
        template: node.template.id,
        template_version: node.template.version,
      };
  }
}

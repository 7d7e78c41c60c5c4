import { isPenstockError, PenstockError } from '#libs/kernel';
import type { ChildNode, PipelineNode } from '#libs/pipelines';
import type { HostedRun } from '../host/hosted-run.js';
import type { StartedChild } from '../family/child-launcher.js';
import { Scheduler } from '../scheduling/scheduler.js';
import type { ResultWriter } from '../results/result-writer.js';
import type { StagingEngine } from '../staging/staging-engine.js';
import { failureRecord } from './failure-record.js';
import { NodeExecution } from './node-execution.js';
import { LaunchSources } from './launch-sources.js';
import { permitsOf, usesTempdb } from './node-limits.js';
import type { RunScope } from './node-work.js';
import type { AbortReason } from './outcome.js';
import { refuseUnreachable } from './reachability.js';
import { RunEnding, type TerminalOutcome } from './run-ending.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';

/** One execution on the instance that owns it: one scheduler, at most one staging engine, one end (contract 02 §1). */
export class ExecutionRun implements HostedRun {
  readonly #ending: RunEnding;

  constructor(
    readonly state: RunState,
    private readonly services: RunServices,
  ) {
    this.#ending = new RunEnding(state, services);
  }

  get executionId(): string {
    return this.state.executionId;
  }

  get userId(): string {
    return this.state.plan.userId;
  }

  get workspaceId(): string {
    return this.state.plan.pipeline.workspaceId;
  }

  get attached(): boolean {
    return this.state.plan.attached;
  }

  cancel(reason: AbortReason): void {
    this.state.latch.set({ kind: 'aborted', reason });
  }

  fail(error: unknown): void {
    this.#fail(error);
  }

  fence(): void {
    this.state.latch.set({ kind: 'fenced' });
  }

  async run(): Promise<TerminalOutcome> {
    const { state, services } = this;
    const { plan, latch } = state;
    state.spans.begin();
    state.emit(state.events.executionStarted(state.now(), plan.parametersJson));
    const deadline = setTimeout(() => this.#deadline(), services.settings.executionTimeoutSeconds * 1000);
    const result = services.results.writer(plan.executionId, plan.resultTtlSeconds, latch.signal);
    let staging: StagingEngine | undefined;
    try {
      staging = await this.#openStaging();
      const sources = new LaunchSources(services.datasources, plan.pipeline.workspaceId, plan.sources);
      await refuseUnreachable(services.datasources, sources.names, latch.signal, this.executionId);
      await this.#runNodes({ staging, result, sources });
    } catch (error) {
      this.#fail(error);
    } finally {
      clearTimeout(deadline);
    }
    const closing = staging?.close();
    const outcome = await this.#end(result);
    await closing;
    // Held by the engine while there was one.
    plan.memory?.release();
    state.spans.end(outcome);
    return outcome;
  }

  async #openStaging(): Promise<StagingEngine | undefined> {
    const { plan, latch } = this.state;
    const { document } = plan.pipeline;
    if (!usesTempdb(document)) return undefined;
    return await this.services.staging.create(plan.executionId, { memory: plan.memory, signal: latch.signal });
  }

  async #runNodes(means: Pick<RunScope, 'staging' | 'result' | 'sources'>): Promise<void> {
    const { plan, latch } = this.state;
    const nodes = new NodeExecution(this.state, this.#scope(means), this.services);
    const scheduler = new Scheduler<PipelineNode>(
      plan.pipeline.document.nodes,
      this.services.board,
      {
        inPlace: (node) => node.type === 'CALCULATOR',
        datasources: permitsOf,
        run: (node) => this.#runNode(nodes, node),
        refused: (node, reason) => nodes.refused(node, reason),
      },
      plan.permits.at(plan.lineage.depth),
      plan.graph,
    );
    await scheduler.run(latch.signal);
  }

  /** A node that may not start any more leaves no entry of its own: it is ABORTED with the rest at the end. */
  async #runNode(nodes: NodeExecution, node: PipelineNode): Promise<boolean> {
    try {
      await this.services.ownership.admit(this);
    } catch (error) {
      this.#fail(error);
      return false;
    }
    return nodes.run(node);
  }

  async #end(result: ResultWriter): Promise<TerminalOutcome> {
    const { state, services } = this;
    try {
      const dataReady = state.latch.outcome ? undefined : await this.#ending.conclude();
      const outcome = state.latch.outcome ?? { kind: 'success' };
      const ended = await this.#ending.write(outcome, dataReady);
      if (ended.status !== 'SUCCESS') await this.#discard(result);
      return ended;
    } catch (error) {
      // The record itself was refused: the row stays RUNNING without heartbeats, and the sweep ends it.
      state.ended = true;
      services.hub.abandon(state.log, 'record-unavailable');
      services.logger.error('The end of a run could not be written.', { execution_id: state.executionId, error });
      await this.#discard(result);
      return this.#ending.unrecorded('record_unavailable');
    }
  }

  async #discard(result: ResultWriter): Promise<void> {
    await result.settle();
    if (!result.begun) return;
    try {
      await this.services.results.discard(this.executionId);
    } catch (error) {
      // Its keys expire, and until then the row says that there is no result.
      this.services.logger.warn('A result was not discarded.', { execution_id: this.executionId, error });
    }
  }

  #scope(means: Pick<RunScope, 'staging' | 'result' | 'sources'>): RunScope {
    const { plan } = this.state;
    return {
      executionId: plan.executionId,
      workspaceId: plan.pipeline.workspaceId,
      context: this.state.context,
      document: plan.pipeline.document,
      now: plan.clock.startedAt,
      templates: plan.templates,
      ...means,
      stream: plan.stream,
      isLast: (nodeId) => this.state.stats.isLast(nodeId),
      startChild: (node, signal) => this.#startChild(node, signal),
      confirmOwnership: () => this.services.ownership.confirm(this),
    };
  }

  async #startChild(node: ChildNode, signal: AbortSignal): Promise<StartedChild> {
    const { plan, stats, context, spans } = this.state;
    const start = () => this.services.startChild(plan, node, context.of(node.id), signal);
    const child = await spans.within(node.id, start);
    stats.child(node.id, child.executionId);
    this.services.progress.boundary(this.state);
    return child;
  }

  #deadline(): void {
    const seconds = this.services.settings.executionTimeoutSeconds;
    this.#fail(
      new PenstockError('pipeline.execution.timeout', {
        message: `The execution ran longer than ${seconds} s.`,
        details: { timeout_seconds: seconds, elapsed_ms: this.state.plan.clock.elapsedMs() },
      }),
    );
  }

  /** The run as a whole failed: no node is to blame. */
  #fail(error: unknown): void {
    const { errorDetail, baseUrl } = this.services.settings;
    const { correlationId } = this.state.plan;
    if (!isPenstockError(error) && this.state.latch.outcome) return;
    const record = failureRecord(error, { correlationId, baseUrl, detail: errorDetail });
    this.state.latch.set({ kind: 'failed', error: record, nodeId: null });
  }
}

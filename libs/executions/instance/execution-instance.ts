import { Injectable, Optional } from '@nestjs/common';
import { DatasourceAccess, NativeCallGate } from '#libs/datasources';
import { Configuration, Logger, newId, PenstockError } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ContextBuilder } from '#libs/pipelines';
import { TemplateRenderer } from '#libs/templates';
import { TransientStore } from '#libs/transient';
import type { EventHub } from '../events/event-hub.js';
import type { LogReader } from '../events/log-reader.js';
import type { RemoteLogs } from '../events/remote-logs.js';
import { ExecutionPlace } from '../host/execution-place.js';
import { ExecutionThreads } from '../host/execution-threads.js';
import type { Metrics } from '../host/thread-counts.js';
import type { HostedRun } from '../host/hosted-run.js';
import { ChildLauncher, type ChildHost, type StartedChild } from '../family/child-launcher.js';
import { ExecutionMetrics } from '../execution-metrics.js';
import { EventTable } from '../records/event-table.js';
import { Heartbeats } from '../records/heartbeats.js';
import { LostRuns } from '../records/lost-runs.js';
import { MetadataTrust } from '../records/metadata-trust.js';
import { TerminalWrites } from '../records/terminal-writes.js';
import { ResultStore } from '../results/result-store.js';
import { ExecutionRun } from '../run/execution-run.js';
import { RunFactory } from '../run/run-factory.js';
import { NodeRunner } from '../run/node-runner.js';
import type { AbortReason } from '../run/outcome.js';
import { Ownership } from '../run/ownership.js';
import { ProgressWriter } from '../run/progress-writer.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { RunServices } from '../run/run-services.js';
import { PermitBoard } from '../scheduling/permit-board.js';
import { SharedMemory } from '../staging/shared-memory.js';
import type { SpillFolders } from '../staging/spill-folders.js';
import type { StagingFactory } from '../staging/staging-factory.js';
import { Attachments } from './attachments.js';
import { Cancellations } from './cancellations.js';
import { InstanceLogs } from './instance-logs.js';
import { instanceSettings, type InstanceSettings } from './instance-settings.js';
import { InstanceStaging } from './instance-staging.js';
import type { RunFacts } from './run-facts.js';
import { RunRegistry } from './run-registry.js';
import { UserLeases, type UserLease } from './user-leases.js';

/** The engine of one server process: the runs it owns and what they share (contract 02 §1). */
@Injectable()
export class ExecutionInstance implements ChildHost {
  readonly id = newId();
  readonly settings: InstanceSettings;
  readonly runs: RunRegistry;
  readonly leases: UserLeases;
  readonly attachments: Attachments;
  readonly cancellations: Cancellations;
  readonly ownership: Ownership;
  readonly trust: MetadataTrust;
  readonly logger: Logger;
  readonly lost: LostRuns;
  readonly #factory: RunFactory;
  readonly #progress: ProgressWriter;
  readonly #logs: InstanceLogs;
  readonly #engines: InstanceStaging;
  /** Runs whose scheduler works here. */
  readonly #here = new Set<ExecutionRun>();
  readonly #threads: ExecutionThreads | undefined;
  readonly #finished = new Map<string, Promise<TerminalOutcome>>();
  #draining = false;
  #cancelled: AbortReason | undefined;

  constructor(
    configuration: Configuration,
    database: Database,
    private readonly store: TransientStore,
    renderer: TemplateRenderer,
    datasources: DatasourceAccess,
    contexts: ContextBuilder,
    readonly metrics: ExecutionMetrics,
    logger: Logger,
    children: ChildLauncher,
    readonly gate: NativeCallGate,
    @Optional() private readonly place: ExecutionPlace = ExecutionPlace.inline(),
  ) {
    const settings = instanceSettings(configuration);
    this.settings = settings;
    this.logger = logger.child('executions');
    this.trust = new MetadataTrust(3 * settings.heartbeatMs);
    const problem = (message: string) => (error: unknown) => {
      this.trust.failed();
      this.logger.warn(message, { error });
    };
    const table = new EventTable(database);
    const heartbeats = new Heartbeats(database);
    const { membership, threads } = place;
    const board = membership?.board ?? new PermitBoard(datasources);
    membership?.board.judgeBy(datasources);
    const memory = membership?.memory ?? new SharedMemory();
    this.runs = new RunRegistry(settings.runsPerInstance);
    this.#engines = new InstanceStaging(this.id, settings.staging, memory, gate, this.logger);
    this.#logs = new InstanceLogs({
      ...{ database, store, table, metrics, logger: this.logger },
      executionTimeoutSeconds: settings.run.executionTimeoutSeconds,
      tableFailed: problem('Events were not written to the table.'),
    });
    this.ownership = new Ownership(
      heartbeats,
      this.#here,
      board,
      settings.heartbeatMs,
      problem('Heartbeats were not written.'),
    );
    this.leases = new UserLeases(store, { ...settings, leaseSeconds: (3 * settings.heartbeatMs) / 1000 }, this.logger);
    this.cancellations = new Cancellations(store, this.runs, settings.cancelPollMs, this.logger);
    const clock = { graceMs: settings.disconnectGraceMs, heartbeatMs: settings.streamHeartbeatMs };
    this.attachments = new Attachments(store, clock, this.logger);
    this.#progress = new ProgressWriter(heartbeats, settings.progressIntervalMs, problem('Progress was not written.'));
    const services: RunServices = {
      settings: settings.run,
      board,
      runner: new NodeRunner(renderer, datasources, settings.nodes),
      startChild: (parent, node, context, signal) => children.start(parent, node, context, signal, this),
      datasources,
      staging: this.staging,
      results: new ResultStore(store, {
        maxBytes: settings.result.maxBytes,
        drainTtlSeconds: settings.run.executionTimeoutSeconds + settings.result.ttlMaxSeconds,
      }),
      hub: this.hub,
      terminal: new TerminalWrites(database),
      progress: this.#progress,
      ownership: this.ownership,
      cancellations: this.cancellations,
      metrics,
      logger: this.logger,
    };
    this.#factory = new RunFactory(settings, contexts, this.hub, services);
    this.lost = new LostRuns(database, table, store, this.reader, metrics, this.logger, settings.run.baseUrl);
    this.#threads =
      threads &&
      new ExecutionThreads({
        ...{ source: threads, memory, runs: this.runs, lost: this.lost, logger: this.logger },
        spillDirectory: settings.staging.spillDirectory,
        baseUrl: settings.run.baseUrl,
        discardResult: (executionId) => store.discardResult(executionId),
      });
    metrics.watch({
      running: () => this.#here.size,
      stagingEngines: () => this.staging.active,
      stagedTables: () => this.staging.tables,
      spilledBytes: () => this.spill.bytes(),
      stagingCallsWaiting: () => this.gate.waiting,
    });
  }

  get hub(): EventHub {
    return this.#logs.hub;
  }

  get reader(): LogReader {
    return this.#logs.reader;
  }

  get remoteLogs(): RemoteLogs {
    return this.#logs.remote;
  }

  get staging(): StagingFactory {
    return this.#engines.factory;
  }

  get spill(): SpillFolders {
    return this.#engines.spill;
  }

  /** The same budgets with other settings. */
  stagingWith(change: Partial<InstanceSettings['staging']>): StagingFactory {
    return this.#engines.factoryWith(change);
  }

  async start(): Promise<void> {
    const wall = this.place.membership ? undefined : this.#engines.keepWall();
    await Promise.all([wall, this.#logs.start(), this.cancellations.start(), this.#threads?.start()]);
    this.attachments.start();
  }

  /** After the drain: nothing runs any more. */
  async stop(): Promise<void> {
    this.attachments.stop();
    await this.#threads?.stop();
    this.#progress.stop();
    await Promise.all([this.#logs.stop(), this.cancellations.stop(), this.#engines.stop()]);
  }

  refuseLaunches(): void {
    this.#draining = true;
  }

  refuseWhileDraining(): void {
    if (!this.#draining) return;
    throw new PenstockError('server.draining', { details: { retry_after_seconds: 5 } });
  }

  /** How long a result is kept, counted from its publication: what was asked for, within the operator's bounds. */
  resultTtlSeconds(asked: number | undefined): number {
    return this.#factory.resultTtlSeconds(asked);
  }

  /** The run of a row that was just inserted. */
  prepare(facts: RunFacts): HostedRun {
    return this.#threads?.run(facts) ?? this.#factory.prepare(facts);
  }

  /** Cancels what runs, and with it what is only being launched: that has a place already. Returns how many ran. */
  cancelAll(reason: AbortReason): number {
    this.#cancelled = reason;
    const runs = this.runs.all();
    for (const run of runs) run.cancel(reason);
    return runs.length;
  }

  /**
   * Runs it to its end, and gives back the slot it held. The promise never rejects; flags in the store are tidied behind
   * it, because a parent's node may wait for it inside an open write-back.
   */
  begin(run: HostedRun, slot: UserLease | undefined): Promise<TerminalOutcome> {
    if (this.#cancelled) run.cancel(this.#cancelled);
    if (run.attached) this.attachments.attach(run);
    const finished = this.#drive(run, slot);
    this.#finished.set(run.executionId, finished);
    return finished;
  }

  /** A child runs beside its parent: it counts in no limit, and ends when it is told to. */
  beginChild(facts: RunFacts): Pick<StartedChild, 'finished' | 'cancel'> {
    const run = this.#factory.prepare(facts);
    const { executionId, userId, workspaceId } = run;
    this.runs.enterChild(run);
    this.place.membership?.childBegan({ executionId, userId, workspaceId });
    const finished = this.begin(run, undefined);
    void finished.then((outcome) => {
      // However it ended: nobody waits for rows that will not come.
      facts.stream?.end();
      this.place.membership?.childEnded(outcome);
    });
    return { finished, cancel: (reason) => void run.cancel(reason) };
  }

  /** The end of a run of this instance, if it is one. */
  finished(executionId: string): Promise<TerminalOutcome> | undefined {
    return this.#finished.get(executionId);
  }

  /** Writes down what is still only in memory. */
  async flush(): Promise<void> {
    await Promise.all([this.hub.flush(), this.#threads?.flush()]);
  }

  /** What the threads of this instance count, as prom-client writes it down. */
  async metricsOfThreads(): Promise<Metrics[]> {
    return (await this.#threads?.metrics()) ?? [];
  }

  /** Dead threads that the system still waits for: this process can only be killed. */
  get lingeringThreads(): number {
    return this.#threads?.lingering ?? 0;
  }

  async #drive(run: HostedRun, slot: UserLease | undefined): Promise<TerminalOutcome> {
    if (run instanceof ExecutionRun) this.#here.add(run);
    const outcome = await run.run();
    if (run instanceof ExecutionRun) this.#here.delete(run);
    this.runs.leave(run);
    this.attachments.ended(run);
    void this.#clearCancel(run.executionId);
    // Nobody waits for the answer: what this instance asks for behind it is served behind it.
    void slot?.release();
    this.#finished.delete(run.executionId);
    // What runs in a thread is counted there.
    if (run instanceof ExecutionRun) this.#count(run, outcome);
    return outcome;
  }

  #count({ state }: ExecutionRun, { status, reason, failure, dataReady }: TerminalOutcome): void {
    const { pipeline, clock } = state.plan;
    this.metrics.executionEnded(status, pipeline.pipelineId, clock.elapsedMs() / 1000, reason);
    if (dataReady) this.metrics.resultWritten('stored', state.delivered?.stored.bytes);
    if (failure?.code === 'result.too_large') this.metrics.resultWritten('too_large');
    if (failure?.code === 'result.storage_unavailable') this.metrics.resultWritten('storage_unavailable');
  }

  async #clearCancel(executionId: string): Promise<void> {
    try {
      await this.store.clearCancel(executionId);
    } catch (error) {
      this.logger.debug('A cancel flag was not cleared; it expires.', { execution_id: executionId, error });
    }
  }
}

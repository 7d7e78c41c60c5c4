import { PenstockError, writeJson } from '#libs/kernel';
import { callerNode, encodeContext } from '#libs/pipelines';
import type { TerminalRecord } from '../records/terminal-writes.js';
import type { PublishedResult } from '../results/result-publication.js';
import { failureRecord, type FailureRecord } from './failure-record.js';
import type { AbortReason, Outcome } from './outcome.js';
import { wireColumn, type DataReady, type UnnumberedEvent } from './run-events.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';

const STATUSES = { success: 'SUCCESS', failed: 'FAILED', aborted: 'ABORTED' } as const;

/** How a run ended, for whoever waits for it. */
export interface TerminalOutcome {
  executionId: string;
  status: 'SUCCESS' | 'FAILED' | 'ABORTED';
  /** Of a FAILED run, and of one whose end this instance could not record. */
  failure?: FailureRecord;
  /** The end is not in the trail: somebody else has written the row, or will. */
  unrecorded?: true;
  reason?: AbortReason;
  /** Of a run with a caller node; rows are read from the result. */
  dataReady?: DataReady;
  /** All of its rows, where they are few enough to be kept here: JSON arrays in UTF-8, joined by line feeds. */
  rows?: Uint8Array;
}

/** The end of a run: result published and read again, one terminal transaction, then the events (contract 02 §3, §6.4). */
export class RunEnding {
  constructor(
    private readonly state: RunState,
    private readonly services: RunServices,
  ) {}

  /** All nodes have succeeded: makes the result visible and decides between SUCCESS and a lost result. */
  async conclude(): Promise<DataReady | undefined> {
    const { latch, delivered, plan } = this.state;
    latch.finalise();
    if (!delivered) {
      latch.set({ kind: 'success' });
      return undefined;
    }
    try {
      const published = await this.services.results.publish(plan.executionId, delivered, plan.resultTtlSeconds);
      latch.set({ kind: 'success' });
      return this.#dataReady(published);
    } catch (error) {
      this.#resultLost(error);
      return undefined;
    }
  }

  /** Writes the end, and only then shows it. */
  async write(outcome: Outcome, dataReady: DataReady | undefined): Promise<TerminalOutcome> {
    const { plan, log, stats } = this.state;
    if (outcome.kind === 'fenced') return this.#fenced();
    const status = STATUSES[outcome.kind];
    const audited = await plan.trail?.ended(status);
    if (outcome.kind !== 'success') stats.abortRest();
    const at = this.state.now();
    const events = log.prepare(this.#events(outcome, at, dataReady));
    const unsaved = [...log.unsavedInTable(), ...events];
    const record = { ...this.#record(outcome, at, unsaved, dataReady), audited };
    this.state.ended = true;
    this.services.progress.forget(this.state);
    const result = await this.services.terminal.write(record);
    if (result !== 'committed') return result === 'fenced' ? this.#fenced() : this.#unavailable();
    this.services.hub.seal(log, events);
    return {
      executionId: plan.executionId,
      status,
      ...(outcome.kind === 'failed' ? { failure: outcome.error } : {}),
      ...(outcome.kind === 'aborted' ? { reason: outcome.reason } : {}),
      ...(dataReady && outcome.kind === 'success' ? { dataReady, ...this.#rows() } : {}),
    };
  }

  #events(
    outcome: Exclude<Outcome, { kind: 'fenced' }>,
    at: Date,
    dataReady: DataReady | undefined,
  ): UnnumberedEvent[] {
    const { events, stats, plan } = this.state;
    const durationMs = plan.clock.elapsedMs();
    const nodeStats = stats.snapshot();
    switch (outcome.kind) {
      case 'success': {
        const completed = events.pipelineCompleted(at, durationMs, nodeStats);
        return dataReady ? [completed, events.dataReady(at, dataReady)] : [completed];
      }
      case 'failed':
        return [events.pipelineFailed(at, durationMs, nodeStats, outcome.nodeId, outcome.error)];
      case 'aborted':
        return [events.executionAborted(at, nodeStats, outcome.reason)];
    }
  }

  #record(
    outcome: Exclude<Outcome, { kind: 'fenced' }>,
    at: Date,
    events: TerminalRecord['events'],
    dataReady: DataReady | undefined,
  ): TerminalRecord {
    const { plan, delivered } = this.state;
    const failed = outcome.kind === 'failed' ? outcome : undefined;
    const stored = outcome.kind === 'success' && dataReady ? delivered?.stored : undefined;
    return {
      executionId: plan.executionId,
      status: STATUSES[outcome.kind],
      completedAt: at.toISOString(),
      durationMs: plan.clock.elapsedMs(),
      failedNodeId: failed?.nodeId ?? null,
      errorJson: failed ? writeJson(failed.error) : null,
      nodeStatsJson: this.state.nodeStatsJson(),
      resultRowCount: stored?.rowCount ?? null,
      resultSizeBytes: stored?.bytes ?? null,
      parametersJson: encodeContext(this.state.context.whole()),
      events,
    };
  }

  /** The node had completed, so there is no `node_failed`; the run fails on it all the same (contract 02 §6.4). */
  #resultLost(error: unknown): void {
    const { latch, stats, plan } = this.state;
    const { errorDetail, baseUrl } = this.services.settings;
    const lost = new PenstockError('result.storage_unavailable', {
      message: 'The result was stored but could not be read back.',
      cause: error,
    });
    const record = failureRecord(lost, { correlationId: plan.correlationId, baseUrl, detail: errorDetail });
    const nodeId = callerNode(plan.pipeline.document)?.id ?? null;
    if (latch.set({ kind: 'failed', error: record, nodeId }) && nodeId !== null) stats.failAfterwards(nodeId, record);
  }

  #rows(): Pick<TerminalOutcome, 'rows'> {
    const whole = this.state.delivered?.stored.whole;
    return whole ? { rows: whole } : {};
  }

  #dataReady({ expiresAt, ttlSeconds }: PublishedResult): DataReady {
    const { plan, delivered } = this.state;
    const { columns, warnings, stored } = delivered!;
    const rowCount = Math.min(plan.resultPageRows, stored.rowCount);
    return {
      pipeline_id: plan.pipeline.pipelineId,
      schema: columns.map(wireColumn),
      row_count: rowCount,
      total_rows: stored.rowCount,
      has_more: rowCount < stored.rowCount,
      result_url: `${this.services.settings.baseUrl}/api/v1/executions/${plan.executionId}/result`,
      expires_at: expiresAt,
      ttl_seconds: ttlSeconds,
      warnings: [...warnings],
    };
  }

  /** The row belongs to somebody else by now: nothing of ours is written. */
  #fenced(): TerminalOutcome {
    const { executionId, correlationId } = this.state.plan;
    this.state.ended = true;
    this.services.logger.warn('execution.fenced', { execution_id: executionId, correlation_id: correlationId });
    this.services.metrics.fenced();
    this.services.hub.disown(this.state.log);
    return this.unrecorded('fenced');
  }

  /** The database is away for longer than we try; the sweep of some instance will end the row. */
  #unavailable(): TerminalOutcome {
    const { executionId, correlationId } = this.state.plan;
    this.services.logger.error('The end of a run could not be recorded.', {
      execution_id: executionId,
      correlation_id: correlationId,
    });
    this.services.hub.abandon(this.state.log, 'record-unavailable');
    return this.unrecorded('record_unavailable');
  }

  /** What a waiting caller is told when the row does not tell our outcome. */
  unrecorded(reason: string): TerminalOutcome {
    const { executionId, correlationId } = this.state.plan;
    const { errorDetail, baseUrl } = this.services.settings;
    const error = new PenstockError('pipeline.execution.aborted', { details: { reason } });
    const failure = failureRecord(error, { correlationId, baseUrl, detail: errorDetail });
    return { executionId, status: 'ABORTED', failure, unrecorded: true };
  }
}

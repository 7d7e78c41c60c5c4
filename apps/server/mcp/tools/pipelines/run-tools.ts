import { Injectable } from '@nestjs/common';
import {
  ExecutionEvents,
  ExecutionResults,
  ExecutionService,
  Launcher,
  McpLaunches,
  type Launched,
  type TerminalOutcome,
} from '#libs/executions';
import { Configuration, Logger, newId, PenstockError, RawJson, type JsonObject, type Principal } from '#libs/kernel';
import { INLINE_CHARS } from '../inline-cap.js';
import { serve, type ToolCall, type ToolFamily } from '../tool.js';
import { refusalBody, RefusedResult } from '../tool-result.js';
import { PIPELINE_TOOLS } from './pipeline-declarations.js';
import { ProgressTeller } from './progress-teller.js';
import { untilGone } from './until-gone.js';

interface RunRequest {
  id: string;
  parameters?: JsonObject;
  version?: number;
  idempotency_key?: string;
}

/** Running pipelines. Runs are detached: a client that leaves takes nothing with it (03 §5.1). */
@Injectable()
export class RunTools implements ToolFamily {
  readonly tools = [serve(PIPELINE_TOOLS.execute, (call, given) => this.#execute(call, given))];
  readonly #progress: ProgressTeller;
  readonly #baseUrl: string;

  constructor(
    private readonly launcher: Launcher,
    private readonly launches: McpLaunches,
    private readonly executions: ExecutionService,
    private readonly results: ExecutionResults,
    private readonly events: ExecutionEvents,
    configuration: Configuration,
    log: Logger,
  ) {
    this.#progress = new ProgressTeller(events, log);
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  async #execute({ principal, progress, signal }: ToolCall, given: RunRequest): Promise<unknown> {
    const executionId = newId();
    // Committed before the run: it is what lets this key cancel it later.
    await this.launches.record(principal, { pipelineId: given.id, executionId });
    const launched = await this.launcher.launch(principal, {
      executionId,
      pipelineId: given.id,
      version: given.version,
      parameters: given.parameters ?? {},
      triggeredVia: 'MCP',
      detached: true,
      idempotencyKey: given.idempotency_key,
    });
    // A call that attaches holds no slot of a run; as a stream of that person it is counted all the same (03 §5.2).
    const lease = launched.replayed ? await this.events.stream(principal) : undefined;
    try {
      const told = progress ? this.#progress.tell(principal, launched.executionId, progress, signal, lease) : undefined;
      const [outcome] = await Promise.all([untilGone(launched.finished, signal), told]);
      return outcome ? await this.#ended(principal, launched, outcome) : stillRunning(launched, given.id);
    } finally {
      await lease?.release();
    }
  }

  async #ended(principal: Principal, { executionId, replayed }: Launched, outcome: TerminalOutcome): Promise<unknown> {
    const run = await this.executions.read(principal, executionId);
    const { pipeline_id, status, duration_ms, node_stats } = run;
    const facts = {
      execution_id: executionId,
      pipeline_id,
      status,
      duration_ms,
      node_stats: node_stats ?? [],
      replayed: replayed || undefined,
    };
    if (outcome.status !== 'SUCCESS') return this.#failed(run.error, outcome, facts, principal);
    const ready = outcome.dataReady;
    const page = await this.results.page(principal, executionId, { limit: ready?.row_count || undefined });
    const { schema, rows, total_rows, expires_at } = page;
    const fits = rows.reduce((sum, row) => sum + row.text.length, 0) <= INLINE_CHARS;
    return {
      ...facts,
      schema,
      ...(fits
        ? { rows, row_count: rows.length, total_rows, has_more: rows.length < total_rows }
        : rowsOmitted(total_rows)),
      result_url: ready?.result_url ?? run.result_url ?? null,
      expires_at,
      ttl_seconds: ready?.ttl_seconds ?? null,
      warnings: ready?.warnings ?? [],
    };
  }

  /** The record of the failure as every door shows it, with the run beside it. */
  #failed(
    stored: RawJson | null,
    { failure, reason }: TerminalOutcome,
    facts: object,
    { correlationId }: Principal,
  ): RefusedResult {
    const aborted = new PenstockError('pipeline.execution.aborted', { details: { reason: reason ?? 'cancelled' } });
    const { error } = refusalBody(aborted, this.#baseUrl, correlationId);
    return new RefusedResult(failure?.code ?? error.code, { error: stored ?? failure ?? error, ...facts });
  }
}

function rowsOmitted(totalRows: number) {
  return { rows: [], row_count: 0, total_rows: totalRows, has_more: totalRows > 0, rows_omitted: true };
}

/** Nobody waits for this answer any more; the run goes on. */
function stillRunning({ executionId }: Launched, pipelineId: string) {
  return { execution_id: executionId, pipeline_id: pipelineId, status: 'RUNNING', ...rowsOmitted(0) };
}

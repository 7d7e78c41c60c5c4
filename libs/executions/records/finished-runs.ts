import { Injectable } from '@nestjs/common';
import { isJsonObject, readJson } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { watchEvents } from '../events/watch-events.js';
import { ExecutionInstance } from '../instance/execution-instance.js';
import type { FailureRecord } from '../run/failure-record.js';
import type { TerminalOutcome } from '../run/run-ending.js';

interface EndedRow {
  status: 'RUNNING' | 'SUCCESS' | 'FAILED' | 'ABORTED';
  error_json: string | null;
}

/** The end of a run that another instance owns, or owned. */
@Injectable()
export class FinishedRuns {
  constructor(
    private readonly database: Database,
    private readonly instance: ExecutionInstance,
  ) {}

  /** Waits for the terminal event, then reads the row. */
  async whenEnded(executionId: string): Promise<TerminalOutcome> {
    const found = await this.#row(executionId);
    if (found && found.status !== 'RUNNING') return outcomeOf(executionId, found);
    const source = this.instance.remoteLogs.open(executionId, 0);
    try {
      const events = watchEvents(source, 0, new AbortController().signal);
      for await (const event of events) if (event.type === 'pipeline_completed') break;
    } finally {
      source.close();
    }
    return outcomeOf(executionId, await this.#row(executionId));
  }

  async #row(executionId: string): Promise<EndedRow | undefined> {
    const rows = await this.database.query<EndedRow>(
      'SELECT status, error_json FROM pipeline_executions WHERE execution_id = $1',
      [executionId],
    );
    return rows[0];
  }
}

function outcomeOf(executionId: string, row: EndedRow | undefined): TerminalOutcome {
  const status = row === undefined || row.status === 'RUNNING' ? 'ABORTED' : row.status;
  const error = row?.error_json == null ? undefined : readJson(row.error_json);
  // Written by `failureRecord`, or by the sweep in the same form.
  const failure = isJsonObject(error) ? (error as unknown as FailureRecord) : undefined;
  return { executionId, status, ...(failure ? { failure } : {}) };
}

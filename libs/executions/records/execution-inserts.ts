import { Injectable } from '@nestjs/common';
import { Batcher, Database, isConnectionFailure } from '#libs/persistence';
import type { Lineage } from '../family/lineage.js';

export type ExecutionTrigger = 'UI' | 'REST' | 'MCP' | 'PIPELINE' | 'ENDPOINT';

/** What is known of a run when it begins. */
export interface NewExecution {
  executionId: string;
  pipelineId: string;
  pipelineVersion: number;
  /** JSON text, as sent. */
  parametersJson: string;
  triggeredBy: string;
  triggeredVia: ExecutionTrigger;
  correlationId: string;
  lineage: Lineage;
}

const MAX_ROWS = 200;
const FLUSHES = 2;

/** Inserts the rows of launches; those that arrive together share one statement (contract 02 §15). */
@Injectable()
export class ExecutionInserts {
  readonly #batcher: Batcher<NewExecution, string>;

  constructor(private readonly database: Database) {
    this.#batcher = new Batcher((rows) => this.#insert(rows), {
      maxItems: MAX_ROWS,
      concurrency: FLUSHES,
      separable: (error) => !isConnectionFailure(error),
    });
  }

  /** The row is RUNNING, with a first heartbeat. Returns `started_at` by the database's clock, in microseconds. */
  insert(row: NewExecution): Promise<string> {
    return this.#batcher.add(row);
  }

  async #insert(rows: readonly NewExecution[]): Promise<string[]> {
    const inserted = await this.database.query<{ execution_id: string; started_at: string }>(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, parameters_json,
              triggered_by, triggered_via, correlation_id, root_execution_id, parent_execution_id,
              parent_node_id, heartbeat_at)
       SELECT n.execution_id, n.pipeline_id, n.pipeline_version, 'RUNNING', n.parameters_json::jsonb,
              n.triggered_by, n.triggered_via, n.correlation_id, n.root_execution_id, n.parent_execution_id,
              n.parent_node_id, NOW()
         FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::uuid[], $6::text[], $7::uuid[],
                     $8::uuid[], $9::uuid[], $10::text[])
           AS n(execution_id, pipeline_id, pipeline_version, parameters_json, triggered_by, triggered_via, correlation_id,
                root_execution_id, parent_execution_id, parent_node_id)
       RETURNING execution_id, started_at`,
      [
        rows.map((row) => row.executionId),
        rows.map((row) => row.pipelineId),
        rows.map((row) => row.pipelineVersion),
        rows.map((row) => row.parametersJson),
        rows.map((row) => row.triggeredBy),
        rows.map((row) => row.triggeredVia),
        rows.map((row) => row.correlationId),
        rows.map((row) => row.lineage.rootExecutionId),
        rows.map((row) => row.lineage.parentExecutionId),
        rows.map((row) => row.lineage.parentNodeId),
      ],
    );
    const startedAt = new Map(inserted.map((row) => [row.execution_id, row.started_at]));
    return rows.map((row) => startedAt.get(row.executionId)!);
  }
}

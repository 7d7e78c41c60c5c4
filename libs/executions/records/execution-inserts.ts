import { Injectable } from '@nestjs/common';
import { actArrays, auditedActsSql } from '#libs/audit';
import { Batcher, boundArrays, Database, isConnectionFailure } from '#libs/persistence';
import type { Lineage } from '../family/lineage.js';
import type { RunTrail } from './run-trail.js';

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
  /** Names of the datasources its nodes speak to. */
  datasources: readonly string[];
  /** Hash of the body the launch relies on; then there is a row only while this body is the pipeline's released one. */
  standingBody?: string;
  trail?: RunTrail;
}

/** A row that exists, and what the same statement has read. */
export interface RecordedExecution {
  /** By the database's clock, in microseconds. */
  startedAt: string;
  /** Of its datasources those the workspace sees, each with the stamp of its row's last change. */
  sources: ReadonlyMap<string, string>;
}

interface InsertedRow {
  execution_id: string;
  started_at: string;
  sources: string | null;
}

const MAX_ROWS = 200;
const FLUSHES = 2;

/** Inserts the rows of launches; those that arrive together share one statement (contract 02 §15). */
@Injectable()
export class ExecutionInserts {
  readonly #batcher: Batcher<NewExecution, RecordedExecution | undefined>;

  constructor(private readonly database: Database) {
    this.#batcher = new Batcher((rows) => this.#insert(rows), {
      maxItems: MAX_ROWS,
      concurrency: FLUSHES,
      separable: (error) => !isConnectionFailure(error),
    });
  }

  /** The row is RUNNING, with a first heartbeat. Undefined, and nothing written, when the body does not stand any more. */
  insert(row: NewExecution): Promise<RecordedExecution | undefined> {
    return this.#batcher.add(row);
  }

  async #insert(rows: readonly NewExecution[]): Promise<(RecordedExecution | undefined)[]> {
    const trails = rows.flatMap(({ executionId, trail }) =>
      trail ? [{ act: executionId, entry: trail.started }] : [],
    );
    const inserted = await this.database.query<InsertedRow>(INSERT_SQL, [
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
      rows.map((row) => row.standingBody ?? null),
      rows.map((row) => row.datasources.join('\n')),
      ...actArrays(trails),
    ]);
    const recorded = new Map(inserted.map((row) => [row.execution_id, recordedOf(row)]));
    return rows.map((row) => recorded.get(row.executionId));
  }
}

function recordedOf({ started_at: startedAt, sources }: InsertedRow): RecordedExecution {
  const stamps = (sources ?? '').split('\n').filter(Boolean);
  return { startedAt, sources: new Map(stamps.map((each) => each.split(' ') as [name: string, stamp: string])) };
}

const TYPES = ['uuid', 'uuid', 'int', 'text', 'uuid', 'text', 'uuid', 'uuid', 'uuid', 'text', 'text', 'text'];

/**
 * Rows, what the audit trail says of them, and the stamps of their datasources: one round trip and one commit. The stamps
 * spare a run the reading of rows that this instance knows already.
 */
const INSERT_SQL = `
  WITH n AS (
    SELECT * FROM unnest(${boundArrays(1, TYPES)})
      AS n(execution_id, pipeline_id, pipeline_version, parameters_json, triggered_by, triggered_via, correlation_id,
           root_execution_id, parent_execution_id, parent_node_id, standing_body, datasources)
  ), launched AS (
    INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, parameters_json,
           triggered_by, triggered_via, correlation_id, root_execution_id, parent_execution_id,
           parent_node_id, heartbeat_at)
    SELECT n.execution_id, n.pipeline_id, n.pipeline_version, 'RUNNING', n.parameters_json::jsonb,
           n.triggered_by, n.triggered_via, n.correlation_id, n.root_execution_id, n.parent_execution_id,
           n.parent_node_id, NOW()
      FROM n
     WHERE n.standing_body IS NULL
        OR EXISTS (SELECT 1 FROM pipelines p
                     JOIN pipeline_versions v ON v.pipeline_id = p.id AND v.version = p.current_version
                    WHERE p.id = n.pipeline_id AND v.version = n.pipeline_version
                      AND v.status = 'RELEASED' AND v.body_hash = n.standing_body)
    RETURNING execution_id, started_at
  ), told AS (
    ${auditedActsSql(13, 'launched', 'execution_id')}
  )
  SELECT l.execution_id, l.started_at,
         (SELECT string_agg(d.name || ' ' || to_char(d.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), E'\\n')
            FROM pipelines p
            JOIN datasource_workspaces g ON g.workspace_id = p.workspace_id
            JOIN datasources d ON d.name = g.datasource_name AND NOT d.is_deleted
           WHERE p.id = n.pipeline_id AND g.datasource_name = ANY(string_to_array(n.datasources, E'\\n'))) AS sources
    FROM launched l JOIN n USING (execution_id)`;

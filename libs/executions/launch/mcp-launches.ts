import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { authorise } from '#libs/identity';
import { isUuid, PenstockError, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ExecutionService } from '../reading/execution.service.js';
import { VisibleExecutions } from '../reading/visible-executions.js';

/** Which key launched which run over MCP: the row that proves it is committed before the run (contract 06 §12). */
@Injectable()
export class McpLaunches {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly visible: VisibleExecutions,
    private readonly executions: ExecutionService,
  ) {}

  /** Rejects when the row cannot be written: a run that nobody could cancel must not begin. */
  async record(principal: Principal, run: { pipelineId: string; executionId: string }): Promise<void> {
    authorise(principal, 'pipeline.execute');
    await this.audit.append(this.database, principal, 'mcp.execution.launched', {
      pipeline_id: isUuid(run.pipelineId) ? run.pipelineId.toLowerCase() : undefined,
      execution_id: run.executionId,
    });
  }

  /** Asks for the end of a run that this very key launched. 403 `auth.role_required` for any other run. */
  async cancel(principal: Principal, executionId: string): Promise<void> {
    const row = await this.visible.get(principal, 'execution.cancel', executionId);
    if (!(await this.#launched(principal, row.execution_id, row.started_at))) {
      throw new PenstockError('auth.role_required', {
        message: 'This key cancels only the runs it has launched itself with pipelines_execute.',
        details: { operation: 'execution.cancel', required: 'launching_key' },
      });
    }
    await this.executions.cancel(principal, row.execution_id);
  }

  async #launched({ keyId }: Principal, executionId: string, startedAt: string): Promise<boolean> {
    if (keyId === undefined) return false;
    const rows = await this.database.query(
      `SELECT 1 FROM audit_log a
        WHERE a.event = 'mcp.execution.launched' AND a.key_id = $1 AND a.details_json->>'execution_id' = $2
          AND a.timestamp BETWEEN $3::timestamptz - INTERVAL '10 minutes' AND $3::timestamptz + INTERVAL '1 minute'
        LIMIT 1`,
      [keyId, executionId, startedAt],
    );
    return rows.length > 0;
  }
}

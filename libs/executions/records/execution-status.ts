import { Injectable } from '@nestjs/common';
import { Database } from '#libs/persistence';

export type ExecutionStatus = 'RUNNING' | 'SUCCESS' | 'FAILED' | 'ABORTED';

/** States of many executions in one query. Authorises nothing. */
@Injectable()
export class ExecutionStatusReader {
  constructor(private readonly database: Database) {}

  /** What is absent has no row (any more). */
  async statuses(executionIds: readonly string[]): Promise<Map<string, ExecutionStatus>> {
    if (executionIds.length === 0) return new Map();
    const rows = await this.database.query<{ execution_id: string; status: ExecutionStatus }>(
      'SELECT execution_id, status FROM pipeline_executions WHERE execution_id = ANY($1::uuid[])',
      [executionIds],
    );
    return new Map(rows.map((row) => [row.execution_id, row.status]));
  }
}

import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { ExecutionPurge } from '#libs/pipelines';
import { TransientStore } from '#libs/transient';
import { ExecutionInstance } from '../instance/execution-instance.js';

/** Deletes the executions of a purged draft in the purge's own transaction (contract 05 §10). */
@Injectable()
export class PurgeExecutions extends ExecutionPurge {
  readonly #flagTtlSeconds: number;

  constructor(
    private readonly store: TransientStore,
    private readonly instance: ExecutionInstance,
    configuration: Configuration,
  ) {
    super();
    this.#flagTtlSeconds = configuration.get('datapipelines.executor.execution-timeout-seconds');
  }

  async purge(tx: Transaction, pipelineId: string, version?: number): Promise<number> {
    const rows = await tx.query<{ execution_id: string; status: string }>(
      `SELECT execution_id, status FROM pipeline_executions
        WHERE pipeline_id = $1 AND ($2::int IS NULL OR pipeline_version = $2) ORDER BY execution_id FOR UPDATE`,
      [pipelineId, version ?? null],
    );
    if (rows.length === 0) return 0;
    const ids = rows.map((row) => row.execution_id);
    const running = rows.filter(({ status }) => status === 'RUNNING').map((row) => row.execution_id);
    // Late writes of their owners then match no row.
    await tx.execute(
      `UPDATE pipeline_executions SET status = 'ABORTED', completed_at = NOW() WHERE execution_id = ANY($1)`,
      [running],
    );
    await this.#detachChildren(tx, ids);
    await tx.execute('DELETE FROM execution_events WHERE execution_id = ANY($1)', [ids]);
    await tx.execute('DELETE FROM pipeline_executions WHERE execution_id = ANY($1)', [ids]);
    tx.afterCommit(() => this.#stop(running));
    return ids.length;
  }

  /** A child of another pipeline becomes the root of its own subtree. */
  async #detachChildren(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.execute(
      `WITH RECURSIVE family AS (
         SELECT execution_id, execution_id AS root FROM pipeline_executions
          WHERE parent_execution_id = ANY($1::uuid[]) AND NOT execution_id = ANY($1::uuid[])
         UNION ALL
         SELECT c.execution_id, f.root FROM pipeline_executions c JOIN family f ON c.parent_execution_id = f.execution_id
          WHERE NOT c.execution_id = ANY($1::uuid[])
       )
       UPDATE pipeline_executions x
          SET root_execution_id = f.root,
              parent_execution_id = CASE WHEN x.execution_id = f.root THEN NULL ELSE x.parent_execution_id END,
              parent_node_id = CASE WHEN x.execution_id = f.root THEN NULL ELSE x.parent_node_id END
         FROM family f WHERE x.execution_id = f.execution_id`,
      [ids],
    );
  }

  async #stop(running: readonly string[]): Promise<void> {
    for (const executionId of running) {
      this.instance.runs.get(executionId)?.fence();
      try {
        await this.store.requestCancel(executionId, 'cancelled', this.#flagTtlSeconds);
      } catch (error) {
        // Its next heartbeat finds no row and stops it.
        this.instance.logger.warn('The owner of a purged run was not told.', { execution_id: executionId, error });
      }
    }
  }
}

import { Injectable } from '@nestjs/common';
import { boundArray, boundArrays, Database } from '#libs/persistence';

/** Signs of life and progress of the runs of this instance (contract 02 §9.2). Control connections only. */
@Injectable()
export class Heartbeats {
  constructor(private readonly database: Database) {}

  /** Stamps the rows that are still RUNNING; what is not among the returned ids is no longer ours. */
  async beat(executionIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.control.query<{ execution_id: string }>(
      `WITH mine AS (
         SELECT execution_id FROM pipeline_executions
          WHERE execution_id = ANY(${boundArray(1, 'uuid')}) AND status = 'RUNNING' ORDER BY execution_id FOR NO KEY UPDATE
       )
       UPDATE pipeline_executions x SET heartbeat_at = NOW()
         FROM mine WHERE x.execution_id = mine.execution_id AND x.status = 'RUNNING'
       RETURNING x.execution_id`,
      [executionIds],
    );
    return new Set(rows.map((row) => row.execution_id));
  }

  /** The newest node states, with a heartbeat. Guarded: a late write must not touch a finished row (seed §8.3). */
  async progress(stats: ReadonlyMap<string, string>): Promise<void> {
    await this.database.control.execute(
      `WITH fresh AS (
         SELECT * FROM unnest(${boundArrays(1, ['uuid', 'text'])}) AS f(execution_id, node_stats_json)
       ), mine AS (
         SELECT execution_id FROM pipeline_executions
          WHERE execution_id = ANY(${boundArray(1, 'uuid')}) AND status = 'RUNNING' ORDER BY execution_id FOR NO KEY UPDATE
       )
       UPDATE pipeline_executions x SET node_stats_json = f.node_stats_json::jsonb, heartbeat_at = NOW()
         FROM fresh f JOIN mine USING (execution_id)
        WHERE x.execution_id = f.execution_id AND x.status = 'RUNNING'`,
      [[...stats.keys()], [...stats.values()]],
    );
  }
}

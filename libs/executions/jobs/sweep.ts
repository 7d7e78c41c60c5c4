import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { ExecutionMetrics } from '../execution-metrics.js';
import { ExecutionInstance } from '../instance/execution-instance.js';
import type { LostEnding, LostRun } from '../records/lost-runs.js';

/** How long nothing was heard of a run: since its last heartbeat, or since its start when it never had one. */
interface Silence {
  silentSeconds: number;
  unstampedMinutes: number;
}

const MISSED_BEATS = 3;
const LOST = 'pipeline.execution.instance_lost';
const ENDING: LostEnding = { event: 'execution.instance_lost', status: 'ABORTED', error: { code: LOST } };
/** Rows of one tick; what is left waits for the next. */
const MOST_ROWS = 1000;

/**
 * Ends the runs of instances that are gone (seed §8.3, contract 02 §9.2). A family lives on one instance, so a child goes
 * with its lost parent, however young its own last beat is. Safe on every instance at once.
 */
@Injectable()
export class Sweep {
  readonly #heartbeatSeconds: number;
  readonly #staleMinutes: number;

  constructor(
    private readonly instance: ExecutionInstance,
    private readonly metrics: ExecutionMetrics,
    configuration: Configuration,
  ) {
    this.#heartbeatSeconds = configuration.get('datapipelines.executor.heartbeat-seconds');
    this.#staleMinutes = configuration.get('datapipelines.executions.stale-timeout-minutes');
  }

  /** The number of runs ended. Rejects when the database does not answer. */
  async run(): Promise<number> {
    if (!this.instance.trust.holds()) return 0;
    return this.#sweep({ silentSeconds: MISSED_BEATS * this.#heartbeatSeconds, unstampedMinutes: this.#staleMinutes });
  }

  /**
   * Ends every run there is, without waiting for missed heartbeats: for the boot of a process that is known to be alone
   * with its database, where whoever began them is gone. The number of runs ended.
   */
  async runAlone(): Promise<number> {
    let swept = 0;
    for (;;) {
      const some = await this.#sweep({ silentSeconds: 0, unstampedMinutes: 0 });
      swept += some;
      if (some < MOST_ROWS) return swept;
    }
  }

  async #sweep(silence: Silence): Promise<number> {
    let swept = 0;
    while (swept < MOST_ROWS && (await this.instance.lost.end((tx) => candidate(tx, silence), ENDING))) swept++;
    if (swept > 0) this.metrics.swept(swept);
    return swept;
  }
}

/** One run that nothing was heard of, held for this transaction; another instance takes the next. */
async function candidate(tx: Transaction, { silentSeconds, unstampedMinutes }: Silence): Promise<LostRun | undefined> {
  const [row] = await tx.query<LostRun & Record<string, unknown>>(
    `SELECT e.execution_id, e.correlation_id FROM pipeline_executions e
      WHERE e.status = 'RUNNING'
        AND (e.heartbeat_at < NOW() - make_interval(secs => $1)
             OR (e.heartbeat_at IS NULL AND e.started_at < NOW() - make_interval(mins => $2))
             OR EXISTS (SELECT FROM pipeline_executions p
                         WHERE p.execution_id = e.parent_execution_id AND p.status = 'ABORTED'
                           AND p.error_json->>'code' = $3))
      LIMIT 1 FOR UPDATE OF e SKIP LOCKED`,
    [silentSeconds, unstampedMinutes, LOST],
  );
  return row;
}

import { setTimeout as delay } from 'node:timers/promises';
import { PenstockError, type Logger } from '#libs/kernel';
import type { RunFacts } from '../instance/run-facts.js';
import type { RunRegistry } from '../instance/run-registry.js';
import type { LostRuns } from '../records/lost-runs.js';
import { failureRecord } from '../run/failure-record.js';
import { SpillFolders } from '../staging/spill-folders.js';
import type { SharedMemory } from '../staging/shared-memory.js';
import type { ThreadSource } from './execution-place.js';
import { HostThread, type ThreadSurroundings } from './host-thread.js';
import { ServedPermits } from './serve-permits.js';
import { ThreadCounts, type Metrics } from './thread-counts.js';
import { ThreadRun } from './thread-run.js';

const RESPAWN_MS = 500;
const METRICS_MS = 1000;
const LOST = {
  event: 'execution.host_thread_lost',
  status: 'FAILED',
  error: {
    code: 'pipeline.execution.aborted',
    message: 'The thread that ran this execution ended before it did, most likely for want of memory.',
    details: { reason: 'host_thread_lost' },
  },
} as const;

export interface ThreadsOptions {
  source: ThreadSource;
  memory: SharedMemory;
  runs: RunRegistry;
  lost: LostRuns;
  logger: Logger;
  spillDirectory: string;
  baseUrl: string;
  /** Nothing of a run that is gone stays in the store. */
  discardResult: (executionId: string) => Promise<void>;
}

/**
 * The threads in which an instance runs its executions (contract 02 §1). One that dies takes only its own executions with
 * it: each of them ends FAILED with `pipeline.execution.aborted`, and another thread takes its place.
 */
export class ExecutionThreads {
  readonly permits = new ServedPermits();
  readonly #threads = new Set<HostThread>();
  readonly #dead = new Set<HostThread>();
  readonly #counts = new ThreadCounts<HostThread>();
  /** Ends of lost runs under way, and threads that are to come. */
  readonly #pending = new Set<Promise<void>>();
  #stopped = false;

  constructor(private readonly options: ThreadsOptions) {}

  /** Resolves when all of them take runs. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.source.count }, () => this.#spawn().ready));
  }

  /** The run of a row that was just inserted, in the thread with the least to do; while there is none it is lost at once. */
  run(facts: RunFacts): ThreadRun {
    const [first, ...others] = this.#threads;
    if (!first) return this.#without(facts);
    return others.reduce((least, thread) => (thread.load < least.load ? thread : least), first).order(facts);
  }

  /** Its row stands already: somebody has to end it, and not the sweep after minutes. */
  #without(facts: RunFacts): ThreadRun {
    const run = ThreadRun.ordered(facts, () => undefined);
    this.#track(this.#end(run));
    return run;
  }

  /** Dead threads whose last native call has not returned. */
  get lingering(): number {
    return [...this.#dead].filter(({ lingers }) => lingers).length;
  }

  /** One list for each thread, and one for those that are gone. */
  async metrics(): Promise<Metrics[]> {
    const late = new AbortController();
    const patience = delay(METRICS_MS, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.all(
      [...this.#threads].map(async (thread) => {
        const answer = await Promise.race([thread.metrics(), patience]);
        // One that died meanwhile has left its last answer behind.
        if (answer && this.#threads.has(thread)) this.#counts.answered(thread, answer);
      }),
    );
    late.abort();
    return this.#counts.all();
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.flush()));
    await Promise.all(this.#pending);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
    await Promise.all(this.#pending);
  }

  #spawn(): HostThread {
    const { source, memory, runs, logger } = this.options;
    const around: ThreadSurroundings = {
      ...{ source, memory, runs, logger, permits: this.permits },
      died: (thread, lost) => this.#track(this.#died(thread, lost)),
    };
    const thread = new HostThread(around);
    this.#threads.add(thread);
    return thread;
  }

  async #died(thread: HostThread, lost: readonly ThreadRun[]): Promise<void> {
    const { logger, spillDirectory } = this.options;
    this.#threads.delete(thread);
    this.#dead.add(thread);
    await this.#counts.departed(thread);
    logger.error('A thread for executions is gone.', { executions: lost.length });
    // One that died at its birth would otherwise be born again at once, for ever.
    const lived = thread.instanceId !== undefined;
    if (lived && !this.#stopped) this.#spawn();
    // Children first: a watcher of the parent then finds the whole family ended.
    for (const run of [...lost].reverse()) await this.#end(run);
    if (thread.instanceId !== undefined) await new SpillFolders(spillDirectory, thread.instanceId).removeOwn();
    if (lived || this.#stopped) return;
    await delay(RESPAWN_MS);
    if (!this.#stopped) this.#spawn();
  }

  /** A row that cannot be written now has no heartbeats any more: the sweep of some instance will end it. */
  async #end(run: ThreadRun): Promise<void> {
    const { lost, logger, baseUrl, discardResult } = this.options;
    try {
      await lost.end(async (tx) => {
        const [row] = await tx.query<{ execution_id: string; correlation_id: string | null }>(
          `SELECT execution_id, correlation_id FROM pipeline_executions
            WHERE execution_id = $1 AND status = 'RUNNING' FOR UPDATE`,
          [run.executionId],
        );
        return row;
      }, LOST);
      await discardResult(run.executionId);
    } catch (error) {
      logger.error('The end of a run whose thread is gone could not be written.', {
        execution_id: run.executionId,
        error,
      });
    }
    const { code, ...told } = LOST.error;
    const failure = failureRecord(new PenstockError(code, told), { correlationId: '', baseUrl, detail: 'structured' });
    // Whoever ended the row knows nothing of a trail: the door says there that it failed.
    run.end({ executionId: run.executionId, status: 'FAILED', failure, unrecorded: true });
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.options.logger.error('After a lost thread not everything was tidied.', { error }))
      .finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }
}

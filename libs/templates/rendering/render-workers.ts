import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { EngineTask, TaskResult } from './render-task.js';

/** A burst of nodes waits; beyond this many renders are refused (contract 05 §6). */
const MAX_QUEUE = 1000;
const IDLE_MS = 30_000;
const MAX_HEAP_MB = 512;

/** Where the worker's code is. */
export interface WorkerScript {
  url: string;
  /** Arguments of the worker's own Node, such as a loader. */
  execArgv: readonly string[];
}

/** The script that stands beside this file, once built. */
export const BUILT_WORKER: WorkerScript = { url: new URL('./render-worker.js', import.meta.url).href, execArgv: [] };

export type WorkerOutcome =
  | { done: TaskResult }
  /** Ended by its deadline, waiting included; its thread is replaced, which also stops a catastrophic regex. */
  | { stopped: 'deadline' | 'capacity' | 'memory' };

/** Threads that render. Each keeps its own parsed trees. */
export class RenderWorkers {
  readonly #pool: Piscina<EngineTask, TaskResult>;

  constructor(cacheSize: number, script: WorkerScript = BUILT_WORKER) {
    const threads = Math.max(2, availableParallelism());
    this.#pool = new Piscina({
      filename: script.url,
      execArgv: [...script.execArgv],
      workerData: { cacheSize },
      minThreads: 1,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      maxQueue: MAX_QUEUE,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
  }

  /** Rejects with the reason of `signal` when the caller gave up. */
  async run(task: EngineTask, signal?: AbortSignal): Promise<WorkerOutcome> {
    signal?.throwIfAborted();
    if (this.#pool.queueSize >= MAX_QUEUE) return { stopped: 'capacity' };
    const deadline = AbortSignal.timeout(Math.max(1, task.deadline - Date.now()));
    try {
      return { done: await this.#pool.run(task, { signal: signal ? AbortSignal.any([signal, deadline]) : deadline }) };
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.aborted) return { stopped: 'deadline' };
      if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') return { stopped: 'memory' };
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

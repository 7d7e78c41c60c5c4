import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel, type Worker } from 'node:worker_threads';
import type { Logger } from '#libs/kernel';
import type { RunFacts } from '../instance/run-facts.js';
import type { RunRegistry } from '../instance/run-registry.js';
import type { TerminalRecord } from '../records/terminal-writes.js';
import type { Metrics } from './thread-counts.js';
import { SharedMemory } from '../staging/shared-memory.js';
import type { ThreadSource } from './execution-place.js';
import type { ServedPermits } from './serve-permits.js';
import type { ThreadOrder, ThreadReport } from './thread-messages.js';
import { ThreadRun } from './thread-run.js';

/** What a thread needs of the instance whose thread it is. */
export interface ThreadSurroundings {
  readonly source: ThreadSource;
  readonly permits: ServedPermits;
  readonly memory: SharedMemory;
  readonly runs: RunRegistry;
  readonly logger: Logger;
  /** The thread is gone, and with it what it ran. Never rejects. */
  died(thread: HostThread, runs: readonly ThreadRun[]): void;
}

/** A thread that is in no native call ends at once. */
const TERMINATE_MS = 1000;

/** One thread that runs executions, seen from its instance. */
export class HostThread {
  /** Of the instance inside; names its spill folder. */
  instanceId: string | undefined;
  readonly #worker: Worker;
  readonly #runs = new Map<string, ThreadRun>();
  readonly #children = new Set<string>();
  readonly #questions = new Map<number, (value: unknown) => void>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #lastId = 0;
  #stopping = false;
  #dead = false;
  #exited = false;

  constructor(private readonly around: ThreadSurroundings) {
    const { port1, port2 } = new MessageChannel();
    around.permits.serve(port1);
    const { source, memory } = around;
    const lentHere = SharedMemory.account();
    this.#worker = source.spawn({ permits: port2, memory: memory.buffer, lentHere, threads: source.count });
    this.#worker.on('message', (report: ThreadReport) => this.#hear(report));
    this.#worker.on('error', (error) => this.around.logger.error('execution.host_thread_failed', { error }));
    // A thread that dies inside a statement of the engine ends only when that returns; its ports close at once.
    port1.on('close', () => this.#die(undefined));
    this.#worker.on('exit', (code) => {
      this.#exited = true;
      memory.giveBack(lentHere);
      this.#die(code);
    });
  }

  /** Dead, but its last native call has not returned: nothing can stop that any more, nor end the process in order. */
  get lingers(): boolean {
    return this.#dead && !this.#exited;
  }

  /** Resolves when it takes runs; rejects when it ended before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Runs under way in it. */
  get load(): number {
    return this.#runs.size;
  }

  order(facts: RunFacts): ThreadRun {
    const run = ThreadRun.ordered(facts, (order) => this.#send(order));
    this.#runs.set(run.executionId, run);
    return run;
  }

  /** What its own metrics say, as prom-client writes them down; undefined when it is gone. */
  async metrics(): Promise<Metrics | undefined> {
    return (await this.#ask('metrics')) as Metrics | undefined;
  }

  /** Writes down what is still only in its memory. */
  async flush(): Promise<void> {
    await this.#ask('flush');
  }

  /** Whatever still runs in it is given up. Resolves when it is gone, or lingers in a native call. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#send({ kind: 'stop' });
    await this.#gone.promise;
    // A write that is tried again and again would keep it, and with it the process.
    const patience = new AbortController();
    await Promise.race([
      this.#worker.terminate(),
      delay(TERMINATE_MS, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
  }

  #ask(kind: 'metrics' | 'flush'): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = new Promise((resolve) => this.#questions.set(id, resolve));
    this.#send({ kind, id });
    return Promise.race([answered, this.#gone.promise]);
  }

  #send(order: ThreadOrder): void {
    this.#worker.postMessage(order);
  }

  #hear(report: ThreadReport): void {
    switch (report.kind) {
      case 'ready':
        this.instanceId = report.instanceId;
        return this.#ready.resolve();
      case 'child': {
        const child = ThreadRun.told(report.child, (order) => this.#send(order));
        this.#runs.set(child.executionId, child);
        this.#children.add(child.executionId);
        return this.around.runs.enterChild(child);
      }
      case 'ending':
        return void this.#audit(report.executionId, report.status);
      case 'ended': {
        const run = this.#runs.get(report.outcome.executionId);
        if (!run) return;
        this.#leave(run);
        return run.end(report.outcome);
      }
      case 'answer':
        this.#questions.get(report.id)?.(report.value);
        return void this.#questions.delete(report.id);
    }
  }

  async #audit(executionId: string, status: TerminalRecord['status']): Promise<void> {
    const entry = await this.#runs.get(executionId)?.audited(status);
    this.#send({ kind: 'audited', executionId, entry });
  }

  /** Roots leave the registry by whoever began them. */
  #leave(run: ThreadRun): void {
    this.#runs.delete(run.executionId);
    if (this.#children.delete(run.executionId)) this.around.runs.leave(run);
  }

  #die(exitCode: number | undefined): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#gone.resolve();
    this.#ready.reject(new ThreadEnded(exitCode));
    // Who waits for it hears by itself.
    this.#ready.promise.catch(() => undefined);
    const lost = [...this.#runs.values()];
    for (const run of lost) this.#leave(run);
    if (!this.#stopping || lost.length > 0) this.around.died(this, lost);
  }
}

/** A thread that ended before it took a run. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';

  constructor(exitCode: number | undefined) {
    super(`A thread for executions ended with ${exitCode ?? 'no code'} before it was ready.`);
  }
}

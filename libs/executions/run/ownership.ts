import { PenstockError } from '#libs/kernel';
import { setTimeout as delay } from 'node:timers/promises';
import type { Heartbeats } from '../records/heartbeats.js';
import type { NodeBoard } from '../scheduling/permit-board.js';
import type { ExecutionRun } from './execution-run.js';

/** Without a confirmed beat for so many intervals an instance does not know whether its runs are still its own. */
const INTERVALS_OF_TRUST = 2;
const RETRY_MS = 1000;

/**
 * Keeps the runs of this instance alive in their rows, and learns when one is no longer ours (contract 02 §9.2). While
 * beats are not confirmed no new node starts.
 */
export class Ownership {
  #beating: Promise<void> | undefined;

  constructor(
    private readonly heartbeats: Heartbeats,
    /** The runs whose rows this process beats for. */
    private readonly runs: Iterable<ExecutionRun>,
    private readonly board: NodeBoard,
    private readonly intervalMs: number,
    private readonly onProblem: (error: unknown) => void,
  ) {}

  /**
   * One heartbeat for all runs. Never rejects. Asked also when there are none: who judges the heartbeats of others must
   * notice that the database was away (contract 02 §9.2).
   */
  beat(): Promise<void> {
    this.#beating ??= this.#beat([...this.runs]).finally(() => (this.#beating = undefined));
    return this.#beating;
  }

  /**
   * Asked before a node starts. Resolves at once while beats are confirmed; after a stall, of the process or of the
   * database, only when one is. Rejects with the signal's reason when the run stops, for one because it was fenced.
   */
  async admit(run: ExecutionRun): Promise<void> {
    const { signal } = run.state.latch;
    while (!this.#isTrusted(run)) {
      await this.#beat([run]);
      signal.throwIfAborted();
      if (!this.#isTrusted(run)) await delay(RETRY_MS, undefined, { signal });
    }
  }

  /**
   * Asked before something is committed outside our own tables. Resolves when the last confirmed beat is young enough,
   * or a new one succeeds. Rejects when the run was fenced, or nothing can be confirmed.
   */
  async confirm(run: ExecutionRun): Promise<void> {
    if (this.#isTrusted(run)) return;
    await this.#beat([run]);
    run.state.latch.signal.throwIfAborted();
    if (this.#isTrusted(run)) return;
    throw new PenstockError('pipeline.node.writeback_failed', {
      message: 'The run could not be confirmed as still running, so nothing was written.',
      details: { reason: 'ownership_unconfirmed' },
    });
  }

  #isTrusted(run: ExecutionRun): boolean {
    return performance.now() - run.state.lastBeat < INTERVALS_OF_TRUST * this.intervalMs;
  }

  async #beat(runs: readonly ExecutionRun[]): Promise<void> {
    if (runs.length === 0) this.board.resume();
    // The stamp counts from before the question: the answer says nothing about the time it took.
    const asked = performance.now();
    try {
      const confirmed = await this.heartbeats.beat(runs.map((run) => run.executionId));
      for (const run of runs) this.#confirmedOrFenced(run, confirmed, asked);
      this.board.resume();
    } catch (error) {
      this.onProblem(error);
      if (!runs.every((run) => this.#isTrusted(run))) this.board.pause();
    }
  }

  #confirmedOrFenced(run: ExecutionRun, confirmed: ReadonlySet<string>, asked: number): void {
    if (confirmed.has(run.executionId)) run.state.lastBeat = asked;
    // Without effect on a run that has its outcome: then the row ended by its own terminal write.
    else run.fence();
  }
}

import { PenstockError } from '#libs/kernel';
import type { RunRegistry } from '../instance/run-registry.js';
import type { Heartbeats } from '../records/heartbeats.js';
import type { PermitBoard } from '../scheduling/permit-board.js';
import type { ExecutionRun } from './execution-run.js';

/** Without a confirmed beat for so many intervals an instance does not know whether its runs are still its own. */
const INTERVALS_OF_TRUST = 2;

/**
 * Keeps the runs of this instance alive in their rows, and learns when one is no longer ours (contract 02 §9.2). While
 * beats are not confirmed no new node starts.
 */
export class Ownership {
  #beating: Promise<void> | undefined;

  constructor(
    private readonly heartbeats: Heartbeats,
    private readonly runs: RunRegistry,
    private readonly board: PermitBoard,
    private readonly intervalMs: number,
    private readonly onProblem: (error: unknown) => void,
  ) {}

  /** One heartbeat for all runs. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat(this.runs.all()).finally(() => (this.#beating = undefined));
    return this.#beating;
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
    const live = runs.filter(({ state }) => !state.ended);
    if (live.length === 0) return this.board.resume();
    // The stamp counts from before the question: the answer says nothing about the time it took.
    const asked = performance.now();
    try {
      const confirmed = await this.heartbeats.beat(live.map((run) => run.executionId));
      for (const run of live) this.#confirmedOrFenced(run, confirmed, asked);
      this.board.resume();
    } catch (error) {
      this.onProblem(error);
      if (!live.every((run) => this.#isTrusted(run))) this.board.pause();
    }
  }

  #confirmedOrFenced(run: ExecutionRun, confirmed: ReadonlySet<string>, asked: number): void {
    if (confirmed.has(run.executionId)) run.state.lastBeat = asked;
    // A run that ended meanwhile has no RUNNING row because of its own terminal write.
    else if (!run.state.ended) run.fence();
  }
}

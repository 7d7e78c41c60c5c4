import type { FailureRecord } from './failure-record.js';

/** Why a run was ended from outside (03 §9). `instance_lost` is only ever written by the sweep. */
export type AbortReason = 'client_disconnect' | 'cancelled' | 'shutdown';

/** How a run ends. Set once; the first cause wins (contract 02 §3). */
export type Outcome =
  | { kind: 'success' }
  | { kind: 'failed'; error: FailureRecord; nodeId: string | null }
  | { kind: 'aborted'; reason: AbortReason }
  /** The row is no longer this instance's: nothing may be written. */
  | { kind: 'fenced' };

/** What running work sees as the reason of its abort when the whole run stops. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';

  constructor(readonly outcome: Outcome) {
    super(`The run stops: ${outcome.kind}.`);
  }
}

/** Holds the outcome of one run and the signal that stops its work. */
export class OutcomeLatch {
  readonly #stop = new AbortController();
  #outcome: Outcome | undefined;
  #finalising = false;

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Sets the outcome and stops what runs. False when there was one already; later causes are dropped. */
  set(outcome: Outcome): boolean {
    if (this.#outcome || (this.#finalising && outcome.kind === 'aborted')) return false;
    this.#outcome = outcome;
    if (outcome.kind !== 'success') this.#stop.abort(new RunStopped(outcome));
    return true;
  }

  /** All nodes have succeeded: from here on a cancel no longer changes the outcome. */
  finalise(): void {
    this.#finalising = true;
  }
}

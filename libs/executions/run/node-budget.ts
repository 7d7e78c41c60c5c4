import { PenstockError } from '#libs/kernel';

/** Where a node is; named in `pipeline.node.timeout` and decides the code of an unclassified failure (02 §5). */
export type NodePhase = 'render' | 'connect' | 'execute' | 'stage' | 'materialize' | 'writeback';

export interface NodeBudgetLimits {
  /** Wall clock of the node, all phases. */
  timeoutSeconds: number;
  /** Time the node may wait for its database in all. */
  statementSeconds: number;
}

/**
 * The two time budgets of one node (contract 02 §5.1). The tighter one fires first; both end in an abort of `signal`
 * whose reason is the catalogued error. The run's own stop is passed on through the same signal.
 */
export class NodeBudget {
  phase: NodePhase = 'render';
  readonly #abort = new AbortController();
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #statementLeftMs: number;

  constructor(
    private readonly runSignal: AbortSignal,
    private readonly limits: NodeBudgetLimits,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#startedAt = now();
    this.#statementLeftMs = limits.statementSeconds * 1000;
    this.#timer = setTimeout(() => this.#abort.abort(this.#timeout()), limits.timeoutSeconds * 1000);
    if (runSignal.aborted) this.#abort.abort(runSignal.reason);
    else runSignal.addEventListener('abort', this.#passOn, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What is left of the wall clock, in milliseconds; never negative. */
  get leftMs(): number {
    return Math.max(0, this.limits.timeoutSeconds * 1000 - (this.now() - this.#startedAt));
  }

  /**
   * Waits for the database: from submitting a statement to its first rows, then each fetch. Only this time counts
   * against the statement budget; the time we take to write rows elsewhere does not.
   */
  async statement<T>(wait: () => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    const began = this.now();
    const timer = setTimeout(() => this.#abort.abort(this.#statementTimeout()), Math.max(0, this.#statementLeftMs));
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
      this.#statementLeftMs -= this.now() - began;
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.runSignal.removeEventListener('abort', this.#passOn);
  }

  readonly #passOn = (): void => this.#abort.abort(this.runSignal.reason);

  #timeout(): PenstockError {
    return new PenstockError('pipeline.node.timeout', {
      message: `The node ran longer than ${this.limits.timeoutSeconds} s.`,
      details: { timeout_seconds: this.limits.timeoutSeconds, elapsed_ms: this.#elapsedMs(), phase: this.phase },
    });
  }

  #statementTimeout(): PenstockError {
    return new PenstockError('pipeline.node.query_timeout', {
      message: `The database did not answer within ${this.limits.statementSeconds} s in all.`,
      details: { timeout_seconds: this.limits.statementSeconds, elapsed_ms: this.#elapsedMs(), phase: this.phase },
    });
  }

  #elapsedMs(): number {
    return Math.round(this.now() - this.#startedAt);
  }
}

import { PenstockError } from '#libs/kernel';

/** Where a node is; named in `pipeline.node.timeout` and decides the code of an unclassified failure (02 §5). */
export type NodePhase = 'render' | 'connect' | 'execute' | 'stage' | 'materialize' | 'writeback';

/**
 * The two time budgets of one node (contract 02 §5.1). The tighter one fires first; both end in an abort of `signal`
 * whose reason is the catalogued error. The run's own stop is passed on through the same signal.
 */
export class NodeBudget {
  phase: NodePhase = 'render';
  readonly #abort = new AbortController();
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #statementSeconds = Infinity;
  #statementLeftMs = Infinity;

  constructor(
    private readonly runSignal: AbortSignal,
    private readonly timeoutSeconds: number,
    private readonly now: () => number = () => performance.now(),
    private readonly graceMs = 0,
  ) {
    this.#startedAt = now();
    this.#timer = setTimeout(() => this.#abort.abort(this.#timeout()), timeoutSeconds * 1000);
    if (runSignal.aborted) this.#abort.abort(runSignal.reason);
    else runSignal.addEventListener('abort', this.#passOn, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What is left of the wall clock, in milliseconds; never negative. */
  get leftMs(): number {
    return Math.max(0, this.timeoutSeconds * 1000 - (this.now() - this.#startedAt));
  }

  /**
   * What a database may take in all if nobody stops it: what is left, and the grace behind it. Its own clock is the
   * backstop for the case that this process is gone (02 §5.1).
   */
  get backstopMs(): number {
    return this.leftMs + this.graceMs;
  }

  /** How long the node may wait for its database in all; known once the datasource is. Before it there is no bound. */
  limitStatement(seconds: number): void {
    this.#statementSeconds = seconds;
    this.#statementLeftMs = seconds * 1000;
  }

  /**
   * Waits for the database: from submitting a statement to its first rows, then each fetch. Only this time counts
   * against the statement budget; the time we take to write rows elsewhere does not.
   */
  async statement<T>(wait: () => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    const began = this.now();
    // Longer than the wall clock it can never fire first; setTimeout would take Infinity for 1.
    const waitMs = Math.min(Math.max(0, this.#statementLeftMs), this.timeoutSeconds * 1000 + 1000);
    const timer = setTimeout(() => this.#abort.abort(this.#statementTimeout()), waitMs);
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
      message: `The node ran longer than ${this.timeoutSeconds} s.`,
      details: { timeout_seconds: this.timeoutSeconds, elapsed_ms: this.#elapsedMs(), phase: this.phase },
    });
  }

  #statementTimeout(): PenstockError {
    return new PenstockError('pipeline.node.query_timeout', {
      message: `The database did not answer within ${this.#statementSeconds} s in all.`,
      details: { timeout_seconds: this.#statementSeconds, elapsed_ms: this.#elapsedMs(), phase: this.phase },
    });
  }

  #elapsedMs(): number {
    return Math.round(this.now() - this.#startedAt);
  }
}

import { isSqlNode, TEMPDB, type WorkNode } from '#libs/pipelines';

/** Where a node is, as `node_progress` says it (contract 02 §10.1). The last three end it. */
export type ProgressState =
  | 'connecting'
  | 'executing'
  | 'fetching'
  | 'waiting_output'
  | 'writing'
  | 'finalizing'
  | 'completed'
  | 'failed'
  | 'aborted';

export type ProgressOperation = 'stage' | 'ctas' | 'materialize' | 'writeback' | 'statement' | 'child';

export interface ProgressDestination {
  kind: 'tempdb' | 'datasource' | 'caller' | 'parent' | 'none';
  table?: string;
  datasource?: string;
}

/** What one `node_progress` tells; members that are not known are absent. */
export interface ProgressSample {
  node_id: string;
  attempt: number;
  /** 1, 2, 3 … per node. */
  sequence: number;
  operation: ProgressOperation;
  destination: ProgressDestination;
  state: ProgressState;
  started_at: string;
  observed_at: string;
  elapsed_ms: number;
  /** Time spent in each state so far. */
  timings_ms: Partial<Record<ProgressState, number>>;
  rows_fetched?: number;
  rows_written?: number;
  batches_written?: number;
  /** Only when witnessed; absent = unknown. */
  committed?: boolean;
  rolled_back?: boolean;
  child_execution_id?: string;
}

export interface ProgressClock {
  now(): Date;
  /** `datapipelines.executor.progress-sample-interval-seconds`. */
  sampleIntervalMs: number;
  /**
   * How long a state may be entered untold, where nobody can be watching yet: states that follow each other faster are
   * told by one sample, with the time spent in each. Absent = each is told as it is entered.
   */
  gatherMs?: number;
}

type Facts = Pick<ProgressSample, 'committed' | 'rolled_back' | 'child_execution_id'>;

/**
 * Follows one node through its states. Each state is told when it is first entered; what changes after that, at most
 * once per interval, and the last change of an interval is not lost. Closed at the node's end: work that was given up
 * and goes on unheard tells nothing.
 */
export class NodeProgress {
  #state: ProgressState | undefined;
  #since = 0;
  #sequence = 0;
  #lastTold = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires. */
  #due = Infinity;
  #closed = false;
  #fetched: number | undefined;
  #written: number | undefined;
  #batches: number | undefined;
  readonly #facts: Facts = {};
  readonly #timings: Partial<Record<ProgressState, number>> = {};
  readonly #began = performance.now();

  constructor(
    private readonly node: WorkNode,
    private readonly startedAt: Date,
    private readonly clock: ProgressClock,
    private readonly tell: (sample: ProgressSample) => void,
    /** Rows put out so far. */
    private readonly rowsOut: (rows: number, bytes: number) => void,
    /** Who takes the caller node's rows: the result store for the caller, or the parent of a child. */
    private readonly callerIs: 'caller' | 'parent' = 'caller',
  ) {}

  enter(state: ProgressState): void {
    if (this.#closed || state === this.#state) return;
    const known = state in this.#timings;
    this.#clockState();
    this.#state = state;
    this.#timings[state] ??= 0;
    if (known) return;
    if (this.clock.gatherMs === undefined) this.#tell();
    else this.#tellIn(this.clock.gatherMs);
  }

  /** A batch came from the source. */
  fetched(rows: number): void {
    this.#fetched = (this.#fetched ?? 0) + rows;
  }

  /** `rows` and `bytes` in all have gone where they go. */
  written(rows: number, bytes: number): void {
    if (this.#closed) return;
    this.#written = rows;
    this.#batches = (this.#batches ?? 0) + 1;
    this.rowsOut(rows, bytes);
    this.#sampleSoon();
  }

  /** Rows of a statement that tells them all at once. */
  counted(rows: number): void {
    this.#written = rows;
  }

  /** Seen to have happened; told with the next sample. */
  witnessed(facts: Facts): void {
    Object.assign(this.#facts, facts);
  }

  /** The node is over, and this its last sample. */
  end(state: 'completed' | 'failed' | 'aborted'): void {
    if (this.#closed) return;
    this.#clockState();
    this.#state = state;
    this.#tell();
    this.#closed = true;
  }

  /** Nothing more is told, whatever still happens. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #sampleSoon(): void {
    const { sampleIntervalMs, gatherMs = 0 } = this.clock;
    const waitMs = Math.max(this.#lastTold + sampleIntervalMs - performance.now(), gatherMs);
    if (waitMs <= 0) this.#tell();
    else this.#tellIn(waitMs);
  }

  #tellIn(waitMs: number): void {
    const due = performance.now() + waitMs;
    if (this.#timer && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      if (!this.#closed) this.#tell();
    }, waitMs);
    this.#timer.unref();
  }

  #clockState(): void {
    const now = performance.now();
    if (this.#state) this.#timings[this.#state] = (this.#timings[this.#state] ?? 0) + (now - this.#since);
    this.#since = now;
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#clockState();
    this.#lastTold = performance.now();
    const timings = Object.entries(this.#timings).map(([state, ms]) => [state, Math.round(ms)]);
    this.tell({
      node_id: this.node.id,
      attempt: 1,
      sequence: ++this.#sequence,
      operation: operationOf(this.node),
      destination: destinationOf(this.node, this.callerIs),
      state: this.#state!,
      started_at: this.startedAt.toISOString(),
      observed_at: this.clock.now().toISOString(),
      elapsed_ms: Math.round(performance.now() - this.#began),
      ...(this.#batches === undefined ? {} : { batches_written: this.#batches }),
      ...this.#facts,
      ...(this.#fetched === undefined ? {} : { rows_fetched: this.#fetched }),
      ...(this.#written === undefined ? {} : { rows_written: this.#written }),
      timings_ms: Object.fromEntries(timings) as ProgressSample['timings_ms'],
    });
  }
}

function operationOf(node: WorkNode): ProgressOperation {
  if (!isSqlNode(node)) return 'child';
  const { type, source, output } = node;
  if (type !== 'DQL') return 'statement';
  if (output?.target === 'tempdb') return source === TEMPDB ? 'ctas' : 'stage';
  return output?.target === 'datasource' ? 'writeback' : 'materialize';
}

function destinationOf(node: WorkNode, callerIs: 'caller' | 'parent'): ProgressDestination {
  const { output } = node;
  if (output?.target === 'tempdb') return { kind: 'tempdb', table: output.table };
  if (output?.target === 'datasource') {
    return { kind: 'datasource', datasource: output.datasource, table: output.table };
  }
  if (!isSqlNode(node)) return { kind: output ? callerIs : 'none' };
  const { type, source } = node;
  if (type === 'DQL') return { kind: callerIs };
  return source === TEMPDB ? { kind: 'tempdb' } : { kind: 'datasource', datasource: source };
}

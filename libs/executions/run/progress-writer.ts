import type { Heartbeats } from '../records/heartbeats.js';

/** A run whose node states can be written down. */
export interface ProgressSource {
  readonly executionId: string;
  nodeStatsJson(): string;
  /** A write that succeeded was a heartbeat too, as far as it met a RUNNING row. */
  readonly ended: boolean;
}

/** Node boundaries of one burst share a statement; a run that is over before needs none. */
const GATHER_MS = 100;

/**
 * Writes live node states of this instance's runs (contract 02 §9.2): one statement in flight, the newest snapshot wins,
 * a failed write is dropped.
 */
export class ProgressWriter {
  readonly #dirty = new Set<ProgressSource>();
  readonly #later = new Map<ProgressSource, NodeJS.Timeout>();
  readonly #lastWrite = new WeakMap<ProgressSource, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing = false;

  constructor(
    private readonly heartbeats: Heartbeats,
    private readonly intervalMs: number,
    private readonly onProblem: (error: unknown) => void,
  ) {}

  /** A node started or ended: written as soon as may be. */
  boundary(source: ProgressSource): void {
    this.#dirty.add(source);
    this.#schedule();
  }

  /** Rows went by: written once per interval, the last ones too, should no more come for long. */
  rows(source: ProgressSource): void {
    if (this.#later.has(source)) return;
    const waitMs = (this.#lastWrite.get(source) ?? -Infinity) + this.intervalMs - performance.now();
    if (waitMs <= 0) return this.boundary(source);
    const timer = setTimeout(() => {
      this.#later.delete(source);
      this.boundary(source);
    }, waitMs);
    timer.unref();
    this.#later.set(source, timer);
  }

  forget(source: ProgressSource): void {
    this.#dirty.delete(source);
    clearTimeout(this.#later.get(source));
    this.#later.delete(source);
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const timer of this.#later.values()) clearTimeout(timer);
    this.#later.clear();
    this.#dirty.clear();
  }

  #schedule(): void {
    if (this.#timer || this.#writing) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, GATHER_MS);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const sources = [...this.#dirty].filter((source) => !source.ended);
    this.#dirty.clear();
    if (sources.length === 0) return;
    for (const source of sources) this.#lastWrite.set(source, performance.now());
    this.#writing = true;
    try {
      await this.heartbeats.progress(new Map(sources.map((source) => [source.executionId, source.nodeStatsJson()])));
    } catch (error) {
      this.onProblem(error);
    } finally {
      this.#writing = false;
      if (this.#dirty.size > 0) this.#schedule();
    }
  }
}

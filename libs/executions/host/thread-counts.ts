import { AggregatorRegistry, type Registry } from 'prom-client';

export type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What only ever grows. */
const GROWING = new Set<unknown>(['counter', 'histogram']);

/**
 * What the threads of a process have counted. A sum over them never goes down (contract 02 §12): one that does not answer
 * in time counts as when it last did, and what one that is gone had counted stays. What it counted after that is lost with
 * it.
 */
export class ThreadCounts<Thread extends object> {
  readonly #last = new Map<Thread, Metrics>();
  /** Of all that are gone. */
  #departed: Metrics | undefined;

  answered(thread: Thread, metrics: Metrics): void {
    this.#last.set(thread, metrics);
  }

  /** Nothing that it held is held any more: of its gauges nothing remains. */
  async departed(thread: Thread): Promise<void> {
    const counted = this.#last.get(thread)?.filter(({ type }) => GROWING.has(type));
    this.#last.delete(thread);
    if (!counted) return;
    const before = this.#departed;
    this.#departed = before ? await AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON() : counted;
  }

  all(): Metrics[] {
    return [...this.#last.values(), ...(this.#departed ? [this.#departed] : [])];
  }
}

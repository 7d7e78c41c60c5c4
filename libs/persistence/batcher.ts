interface Entry<In, Out> {
  readonly item: In;
  readonly resolve: (value: Out) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatcherOptions {
  /** Most items of one flush. */
  maxItems: number;
  /** Flushes at a time; further items gather until one is back. */
  concurrency: number;
  /** Whether the items of a failed flush may be tried one by one: not when nothing is known about its outcome. */
  separable: (error: unknown) => boolean;
}

/**
 * Lets concurrent runs share a statement and its commit: what arrives while a flush is under way goes into the next one
 * (contract 00 §9). A lone item is not delayed. One bad item does not fail its neighbours.
 */
export class Batcher<In, Out> {
  readonly #queue: Entry<In, Out>[] = [];
  #active = 0;
  #scheduled = false;

  constructor(
    private readonly flush: (items: readonly In[]) => Promise<readonly Out[]>,
    private readonly options: BatcherOptions,
  ) {}

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** One turn of the event loop gathers what arrives together. */
  #schedule(): void {
    if (this.#scheduled || this.#active >= this.options.concurrency) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) void this.#run(this.#queue.splice(0, this.options.maxItems));
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  async #run(entries: readonly Entry<In, Out>[]): Promise<void> {
    this.#active++;
    try {
      await this.#settle(entries);
    } finally {
      this.#active--;
      if (this.#queue.length > 0) this.#schedule();
    }
  }

  async #settle(entries: readonly Entry<In, Out>[]): Promise<void> {
    try {
      const results = await this.flush(entries.map(({ item }) => item));
      entries.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (entries.length > 1 && this.options.separable(error)) {
        for (const entry of entries) await this.#settle([entry]);
      } else {
        for (const { reject } of entries) reject(error);
      }
    }
  }
}

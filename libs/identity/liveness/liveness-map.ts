interface Entry<V> {
  value: V;
  staleAt: number;
}

interface Load<V> {
  result: Promise<V | undefined>;
  /** Cleared by an invalidation: what this load finds may already be out of date. */
  admissible: boolean;
}

/** Entries kept per map; beyond that, reads go to the database directly (contract 04 §5). */
const MAX_ENTRIES = 10_000;

/**
 * A cache that answers whether something still holds. It keeps no misses and no failures, shares one load among
 * simultaneous readers, and does not admit a load that began before an invalidation.
 */
export class LivenessMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loads = new Map<string, Load<V>>();

  constructor(
    private readonly ttlMs: number,
    private readonly now: () => number,
    private readonly maxEntries = MAX_ENTRIES,
  ) {}

  async get(id: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const entry = this.#entries.get(id);
    if (entry && entry.staleAt > this.now()) return entry.value;
    const underWay = this.#loads.get(id);
    if (underWay) return underWay.result;
    const started: Load<V> = { result: load(), admissible: true };
    this.#loads.set(id, started);
    try {
      const value = await started.result;
      if (started.admissible && value !== undefined) this.#admit(id, value);
      return value;
    } finally {
      if (this.#loads.get(id) === started) this.#loads.delete(id);
    }
  }

  peek(id: string): V | undefined {
    const entry = this.#entries.get(id);
    return entry && entry.staleAt > this.now() ? entry.value : undefined;
  }

  invalidate(id: string): void {
    this.#entries.delete(id);
    const load = this.#loads.get(id);
    if (load) load.admissible = false;
    this.#loads.delete(id);
  }

  clear(): void {
    this.#entries.clear();
    for (const load of this.#loads.values()) load.admissible = false;
    this.#loads.clear();
  }

  #admit(id: string, value: V): void {
    if (this.#entries.size >= this.maxEntries && !this.#entries.has(id)) {
      this.#dropStale();
      if (this.#entries.size >= this.maxEntries) return;
    }
    this.#entries.set(id, { value, staleAt: this.now() + this.ttlMs });
  }

  #dropStale(): void {
    const now = this.now();
    for (const [id, entry] of this.#entries) if (entry.staleAt <= now) this.#entries.delete(id);
  }
}

import { DuckDBInstance } from '@duckdb/node-api';
import type { NativeCallGate } from '#libs/datasources';

/**
 * Keeps one engine opened and unused: opening takes the engine some ten milliseconds, which a run need not wait for.
 * Every engine is taken once and configured by its taker; none is ever used by two runs.
 */
export class SpareInstance {
  #spare: Promise<DuckDBInstance> | undefined;
  #closed = false;

  constructor(private readonly gate: NativeCallGate) {}

  /** An engine nobody has used. The next one is opened behind it. */
  async take(signal: AbortSignal): Promise<DuckDBInstance> {
    const spare = this.#spare;
    this.#spare = undefined;
    try {
      return await (spare ?? this.#open(signal));
    } finally {
      this.#prepare();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const spare = this.#spare;
    this.#spare = undefined;
    // One that did not open holds nothing.
    (await spare?.catch(() => undefined))?.closeSync();
  }

  #open(signal?: AbortSignal): Promise<DuckDBInstance> {
    return this.gate.run(() => DuckDBInstance.create(':memory:'), signal);
  }

  #prepare(): void {
    if (this.#closed || this.#spare) return;
    const opening = this.#open();
    this.#spare = opening;
    // A failure is the business of the one who takes it; until then nobody listens.
    opening.catch(() => undefined);
  }
}

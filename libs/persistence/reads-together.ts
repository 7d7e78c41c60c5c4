import type pg from 'pg';

/** A statement that waits for those it travels with. */
export interface GatheredRead {
  sql: string;
  params: readonly unknown[];
  resolve: (result: pg.QueryResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers the statements that one asker begins in one turn, to be sent in one write: each write of its own wakes a
 * backend of its own, which costs the server more than most of what it asks there.
 */
export class ReadsTogether {
  readonly #gathering = new Map<AbortSignal, GatheredRead[]>();

  constructor(private readonly send: (reads: readonly GatheredRead[], signal: AbortSignal) => Promise<void>) {}

  read(signal: AbortSignal, sql: string, params: readonly unknown[]): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const read = { sql, params, resolve, reject };
      const others = this.#gathering.get(signal);
      if (others) {
        others.push(read);
        return;
      }
      const reads = [read];
      this.#gathering.set(signal, reads);
      // Behind everything that this turn still resolves, as loaders wait for their keys.
      void Promise.resolve().then(() =>
        process.nextTick(() => {
          this.#gathering.delete(signal);
          void this.send(reads, signal);
        }),
      );
    });
  }
}

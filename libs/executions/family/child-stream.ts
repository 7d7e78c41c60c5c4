import type { MappingWarning } from '#libs/datasources';
import type { Column, ColumnBatch } from '#libs/typesystem';

/**
 * The rows of a child on their way into its parent's node, hand to hand: one batch at a time, and the child goes on only
 * when the parent asks for the next one. So a slow target slows the source, and nothing is kept in between.
 */
export class ChildStream {
  readonly #columns = Promise.withResolvers<readonly Column[] | undefined>();
  #warnings: readonly MappingWarning[] = [];
  #offered: { batch: ColumnBatch; taken: () => void } | undefined;
  #waiting: ((batch: ColumnBatch | null) => void) | undefined;
  /** Lets the child go on; called when the parent is done with the batch it was given. */
  #done: (() => void) | undefined;
  #ended = false;

  /** Undefined when the child ended before it had a row to give: it failed, or has no caller node. */
  get columns(): Promise<readonly Column[] | undefined> {
    return this.#columns.promise;
  }

  /** Of the child's own source; complete when the rows are. */
  get warnings(): readonly MappingWarning[] {
    return this.#warnings;
  }

  open(columns: readonly Column[]): void {
    this.#columns.resolve(columns);
  }

  /** Resolves when the parent asks for the batch after this one; rejects with the signal's reason. */
  put(batch: ColumnBatch, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const stop = () => {
        this.#offered = undefined;
        this.#done = undefined;
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { once: true });
      const taken = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const waiting = this.#waiting;
      if (!waiting) {
        this.#offered = { batch, taken };
        return;
      }
      this.#waiting = undefined;
      this.#done = taken;
      waiting(batch);
    });
  }

  /** The next batch, which is the caller's until it asks again; null when no more will come, for whatever reason. */
  next(): Promise<ColumnBatch | null> {
    this.#done?.();
    this.#done = undefined;
    const offered = this.#offered;
    if (offered) {
      this.#offered = undefined;
      this.#done = offered.taken;
      return Promise.resolve(offered.batch);
    }
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  /** The child's caller node has given everything. */
  complete(warnings: readonly MappingWarning[]): void {
    this.#warnings = warnings;
    this.end();
  }

  /** Nothing more comes; whether that was a success the child's end tells. */
  end(): void {
    this.#ended = true;
    this.#columns.resolve(undefined);
    this.#waiting?.(null);
    this.#waiting = undefined;
  }
}

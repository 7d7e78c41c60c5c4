import { PenstockError } from '#libs/kernel';
import type { Column } from '#libs/typesystem';
import { compressChunk } from './result-chunk.js';
import type { TransientStore } from '#libs/transient';

/** A chunk is closed at either bound (contract 02 §6.4). */
const CHUNK_ROWS = 1000;
const CHUNK_BYTES = 1024 * 1024;
const WRITES_IN_FLIGHT = 2;

export interface ResultLimits {
  /** Most bytes of row JSON, `datapipelines.result.max-size-bytes`. */
  maxBytes: number;
  /** Lifetime of the rows while they arrive. */
  drainTtlSeconds: number;
}

export interface StoredResult {
  columns: readonly Column[];
  rowCount: number;
  /** UTF-8 bytes of the row arrays before compression. */
  bytes: number;
  chunkCount: number;
}

/**
 * Stores the rows of one caller node while they arrive: chunks of row arrays joined by line feeds, compressed, at most
 * two writes at a time. Nothing is visible before it is published. `result.too_large` as soon as the size passes the
 * cap; what was stored is then discarded by the run.
 */
export class ResultWriter {
  #lines: string[] = [];
  #lineBytes = 0;
  #rowCount = 0;
  #bytes = 0;
  readonly #chunkStarts: number[] = [];
  readonly #writes = new Set<Promise<void>>();
  #begun: Promise<void> | undefined;
  #failure: unknown;

  constructor(
    private readonly executionId: string,
    private readonly store: Pick<TransientStore, 'beginResult' | 'putChunk'>,
    private readonly limits: ResultLimits,
    private readonly signal: AbortSignal,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Rows as JSON array texts, as `encodeBatchRows` makes them. Resolves when there is room for more. */
  async write(rows: readonly string[]): Promise<void> {
    for (const row of rows) {
      const bytes = Buffer.byteLength(row);
      this.#bytes += bytes;
      if (this.#bytes > this.limits.maxBytes) throw tooLarge(this.limits.maxBytes, this.#bytes);
      if (this.#lines.length === 0) this.#chunkStarts.push(this.#rowCount);
      this.#lines.push(row);
      this.#lineBytes += bytes;
      this.#rowCount++;
      if (this.#lines.length >= CHUNK_ROWS || this.#lineBytes >= CHUNK_BYTES) await this.#flush();
    }
  }

  /** Waits until everything is stored. Returns what has to be published. */
  async finish(columns: readonly Column[]): Promise<StoredResult & { chunkStarts: readonly number[] }> {
    if (this.#lines.length > 0) await this.#flush();
    await Promise.all(this.#writes);
    this.#raise();
    return {
      columns,
      rowCount: this.#rowCount,
      bytes: this.#bytes,
      chunkCount: this.#chunkStarts.length,
      chunkStarts: this.#chunkStarts,
    };
  }

  /** Waits for writes under way, so that a discard after it leaves nothing. Never rejects. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #flush(): Promise<void> {
    const text = this.#lines.join('\n');
    const index = this.#chunkStarts.length - 1;
    this.#lines = [];
    this.#lineBytes = 0;
    while (this.#writes.size >= WRITES_IN_FLIGHT) await Promise.race(this.#writes);
    this.#raise();
    const write = this.#store(index, text).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #store(index: number, text: string): Promise<void> {
    try {
      this.#begun ??= this.store.beginResult(this.executionId, this.limits.drainTtlSeconds, this.signal);
      await this.#begun;
      await this.store.putChunk(this.executionId, index, await compressChunk(text), this.signal);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #raise(): void {
    this.signal.throwIfAborted();
    if (this.#failure === undefined) return;
    throw new PenstockError('result.storage_unavailable', {
      message: 'The result could not be stored.',
      cause: this.#failure,
    });
  }
}

function tooLarge(maxBytes: number, bytes: number): PenstockError {
  return new PenstockError('result.too_large', {
    message: `The result is larger than ${maxBytes} bytes. Return fewer rows or columns, or write them to a datasource.`,
    details: { max_size_bytes: maxBytes, bytes },
  });
}

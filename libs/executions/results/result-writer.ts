import { PenstockError } from '#libs/kernel';
import type { MappingWarning } from '#libs/datasources';
import type { Column, EncodedRows } from '#libs/typesystem';
import { ChunkRows } from './chunk-rows.js';
import { packChunk } from './result-chunk.js';
import { metaOf, publication, type PublishedResult } from './result-publication.js';
import { TransientUnavailable, type TransientStore } from '#libs/transient';

/** A chunk is closed at either bound (contract 02 §6.4). */
const CHUNK_ROWS = 1000;
const CHUNK_BYTES = 1024 * 1024;
const WRITES_IN_FLIGHT = 2;
/** A result up to this size stays in memory until the caller who waits for it is answered. */
const KEPT_BYTES = 64 * 1024;

export interface ResultLimits {
  /** Most bytes of row JSON, `datapipelines.result.max-size-bytes`. */
  maxBytes: number;
  /** Lifetime of the rows while they arrive. */
  drainTtlSeconds: number;
  /** Lifetime of the result from its publication on. */
  ttlSeconds: number;
}

/** What a result is made of beside its rows, once they are all written. */
export interface ResultEnd {
  columns: readonly Column[];
  warnings: readonly MappingWarning[];
  /** No node of the run is still to come: what is whole may be made visible now. */
  last: boolean;
}

export interface StoredResult {
  columns: readonly Column[];
  rowCount: number;
  /** UTF-8 bytes of the row arrays before compression. */
  bytes: number;
  chunkCount: number;
  chunkStarts: readonly number[];
  /** All row arrays joined by line feeds, of a result that is one small chunk: its reader need not ask the store. */
  whole: Uint8Array | undefined;
  /** Of a result that was small, and the last of its run: stored and published by one act. */
  published: PublishedResult | undefined;
}

/**
 * Stores the rows of one caller node while they arrive: chunks of row arrays joined by line feeds, compressed, at most
 * two writes at a time. Nothing is visible before it is published. `result.too_large` as soon as the size passes the
 * cap; what was stored is then discarded by the run.
 */
export class ResultWriter {
  /** The chunk that is being filled, and those that may be filled again. */
  #rows = new ChunkRows();
  readonly #spare: ChunkRows[] = [];
  /** Of that chunk, without line feeds. */
  #chunkRows = 0;
  #chunkBytes = 0;
  #rowCount = 0;
  #bytes = 0;
  readonly #chunkStarts: number[] = [];
  readonly #writes = new Set<Promise<void>>();
  #begun: Promise<void> | undefined;
  #whole: Uint8Array | undefined = NOTHING;
  #published: PublishedResult | undefined;
  #failure: unknown;

  constructor(
    private readonly executionId: string,
    private readonly store: Pick<TransientStore, 'beginResult' | 'putChunk' | 'storeResult'>,
    private readonly limits: ResultLimits,
    private readonly signal: AbortSignal,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Copies the rows. Resolves when there is room for more. */
  async write({ bytes, ends }: EncodedRows): Promise<void> {
    let begin = 0;
    let pieceBegin = 0;
    for (const end of ends) {
      const size = end - begin;
      this.#bytes += size;
      if (this.#bytes > this.limits.maxBytes) throw tooLarge(this.limits.maxBytes, this.#bytes);
      if (this.#chunkRows === 0) {
        this.#chunkStarts.push(this.#rowCount);
        pieceBegin = begin;
      }
      this.#chunkRows++;
      this.#chunkBytes += size;
      this.#rowCount++;
      begin = end + 1;
      if (this.#chunkRows < CHUNK_ROWS && this.#chunkBytes < CHUNK_BYTES) continue;
      this.#rows.add(bytes, pieceBegin, end);
      await this.#flush();
      pieceBegin = begin;
    }
    if (pieceBegin < begin) this.#rows.add(bytes, pieceBegin, begin - 1);
  }

  /** Whether the store may hold anything of it. */
  get begun(): boolean {
    return this.#begun !== undefined;
  }

  /** Waits until everything is stored. Returns what has to be published, unless it is. */
  async finish(end: ResultEnd): Promise<StoredResult> {
    if (end.last && !this.#begun) await this.#storeWhole(end);
    else {
      if (this.#chunkRows > 0) await this.#flush();
      await Promise.all(this.#writes);
      // A result without rows is a result: it has to be begun to be published.
      await this.#attempt(() => (this.#begun ??= this.#begin()));
    }
    this.#raise();
    return {
      columns: end.columns,
      rowCount: this.#rowCount,
      bytes: this.#bytes,
      chunkCount: this.#chunkStarts.length,
      chunkStarts: this.#chunkStarts,
      whole: this.#whole,
      published: this.#published,
    };
  }

  /** Waits for writes under way, so that a discard after it leaves nothing. Never rejects. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** One chunk or none, and nothing behind it. */
  async #storeWhole({ columns, warnings }: ResultEnd): Promise<void> {
    const { executionId, signal } = this;
    const { ttlSeconds } = this.limits;
    const rows = this.#rows.bytes;
    const described = {
      columns,
      warnings,
      rowCount: this.#rowCount,
      bytes: this.#bytes,
      chunkStarts: this.#chunkStarts,
    };
    if (rows.length <= KEPT_BYTES) this.#whole = rows.slice();
    else this.#whole = undefined;
    const storing = async (): Promise<void> => {
      const chunk = this.#chunkRows > 0 ? await packChunk(rows) : undefined;
      const stored = await this.store.storeResult(executionId, chunk, metaOf(described), ttlSeconds, signal);
      this.#published = publication(described, stored, ttlSeconds);
      if (!this.#published) throw new TransientUnavailable({ reason: 'lost' });
    };
    await this.#attempt(() => (this.#begun = storing()));
  }

  async #flush(): Promise<void> {
    const chunk = this.#rows;
    const index = this.#chunkStarts.length - 1;
    this.#rows = this.#spare.pop() ?? new ChunkRows();
    this.#chunkRows = 0;
    this.#chunkBytes = 0;
    while (this.#writes.size >= WRITES_IN_FLIGHT) await Promise.race(this.#writes);
    this.#raise();
    const { bytes } = chunk;
    this.#whole = index === 0 && bytes.length <= KEPT_BYTES ? bytes.slice() : undefined;
    const write = this.#store(index, bytes).finally(() => {
      this.#writes.delete(write);
      this.#spare.push(chunk.emptied());
    });
    this.#writes.add(write);
  }

  async #store(index: number, rows: Uint8Array): Promise<void> {
    const written = index === 0 ? (this.#begun = this.#begin(rows)) : this.#put(index, rows);
    await this.#attempt(() => written);
  }

  /** With the first chunk, where there is one. */
  async #begin(rows?: Uint8Array): Promise<void> {
    const first = rows && (await packChunk(rows));
    await this.store.beginResult(this.executionId, this.limits.drainTtlSeconds, first, this.signal);
  }

  /** Packed beside the chunks before it, written when the result is begun. */
  async #put(index: number, rows: Uint8Array): Promise<void> {
    const chunk = await packChunk(rows);
    await this.#begun;
    await this.store.putChunk(this.executionId, index, chunk, this.signal);
  }

  /** The first failure of the store is the result's. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
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

const NOTHING = new Uint8Array();

function tooLarge(maxBytes: number, bytes: number): PenstockError {
  return new PenstockError('result.too_large', {
    message: `The result is larger than ${maxBytes} bytes. Return fewer rows or columns, or write them to a datasource.`,
    details: { max_size_bytes: maxBytes, bytes },
  });
}

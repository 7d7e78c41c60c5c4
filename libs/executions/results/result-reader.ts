import { Injectable } from '@nestjs/common';
import { readJson, type JsonValue } from '#libs/kernel';
import { TransientStore, unavailableAs, type PublishedResult } from '#libs/transient';
import type { Column } from '#libs/typesystem';
import { CHUNK_ENCODING, linesOfChunk } from './result-chunk.js';

/** Chunks fetched and held at a time (contract 02 §6.4). */
const CHUNKS_AT_A_TIME = 8;

export interface StoredResultInfo {
  columns: readonly Column[];
  warnings: JsonValue;
  totalRows: number;
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  expiresAt: string;
  chunkStarts: readonly number[];
}

/** Reads stored results back. Rows stay the JSON texts they were stored as: nothing parses them, so numbers keep theirs. */
@Injectable()
export class ResultReader {
  constructor(private readonly store: TransientStore) {}

  /**
   * Undefined when the result has expired, never was, or was packed by a version whose chunks this one cannot read.
   * `result.storage_unavailable` when the store is down.
   */
  async info(executionId: string, signal?: AbortSignal): Promise<StoredResultInfo | undefined> {
    const meta = await asStorage(() => this.store.resultMeta(executionId, signal));
    return meta?.encoding === CHUNK_ENCODING ? infoOf(meta) : undefined;
  }

  /** Row texts `offset .. offset + limit`; undefined when the rows expired in between. */
  async rows(
    executionId: string,
    info: StoredResultInfo,
    offset: number,
    limit: number,
    signal?: AbortSignal,
  ): Promise<string[] | undefined> {
    const end = Math.min(offset + limit, info.totalRows);
    const rows: string[] = [];
    for await (const lines of this.lines(executionId, info, offset, end, signal)) rows.push(...lines);
    return rows.length === Math.max(0, end - offset) ? rows : undefined;
  }

  /** The first rows, with everything they need asked for at once; undefined when the result is gone. */
  async firstRows(executionId: string, limit: number): Promise<string[] | undefined> {
    const [info, [chunk]] = await Promise.all([
      this.info(executionId),
      asStorage(() => this.store.readChunks(executionId, [0])),
    ]);
    if (!info) return undefined;
    const wanted = Math.min(limit, info.totalRows);
    if (wanted === 0) return [];
    const first = chunk ? await linesOfChunk(chunk) : [];
    if (first.length !== (info.chunkStarts[1] ?? info.totalRows)) return undefined;
    if (wanted <= first.length) return first.slice(0, wanted);
    const rest = await this.rows(executionId, info, first.length, wanted - first.length);
    return rest && [...first, ...rest];
  }

  /** Row texts in order, some chunks at a time; ends early when a chunk is gone. */
  async *lines(
    executionId: string,
    { chunkStarts, totalRows }: StoredResultInfo,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): AsyncGenerator<string[], void, void> {
    if (from >= to) return;
    const last = chunkAt(chunkStarts, to - 1);
    for (let first = chunkAt(chunkStarts, from); first <= last; first += CHUNKS_AT_A_TIME) {
      const indexes = Array.from({ length: Math.min(CHUNKS_AT_A_TIME, last - first + 1) }, (_, at) => first + at);
      const chunks = await asStorage(() => this.store.readChunks(executionId, indexes, signal));
      for (const [at, chunk] of chunks.entries()) {
        if (!chunk) return;
        const index = indexes[at]!;
        const start = chunkStarts[index]!;
        const size = (chunkStarts[index + 1] ?? totalRows) - start;
        const lines = await linesOfChunk(chunk);
        if (lines.length !== size) return;
        yield lines.slice(Math.max(0, from - start), Math.min(size, to - start));
      }
    }
  }
}

/** The chunk that holds a row: the last one that starts at or before it. */
function chunkAt(chunkStarts: readonly number[], row: number): number {
  let low = 0;
  let high = chunkStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (chunkStarts[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

function infoOf({ schemaJson, warningsJson, totalRows, expiresAt, chunkStarts }: PublishedResult): StoredResultInfo {
  return {
    columns: columnsOf(schemaJson),
    warnings: readJson(warningsJson),
    totalRows,
    expiresAt: wireExpiry(expiresAt),
    chunkStarts,
  };
}

/** The store's clock may tell microseconds; our own stamps are in milliseconds. */
export function wireExpiry(expiresAt: string): string {
  return new Date(expiresAt).toISOString();
}

/** Descriptors that were written by us, with small integers only: no exact number can be lost here. */
function columnsOf(schemaJson: string): Column[] {
  return JSON.parse(schemaJson) as Column[];
}

function asStorage<T>(read: () => Promise<T>): Promise<T> {
  return unavailableAs('result.storage_unavailable', read, { message: 'The result cannot be read now.' });
}

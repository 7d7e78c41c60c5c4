import { keys } from '../keys.js';
import type { PublishedResult, ResultMeta, StoredAgain } from '../transient-store.js';
import { TransientUnavailable } from '../transient-unavailable.js';
import type { ExpiringEntries } from './expiring-entries.js';

interface Rows {
  chunks: Map<number, Uint8Array>;
  bytes: number;
  published: boolean;
}

const META_BYTES = 200;

export class MemoryResults {
  constructor(private readonly entries: ExpiringEntries) {}

  begin(executionId: string, drainTtlSeconds: number): void {
    this.discard(executionId);
    const rows: Rows = { chunks: new Map(), bytes: 0, published: false };
    this.entries.set(keys.resultRows(executionId), rows, 0, this.entries.after(drainTtlSeconds));
  }

  putChunk(executionId: string, index: number, bytes: Uint8Array): void {
    const key = keys.resultRows(executionId);
    const rows = this.#rows(executionId);
    if (!rows || rows.published) throw new TransientUnavailable({ reason: 'lost' });
    const total = rows.bytes - (rows.chunks.get(index)?.byteLength ?? 0) + bytes.byteLength;
    this.entries.set(key, rows, total, this.entries.expiresAtMs(key) ?? 0);
    rows.bytes = total;
    // A copy: the caller may fill its buffer anew.
    rows.chunks.set(index, bytes.slice());
  }

  publish(executionId: string, meta: ResultMeta, ttlSeconds: number): StoredAgain {
    const rows = this.#rows(executionId);
    if (!rows || rows.published || rows.chunks.size !== meta.chunkStarts.length) {
      throw new TransientUnavailable({ reason: 'lost' });
    }
    const expiresAtMs = this.entries.after(ttlSeconds);
    const expiresAt = new Date(expiresAtMs).toISOString();
    const published: PublishedResult = { ...meta, chunkStarts: [...meta.chunkStarts], expiresAt };
    const bytes = 2 * (meta.schemaJson.length + meta.warningsJson.length) + 8 * meta.chunkStarts.length + META_BYTES;
    this.entries.set(keys.resultMeta(executionId), published, bytes, expiresAtMs);
    this.entries.expireAt(keys.resultRows(executionId), expiresAtMs);
    rows.published = true;
    return { expiresAt, totalRows: published.totalRows, chunks: rows.chunks.size };
  }

  meta(executionId: string): PublishedResult | undefined {
    return this.entries.get<PublishedResult>(keys.resultMeta(executionId));
  }

  countChunks(executionId: string): number {
    return this.#rows(executionId)?.chunks.size ?? 0;
  }

  readChunks(executionId: string, indexes: readonly number[]): (Uint8Array | undefined)[] {
    const rows = this.#rows(executionId);
    return indexes.map((index) => rows?.chunks.get(index));
  }

  discard(executionId: string): void {
    this.entries.delete(keys.resultMeta(executionId));
    this.entries.delete(keys.resultRows(executionId));
  }

  #rows(executionId: string): Rows | undefined {
    return this.entries.get<Rows>(keys.resultRows(executionId));
  }
}

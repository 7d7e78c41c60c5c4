import { PenstockError, writeJson } from '#libs/kernel';
import { TransientStore, type ResultMeta } from '#libs/transient';
import type { DeliveredResult } from '../run/node-work.js';
import { wireColumn } from '../run/run-events.js';
import { CHUNK_ENCODING } from './result-chunk.js';
import { wireExpiry } from './result-reader.js';
import { ResultWriter } from './result-writer.js';

export interface ResultSettings {
  maxBytes: number;
  /** While rows arrive their key must outlive the run: remaining execution budget and the longest lifetime. */
  drainTtlSeconds: number;
}

/** What the store holds of a result: rows by its meta, which is there when it is published, and chunks. */
interface Kept {
  rows: number | undefined;
  chunks: number;
}

export interface PublishedResult {
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  expiresAt: string;
  ttlSeconds: number;
}

/** Stored results, from the side that writes them (contract 02 §6.4). */
export class ResultStore {
  constructor(
    private readonly store: TransientStore,
    private readonly settings: ResultSettings,
  ) {}

  writer(executionId: string, signal: AbortSignal): ResultWriter {
    const { maxBytes, drainTtlSeconds } = this.settings;
    return new ResultWriter(executionId, this.store, { maxBytes, drainTtlSeconds }, signal);
  }

  /**
   * Makes the result visible (meta last, one fixed expiry for both keys), then reads meta and the number of chunks again;
   * rejects when anything is missing. The questions go out behind the act, in the same exchange, and are answered in
   * this order; an act that had to be sent twice is looked at once more.
   */
  async publish(executionId: string, delivered: DeliveredResult, ttlSeconds: number): Promise<PublishedResult> {
    const [{ expiresAt }, seen] = await Promise.all([
      this.store.publishResult(executionId, metaOf(delivered), ttlSeconds),
      this.#kept(executionId),
    ]);
    const { stored } = delivered;
    const complete = (kept: Kept): boolean => kept.rows === stored.rowCount && kept.chunks === stored.chunkCount;
    if (complete(seen) || complete(await this.#kept(executionId)))
      return { expiresAt: wireExpiry(expiresAt), ttlSeconds };
    throw new PenstockError('result.storage_unavailable', {
      message: 'A stored result is not complete.',
      details: { expected_chunks: stored.chunkCount },
    });
  }

  async #kept(executionId: string): Promise<Kept> {
    const [meta, chunks] = await Promise.all([this.store.resultMeta(executionId), this.store.countChunks(executionId)]);
    return { rows: meta?.totalRows, chunks };
  }

  discard(executionId: string): Promise<void> {
    return this.store.discardResult(executionId);
  }
}

function metaOf({ columns, warnings, stored }: DeliveredResult): ResultMeta {
  return {
    schemaJson: writeJson(columns.map(wireColumn)),
    totalRows: stored.rowCount,
    bytes: stored.bytes,
    chunkStarts: stored.chunkStarts,
    warningsJson: writeJson(warnings),
    encoding: CHUNK_ENCODING,
  };
}

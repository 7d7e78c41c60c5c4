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

  /** Makes the result visible: meta last, one fixed expiry for both keys. */
  async publish(executionId: string, delivered: DeliveredResult, ttlSeconds: number): Promise<PublishedResult> {
    const { expiresAt } = await this.store.publishResult(executionId, metaOf(delivered), ttlSeconds);
    return { expiresAt: wireExpiry(expiresAt), ttlSeconds };
  }

  /** Reads meta and the number of chunks again; rejects when anything is missing. */
  async verify(executionId: string, { stored }: DeliveredResult): Promise<void> {
    const [meta, chunks] = await Promise.all([this.store.resultMeta(executionId), this.store.countChunks(executionId)]);
    if (meta?.totalRows === stored.rowCount && chunks === stored.chunkCount) return;
    throw new PenstockError('result.storage_unavailable', {
      message: 'A stored result is not complete.',
      details: { chunks, expected_chunks: stored.chunkCount },
    });
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

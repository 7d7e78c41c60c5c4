import { PenstockError } from '#libs/kernel';
import { TransientStore } from '#libs/transient';
import type { DeliveredResult } from '../run/node-work.js';
import { metaOf, publication, type PublishedResult } from './result-publication.js';
import { ResultWriter } from './result-writer.js';

export interface ResultSettings {
  maxBytes: number;
  /** While rows arrive their key must outlive the run: remaining execution budget and the longest lifetime. */
  drainTtlSeconds: number;
}

/** Stored results, from the side that writes them (contract 02 §6.4). */
export class ResultStore {
  constructor(
    private readonly store: TransientStore,
    private readonly settings: ResultSettings,
  ) {}

  /** `ttlSeconds`: of the result once it is published. */
  writer(executionId: string, ttlSeconds: number, signal: AbortSignal): ResultWriter {
    return new ResultWriter(executionId, this.store, { ...this.settings, ttlSeconds }, signal);
  }

  /**
   * Makes the result visible (meta last, one fixed expiry for both keys) unless its writer has done so already; rejects
   * when, read again behind the act, anything is missing.
   */
  async publish(executionId: string, delivered: DeliveredResult, ttlSeconds: number): Promise<PublishedResult> {
    const { columns, warnings, stored } = delivered;
    if (stored.published) return stored.published;
    const meta = metaOf({ ...stored, columns, warnings });
    const published = publication(stored, await this.store.publishResult(executionId, meta, ttlSeconds), ttlSeconds);
    if (published) return published;
    throw new PenstockError('result.storage_unavailable', {
      message: 'A stored result is not complete.',
      details: { expected_chunks: stored.chunkCount },
    });
  }

  discard(executionId: string): Promise<void> {
    return this.store.discardResult(executionId);
  }
}

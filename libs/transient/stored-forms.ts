import { writeJson } from '#libs/kernel';
import type { IdempotencyClaim, PublishedResult, ResultMeta } from './transient-store.js';

interface StoredClaim {
  execution_id: string;
  request_hash: string;
  state: IdempotencyClaim['state'];
  claimed_at: number;
}

/** The claim as Redis keeps it, with its age at `nowMs`. */
export function readStoredClaim(text: string, nowMs: number): IdempotencyClaim {
  const stored = JSON.parse(text) as StoredClaim;
  return {
    executionId: stored.execution_id,
    requestHash: stored.request_hash,
    state: stored.state,
    ageMs: Math.max(0, nowMs - stored.claimed_at),
  };
}

/** Schema and warnings are JSON text inside JSON text, as they came: their numbers are not read here. */
interface StoredMeta {
  schema: string;
  total_rows: number;
  bytes: number;
  chunk_starts: number[];
  warnings: string;
  encoding: string;
  expires_at: number;
}

export function writeStoredMeta(meta: ResultMeta): string {
  return writeJson({
    schema: meta.schemaJson,
    total_rows: meta.totalRows,
    bytes: meta.bytes,
    chunk_starts: meta.chunkStarts,
    warnings: meta.warningsJson,
    encoding: meta.encoding,
  });
}

export function readStoredMeta(text: string): PublishedResult {
  const stored = JSON.parse(text) as StoredMeta;
  return {
    schemaJson: stored.schema,
    totalRows: stored.total_rows,
    bytes: stored.bytes,
    chunkStarts: stored.chunk_starts,
    warningsJson: stored.warnings,
    encoding: stored.encoding,
    expiresAt: new Date(stored.expires_at).toISOString(),
  };
}

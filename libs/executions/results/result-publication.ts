import { writeJson } from '#libs/kernel';
import type { MappingWarning } from '#libs/datasources';
import type { Column } from '#libs/typesystem';
import type { ResultMeta, StoredAgain } from '#libs/transient';
import { wireColumn } from '../run/run-events.js';
import { CHUNK_ENCODING } from './result-chunk.js';
import { wireExpiry } from './result-reader.js';

/** A result that readers may see. */
export interface PublishedResult {
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  expiresAt: string;
  ttlSeconds: number;
}

/** What is told of a result beside its rows. */
export interface ResultDescription {
  columns: readonly Column[];
  warnings: readonly MappingWarning[];
  rowCount: number;
  /** UTF-8 bytes of the row arrays before compression. */
  bytes: number;
  /** First row of each chunk. */
  chunkStarts: readonly number[];
}

export function metaOf({ columns, warnings, rowCount, bytes, chunkStarts }: ResultDescription): ResultMeta {
  return {
    schemaJson: writeJson(columns.map(wireColumn)),
    totalRows: rowCount,
    bytes,
    chunkStarts,
    warningsJson: writeJson(warnings),
    encoding: CHUNK_ENCODING,
  };
}

/** Undefined when what was read again is not what was written (contract 02 §6.4). */
export function publication(
  { rowCount, chunkStarts }: Pick<ResultDescription, 'rowCount' | 'chunkStarts'>,
  { expiresAt, totalRows, chunks }: StoredAgain,
  ttlSeconds: number,
): PublishedResult | undefined {
  if (totalRows !== rowCount || chunks !== chunkStarts.length) return undefined;
  return { expiresAt: wireExpiry(expiresAt), ttlSeconds };
}

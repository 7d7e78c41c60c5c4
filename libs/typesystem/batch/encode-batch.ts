import type { Column } from '../canonical-type.js';
import type { WireIssues } from '../wire/wire-issues.js';
import type { ColumnBatch } from './column-batch.js';
import { encodeVector } from './encode-vector.js';

/**
 * Each row of a batch as one JSON array text, in column order (contract 02 §6.4). Values without a wire form are null
 * and counted by column in `issues`.
 */
export function encodeBatchRows(columns: readonly Column[], batch: ColumnBatch, issues?: WireIssues): string[] {
  const { rowCount, vectors } = batch;
  const rows = new Array<string>(rowCount);
  if (columns.length === 0) return rows.fill('[]');
  const tokens = new Array<string>(rowCount);
  const last = columns.length - 1;
  for (let ordinal = 0; ordinal <= last; ordinal++) {
    const lost = encodeVector(vectors[ordinal]!, rowCount, tokens);
    if (lost > 0) issues?.add(ordinal, lost);
    if (ordinal === 0) for (let row = 0; row < rowCount; row++) rows[row] = `[${tokens[row]}`;
    else for (let row = 0; row < rowCount; row++) rows[row] += `,${tokens[row]}`;
  }
  for (let row = 0; row < rowCount; row++) rows[row] += ']';
  return rows;
}

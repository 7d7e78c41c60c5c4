import duckdb from '@duckdb/node-bindings';
import { MAX_BATCH_ROWS } from '#libs/typesystem';

const ALL_VALID = 0xffff_ffff;

/** Used within one call: the engine copies it. Bits of 64 rows are read at a time. */
const bits = new Uint32Array(MAX_BATCH_ROWS / 32);

/** Marks the rows that are NULL. A vector that was just reset has none, so nothing is done where none is. */
export function writeNulls(target: duckdb.Vector, nulls: Uint8Array, rows: number): void {
  const first = nulls.indexOf(1);
  if (first < 0 || first >= rows) return;
  bits.fill(ALL_VALID);
  for (let row = first; row < rows; row++) if (nulls[row]) bits[row >> 5]! &= ~(1 << (row & 31));
  duckdb.vector_ensure_validity_writable(target);
  duckdb.copy_data_to_vector_validity(target, 0, bits.buffer, 0, Math.ceil(rows / 64) * 8);
}

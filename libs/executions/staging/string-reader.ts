import { DuckDBBlobVector, type DuckDBVarCharVector } from '@duckdb/node-api';
import type { Utf8Texts } from '#libs/typesystem';

/** A text of the engine: its length in 4 bytes, then up to 12 bytes inline, or 4 of a prefix and the address of all. */
const ENTRY_BYTES = 16;
const INLINE_BYTES = 12;
const INLINE_AT = 4;
const ADDRESS_AT = 8;
const TWO_TO_32 = 4_294_967_296;

/**
 * The texts of a vector. The engine lays the longer ones of a result side by side; one native call fetches a whole run
 * of neighbours, where the vector's own reader makes a call and two objects for every text. Neighbours are texts whose
 * addresses touch, so no byte is read that belongs to none of them.
 */
export function readStrings(source: DuckDBVarCharVector, nulls: Uint8Array, rows: number, into: Utf8Texts): void {
  const view = (source as unknown as { dataView: DataView }).dataView;
  const inline = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let row = 0; row < rows; row++) {
    if (nulls[row]) {
      into.skip(row);
      continue;
    }
    const bytes = lengthOf(view, row);
    if (bytes <= INLINE_BYTES) {
      into.put(row, inline, row * ENTRY_BYTES + INLINE_AT, bytes);
      continue;
    }
    const run = runFrom(view, row, rows, nulls);
    let end = into.append(bytesOf(source, view, row, run.bytes), 0, run.bytes);
    for (let member = row; member < run.end; member++) {
      if (!nulls[member]) end += lengthOf(view, member);
      into.ends[member] = end;
    }
    row = run.end - 1;
  }
}

function lengthOf(view: DataView, row: number): number {
  return view.getUint32(row * ENTRY_BYTES, true);
}

/** Below 2^48, exact as a double. */
function addressOf(view: DataView, row: number): number {
  const at = row * ENTRY_BYTES + ADDRESS_AT;
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * TWO_TO_32;
}

/** The rows from `start` whose texts follow each other in memory; rows that are null may lie between. */
function runFrom(view: DataView, start: number, rows: number, nulls: Uint8Array): { end: number; bytes: number } {
  const first = addressOf(view, start);
  let bytes = lengthOf(view, start);
  let end = start + 1;
  for (let row = end; row < rows; row++) {
    if (nulls[row]) continue;
    const length = lengthOf(view, row);
    if (length <= INLINE_BYTES || addressOf(view, row) !== first + bytes) break;
    bytes += length;
    end = row + 1;
  }
  return { end, bytes };
}

/** Copies `bytes` from the address of a row's text, through the reader of a vector with one such entry. */
function bytesOf(source: DuckDBVarCharVector, view: DataView, row: number, bytes: number): Uint8Array {
  const entry = new DataView(new ArrayBuffer(ENTRY_BYTES));
  entry.setUint32(0, bytes, true);
  entry.setBigUint64(ADDRESS_AT, BigInt(addressOf(view, row)), true);
  const { validity, vector } = source as unknown as Entries;
  return new DuckDBBlobVector(entry, validity.slice(row, 1), vector, 0, 1).getItemBytes(0)!;
}

type Parts = ConstructorParameters<typeof DuckDBBlobVector>;

interface Entries {
  validity: Parts[1];
  vector: Parts[2];
}

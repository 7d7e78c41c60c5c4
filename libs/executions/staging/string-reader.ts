import { DuckDBBlobVector, type DuckDBVarCharVector } from '@duckdb/node-api';
import { isAscii } from 'node:buffer';

/** A text of the engine: its length in 4 bytes, then up to 12 bytes inline, or 4 of a prefix and the address of all. */
const ENTRY_BYTES = 16;
const INLINE_BYTES = 12;
const INLINE_AT = 4;
const ADDRESS_AT = 8;

/**
 * The texts of a vector. The engine lays the longer ones of a result side by side; one native call fetches a whole run
 * of neighbours, where the vector's own reader makes a call and two objects for every text. Neighbours are texts whose
 * addresses touch, so no byte is read that belongs to none of them.
 */
export function readStrings(source: DuckDBVarCharVector, nulls: Uint8Array, rows: number, into: string[]): void {
  const view = (source as unknown as { dataView: DataView }).dataView;
  const inline = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  for (let row = 0; row < rows; row++) {
    if (nulls[row]) continue;
    const bytes = lengthOf(view, row);
    if (bytes <= INLINE_BYTES) {
      const start = row * ENTRY_BYTES + INLINE_AT;
      into[row] = inline.toString('utf8', start, start + bytes);
      continue;
    }
    const run = runFrom(view, row, rows, nulls);
    cut(bytesOf(source, view, row, run.bytes), view, row, run.end, nulls, into);
    row = run.end - 1;
  }
}

function lengthOf(view: DataView, row: number): number {
  return view.getUint32(row * ENTRY_BYTES, true);
}

function addressOf(view: DataView, row: number): bigint {
  return view.getBigUint64(row * ENTRY_BYTES + ADDRESS_AT, true);
}

/** The rows from `start` whose texts follow each other in memory; rows that are null may lie between. */
function runFrom(view: DataView, start: number, rows: number, nulls: Uint8Array): { end: number; bytes: number } {
  const first = addressOf(view, start);
  let bytes = lengthOf(view, start);
  let end = start + 1;
  for (let row = end; row < rows; row++) {
    if (nulls[row]) continue;
    const length = lengthOf(view, row);
    if (length <= INLINE_BYTES || addressOf(view, row) !== first + BigInt(bytes)) break;
    bytes += length;
    end = row + 1;
  }
  return { end, bytes };
}

/** Copies `bytes` from the address of a row's text, through the reader of a vector with one such entry. */
function bytesOf(source: DuckDBVarCharVector, view: DataView, row: number, bytes: number): Buffer {
  const entry = new DataView(new ArrayBuffer(ENTRY_BYTES));
  entry.setUint32(0, bytes, true);
  entry.setBigUint64(ADDRESS_AT, addressOf(view, row), true);
  const { validity, vector } = source as unknown as Entries;
  const data = new DuckDBBlobVector(entry, validity.slice(row, 1), vector, 0, 1).getItemBytes(0)!;
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

type Parts = ConstructorParameters<typeof DuckDBBlobVector>;

interface Entries {
  validity: Parts[1];
  vector: Parts[2];
}

function cut(data: Buffer, view: DataView, from: number, to: number, nulls: Uint8Array, into: string[]): void {
  // Of ASCII alone a byte is a character: one text is made and cut, which costs less than making many.
  const text = isAscii(data) ? data.toString('latin1') : undefined;
  let at = 0;
  for (let row = from; row < to; row++) {
    if (nulls[row]) continue;
    const end = at + lengthOf(view, row);
    into[row] = text === undefined ? data.toString('utf8', at, end) : text.slice(at, end);
    at = end;
  }
}

import {
  DuckDBDecimalType,
  DuckDBVarCharVector,
  type DuckDBBlobVector,
  type DuckDBDataChunk,
  type DuckDBVector,
} from '@duckdb/node-api';
import { readStrings } from './string-reader.js';
import {
  createVector,
  formatUnscaled,
  Utf8Texts,
  type Column,
  type ColumnBatch,
  type ColumnVector,
} from '#libs/typesystem';

/**
 * Reads chunks as batches. The columns are those `readableColumns` describes, so every vector here is of one of the few
 * types its projection leaves. The vectors are filled again by each chunk: making them anew costs more than filling them.
 */
export class ChunkReader {
  readonly #columns: readonly Column[];
  #vectors: ColumnVector[] = [];
  #room = 0;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  /** The chunk's rows, until the next call. */
  batchOf(chunk: DuckDBDataChunk): ColumnBatch {
    const { rowCount } = chunk;
    const sources = this.#columns.map((_, ordinal) => chunk.getColumnVector(ordinal));
    if (rowCount > this.#room) {
      this.#vectors = this.#columns.map((column, ordinal) => emptyVector(column, sources[ordinal]!, rowCount));
      this.#room = rowCount;
    }
    this.#vectors.forEach((vector, ordinal) => read(vector, sources[ordinal]!, rowCount));
    return { rowCount, vectors: this.#vectors };
  }
}

function read(vector: ColumnVector, source: DuckDBVector, rows: number): void {
  const { nulls } = vector;
  if (vector.layout !== 'null') readNulls(source, nulls, rows);
  switch (vector.layout) {
    case 'null':
      break;
    case 'boolean':
      for (let row = 0; row < rows; row++) if (!nulls[row]) vector.data[row] = source.getItem(row) === true ? 1 : 0;
      break;
    case 'int32':
    case 'date':
      vector.data.set(itemsOf<Int32Array>(source));
      break;
    case 'int64':
    case 'time':
    case 'timestamp':
      vector.data.set(itemsOf<BigInt64Array>(source));
      break;
    case 'float32':
      vector.data.set(itemsOf<Float32Array>(source));
      break;
    case 'float64':
      vector.data.set(itemsOf<Float64Array>(source));
      break;
    case 'decimal64':
      readUnscaled(source, nulls, rows, (row, unscaled) => (vector.data[row] = unscaled));
      break;
    case 'decimal_text': {
      if (source instanceof DuckDBVarCharVector) {
        for (let row = 0; row < rows; row++) if (!nulls[row]) vector.data[row] = source.getItem(row)!;
        break;
      }
      const scale = source.type instanceof DuckDBDecimalType ? source.type.scale : 0;
      readUnscaled(source, nulls, rows, (row, unscaled) => (vector.data[row] = formatUnscaled(unscaled, scale)));
      break;
    }
    case 'utf8':
      vector.data.rewind(0);
      readStrings(source as DuckDBVarCharVector, nulls, rows, vector.data);
      break;
    case 'string':
      for (let row = 0; row < rows; row++) if (!nulls[row]) vector.data[row] = source.getItem(row) as string;
      break;
    case 'binary': {
      const blobs = source as DuckDBBlobVector;
      for (let row = 0; row < rows; row++)
        if (!nulls[row]) vector.data[row] = Uint8Array.from(blobs.getItemBytes(row)!);
      break;
    }
  }
}

function emptyVector(column: Column, source: DuckDBVector, rows: number): ColumnVector {
  if (column.type !== 'STRING' || !(source instanceof DuckDBVarCharVector)) return createVector(column, rows);
  return { layout: 'utf8', type: column, data: new Utf8Texts(rows, rows * 16), nulls: new Uint8Array(rows) };
}

interface Validity {
  data: BigUint64Array | null;
  offset: number;
}

/** The engine's validity bits, 64 rows a word; no words at all when nothing is null. */
function readNulls(source: DuckDBVector, nulls: Uint8Array, rows: number): void {
  const { data, offset } = (source as unknown as { validity: Validity }).validity;
  nulls.fill(0, 0, rows);
  if (!data) return;
  for (let row = 0; row < rows; row++) {
    const bit = offset + row;
    if ((data[bit >> 6]! >> BigInt(bit & 63)) & 1n) continue;
    nulls[row] = 1;
  }
}

function itemsOf<A>(vector: DuckDBVector): A {
  return (vector as unknown as { items: A }).items;
}

const HUGEINT_DIGITS = 39;

function readUnscaled(
  source: DuckDBVector,
  nulls: Uint8Array,
  rows: number,
  take: (row: number, value: bigint) => void,
) {
  const view = (source as unknown as { dataView: DataView }).dataView;
  const width = source.type instanceof DuckDBDecimalType ? source.type.width : HUGEINT_DIGITS;
  for (let row = 0; row < rows; row++) {
    if (nulls[row]) continue;
    if (width <= 4) take(row, BigInt(view.getInt16(row * 2, true)));
    else if (width <= 9) take(row, BigInt(view.getInt32(row * 4, true)));
    else if (width <= 18) take(row, view.getBigInt64(row * 8, true));
    else take(row, (view.getBigInt64(row * 16 + 8, true) << 64n) | view.getBigUint64(row * 16, true));
  }
}

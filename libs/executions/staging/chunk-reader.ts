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
  type Utf8Vector,
} from '#libs/typesystem';

/**
 * One chunk as a batch. The columns are those `readableColumns` describes, so every vector here is of one of the few
 * types its projection leaves.
 */
export function batchOf(columns: readonly Column[], chunk: DuckDBDataChunk): ColumnBatch {
  const { rowCount } = chunk;
  const vectors = columns.map((column, ordinal) => read(column, chunk.getColumnVector(ordinal), rowCount));
  return { rowCount, vectors };
}

function read(column: Column, source: DuckDBVector, rows: number): ColumnVector {
  const vector =
    column.type === 'STRING' && source instanceof DuckDBVarCharVector
      ? utf8Vector(column, rows)
      : createVector(column, rows);
  const { nulls } = vector;
  readNulls(source, nulls, rows);
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
  return vector;
}

function utf8Vector(type: Column, rows: number): Utf8Vector {
  return { layout: 'utf8', type, data: new Utf8Texts(rows, rows * 16), nulls: new Uint8Array(rows) };
}

interface Validity {
  data: BigUint64Array | null;
  offset: number;
}

/** The engine's validity bits, 64 rows a word; no words at all when nothing is null. */
function readNulls(source: DuckDBVector, nulls: Uint8Array, rows: number): void {
  const { data, offset } = (source as unknown as { validity: Validity }).validity;
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

import {
  DuckDBDecimalType,
  DuckDBTypeId,
  DuckDBVarCharVector,
  type DuckDBBlobVector,
  type DuckDBDataChunk,
  type DuckDBVector,
} from '@duckdb/node-api';

import { createVector, formatUnscaled, type Column, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

type Items = ArrayLike<number> & ArrayLike<bigint>;
interface VectorMemory {
  readonly items: Items;
  readonly dataView: DataView;
  readonly validity: { readonly data: BigUint64Array | null; readonly offset: number };
}

/** The vector's typed memory, which its classes keep to themselves. */
function memoryOf(vector: DuckDBVector): VectorMemory {
  return vector as unknown as VectorMemory;
}

/** One chunk as a batch, copied column by column from the engine's memory, which the next fetch reuses. */
export function batchOfChunk(columns: readonly Column[], chunk: DuckDBDataChunk): ColumnBatch {
  const { rowCount } = chunk;
  const vectors = columns.map((column, index) => read(column, chunk.getColumnVector(index), rowCount));
  return { rowCount, vectors };
}

function read(column: Column, source: DuckDBVector, rows: number): ColumnVector {
  const vector = createVector(column, rows);
  if (vector.layout === 'null') return vector;
  markNulls(source, vector.nulls, rows);
  const { nulls } = vector;
  switch (vector.layout) {
    case 'boolean':
      for (let row = 0; row < rows; row += 1) if (!nulls[row]) vector.data[row] = source.getItem(row) === true ? 1 : 0;
      break;
    case 'int32':
    case 'date':
      vector.data.set(memoryOf(source).items);
      break;
    case 'int64':
      if (source.type.typeId === DuckDBTypeId.UINTEGER) copyUnsigned(source, vector.data, rows);
      else vector.data.set(memoryOf(source).items);
      break;
    case 'time':
      vector.data.set(memoryOf(source).items);
      break;
    case 'timestamp':
      copyTimestamps(source, vector.data, rows);
      break;
    case 'float32':
    case 'float64':
      vector.data.set(memoryOf(source).items);
      break;
    case 'decimal64':
      eachUnscaled(source, nulls, rows, (row, unscaled) => (vector.data[row] = unscaled));
      break;
    case 'decimal_text':
      copyDecimalTexts(source, vector.data, nulls, rows);
      break;
    case 'string':
      for (let row = 0; row < rows; row += 1) if (!nulls[row]) vector.data[row] = String(source.getItem(row));
      break;
    case 'binary':
      for (let row = 0; row < rows; row += 1) {
        if (!nulls[row]) vector.data[row] = Uint8Array.from((source as DuckDBBlobVector).getItemBytes(row) ?? []);
      }
  }
  return vector;
}

/** Validity bits, 64 rows a word; no words at all when nothing is null. */
function markNulls(source: DuckDBVector, nulls: Uint8Array, rows: number): void {
  const { data, offset } = memoryOf(source).validity;
  if (!data) return;
  for (let row = 0; row < rows; row += 1) {
    const bit = offset + row;
    if (((data[bit >> 6]! >> BigInt(bit & 63)) & 1n) === 0n) nulls[row] = 1;
  }
}

function copyUnsigned(source: DuckDBVector, data: BigInt64Array, rows: number): void {
  const { items } = memoryOf(source);
  for (let row = 0; row < rows; row += 1) data[row] = BigInt(items[row]!);
}

const INFINITE_MICROS = 2n ** 63n - 1n;

/** Microseconds per unit; nanoseconds are floored, so that a stamp never lies after its instant. */
const UNITS: ReadonlyMap<DuckDBTypeId, (value: bigint) => bigint> = new Map([
  [DuckDBTypeId.TIMESTAMP_S, (value) => value * 1_000_000n],
  [DuckDBTypeId.TIMESTAMP_MS, (value) => value * 1_000n],
  [DuckDBTypeId.TIMESTAMP_NS, (value) => (value - (((value % 1_000n) + 1_000n) % 1_000n)) / 1_000n],
]);

function copyTimestamps(source: DuckDBVector, data: BigInt64Array, rows: number): void {
  const { items } = memoryOf(source);
  const toMicros = UNITS.get(source.type.typeId);
  if (!toMicros) {
    data.set(items);
    return;
  }
  for (let row = 0; row < rows; row += 1) {
    const value: bigint = items[row]!;
    const infinite = value === INFINITE_MICROS || value === -INFINITE_MICROS;
    data[row] = infinite ? value : BigInt.asIntN(64, toMicros(value));
  }
}

function copyDecimalTexts(source: DuckDBVector, data: string[], nulls: Uint8Array, rows: number): void {
  if (source instanceof DuckDBVarCharVector) {
    for (let row = 0; row < rows; row += 1) if (!nulls[row]) data[row] = source.getItem(row) ?? '';
    return;
  }
  const scale = source.type instanceof DuckDBDecimalType ? source.type.scale : 0;
  eachUnscaled(source, nulls, rows, (row, unscaled) => (data[row] = formatUnscaled(unscaled, scale)));
}

const HUGEINT_DIGITS = 39;

/** Decimals lie in 2, 4, 8 or 16 bytes by their width. */
function eachUnscaled(
  source: DuckDBVector,
  nulls: Uint8Array,
  rows: number,
  take: (row: number, unscaled: bigint) => void,
): void {
  const view = memoryOf(source).dataView;
  const width = source.type instanceof DuckDBDecimalType ? source.type.width : HUGEINT_DIGITS;
  for (let row = 0; row < rows; row += 1) {
    if (nulls[row]) continue;
    if (width <= 4) take(row, BigInt(view.getInt16(row * 2, true)));
    else if (width <= 9) take(row, BigInt(view.getInt32(row * 4, true)));
    else if (width <= 18) take(row, view.getBigInt64(row * 8, true));
    else take(row, (view.getBigInt64(row * 16 + 8, true) << 64n) | view.getBigUint64(row * 16, true));
  }
}

import {
  DuckDBBlobValue,
  DuckDBDataChunk,
  DuckDBDecimalType,
  type DuckDBType,
  type DuckDBVarCharVector,
  type DuckDBVector,
} from '@duckdb/node-api';
import {
  MAX_BATCH_ROWS,
  NOT_A_DECIMAL,
  parseDecimal,
  rescaleDecimal,
  type ColumnBatch,
  type ColumnVector,
} from '#libs/typesystem';
import { PenstockError } from '#libs/kernel';
import type { StagedColumn } from './staged-column.js';
import { writeTexts } from './text-writer.js';

/**
 * Builds the engine's chunk of a batch, column by column. The only place that makes chunks: one of more than 2,048 rows
 * crashes the process (contract 00 §9).
 */
export function chunkOf(columns: readonly StagedColumn[], batch: ColumnBatch): DuckDBDataChunk {
  if (batch.rowCount > MAX_BATCH_ROWS) throw new RangeError(`a batch holds at most ${MAX_BATCH_ROWS} rows`);
  const types = columns.map((column): DuckDBType => column.type);
  const chunk = DuckDBDataChunk.create(types, batch.rowCount);
  columns.forEach((column, ordinal) => {
    const source = batch.vectors[ordinal];
    if (!source) throw new RangeError('a batch has fewer columns than its cursor promised');
    fill(chunk.getColumnVector(ordinal), source, batch.rowCount, column);
  });
  return chunk;
}

function fill(target: DuckDBVector, source: ColumnVector, rows: number, column: StagedColumn): void {
  const { nulls } = source;
  for (let row = 0; row < rows; row++) if (nulls[row]) target.setItem(row, null);
  switch (source.layout) {
    case 'null':
      break;
    case 'boolean':
      for (let row = 0; row < rows; row++) if (!nulls[row]) target.setItem(row, source.data[row] === 1);
      break;
    case 'int32':
    case 'date':
      itemsOf<Int32Array>(target).set(source.data.subarray(0, rows));
      break;
    case 'int64':
    case 'time':
    case 'timestamp':
      itemsOf<BigInt64Array>(target).set(source.data.subarray(0, rows));
      break;
    case 'float32':
      itemsOf<Float32Array>(target).set(source.data.subarray(0, rows));
      break;
    case 'float64':
      itemsOf<Float64Array>(target).set(source.data.subarray(0, rows));
      break;
    case 'decimal64':
      fillDecimals(target, source.data, nulls, rows);
      break;
    case 'decimal_text':
      fillDecimalTexts(target, source.data, nulls, rows, column);
      break;
    case 'string':
    case 'utf8':
      writeTexts(target as DuckDBVarCharVector, source, rows);
      break;
    case 'binary':
      for (let row = 0; row < rows; row++) {
        if (!nulls[row]) target.setItem(row, new DuckDBBlobValue(source.data[row]!));
      }
      break;
  }
  target.flush();
}

/** The vector's own memory, which its class declares as private; the engine reads it at `flush`. */
function itemsOf<A>(vector: DuckDBVector): A {
  return (vector as unknown as { items: A }).items;
}

function dataViewOf(vector: DuckDBVector): DataView {
  return (vector as unknown as { dataView: DataView }).dataView;
}

/** Unscaled values in the width the engine chose for the precision: 2, 4, 8 or 16 bytes. */
function fillDecimals(target: DuckDBVector, data: BigInt64Array, nulls: Uint8Array, rows: number): void {
  const view = dataViewOf(target);
  const put = unscaledWriter(view, (target.type as DuckDBDecimalType).width);
  for (let row = 0; row < rows; row++) {
    if (nulls[row]) continue;
    const unscaled = data[row]!;
    if (unscaled === NOT_A_DECIMAL) target.setItem(row, null);
    else put(row, unscaled);
  }
}

/** Text to the column's own scale, exactly: a value that needs more digits than it has is an error, never rounded. */
function fillDecimalTexts(
  target: DuckDBVector,
  data: string[],
  nulls: Uint8Array,
  rows: number,
  column: StagedColumn,
): void {
  if (column.sizedAtEnd) {
    for (let row = 0; row < rows; row++) {
      if (nulls[row]) continue;
      target.setItem(row, parseDecimal(data[row]!) ? data[row]! : null);
    }
    return;
  }
  const { type } = target;
  const decimal = type instanceof DuckDBDecimalType;
  const scale = decimal ? type.scale : 0;
  const put = unscaledWriter(dataViewOf(target), decimal ? type.width : HUGEINT_DIGITS);
  for (let row = 0; row < rows; row++) {
    if (nulls[row]) continue;
    const value = parseDecimal(data[row]!);
    if (!value) {
      target.setItem(row, null);
      continue;
    }
    const scaled = rescaleDecimal(value, scale);
    if (!scaled || BigInt.asIntN(128, scaled.unscaled) !== scaled.unscaled) throw overflow(column.name, row);
    put(row, scaled.unscaled);
  }
}

const HUGEINT_DIGITS = 39;

function unscaledWriter(view: DataView, width: number): (row: number, unscaled: bigint) => void {
  if (width <= 4) return (row, unscaled) => view.setInt16(row * 2, Number(unscaled), true);
  if (width <= 9) return (row, unscaled) => view.setInt32(row * 4, Number(unscaled), true);
  if (width <= 18) return (row, unscaled) => view.setBigInt64(row * 8, unscaled, true);
  return (row, unscaled) => {
    view.setBigUint64(row * 16, BigInt.asUintN(64, unscaled), true);
    view.setBigInt64(row * 16 + 8, unscaled >> 64n, true);
  };
}

function overflow(column: string, row: number): PenstockError {
  return new PenstockError('pipeline.staging.precision_overflow', {
    message: `A value of column "${column}" has more digits than the column declares. CAST it in the query.`,
    details: { column, batch_row: row },
  });
}

import duckdb from '@duckdb/node-bindings';
import { DuckDBDataChunk } from '@duckdb/node-api';
import { MAX_BATCH_ROWS, type ColumnBatch, type ColumnVector } from '#libs/typesystem';
import { copyItems } from './copy-items.js';
import { writeDecimals, writeDecimalTexts } from './decimal-writer.js';
import type { StagedColumn } from './staged-column.js';
import { writeBytes, writeNothing, writeTexts } from './text-writer.js';
import { writeNulls } from './validity-writer.js';

/**
 * The engine's chunk of one table, filled anew with each batch: its memory and the handles of its vectors are made
 * once, since making them costs more than the values. The only place that makes chunks: one of more than 2,048 rows
 * crashes the process (contract 00 §9).
 */
export class TableChunk {
  readonly #columns: readonly StagedColumn[];
  readonly #chunk: DuckDBDataChunk;
  readonly #vectors: readonly duckdb.Vector[];

  constructor(columns: readonly StagedColumn[]) {
    this.#columns = columns;
    this.#chunk = DuckDBDataChunk.create(columns.map(({ type }) => type));
    this.#vectors = columns.map((_, ordinal) => duckdb.data_chunk_get_vector(this.#chunk.chunk, ordinal));
  }

  /** The chunk with a batch's rows; until the next call. */
  of({ rowCount, vectors }: ColumnBatch): DuckDBDataChunk {
    if (rowCount > MAX_BATCH_ROWS) throw new RangeError(`a batch holds at most ${MAX_BATCH_ROWS} rows`);
    this.#chunk.reset();
    this.#columns.forEach((column, ordinal) => {
      const source = vectors[ordinal];
      if (!source) throw new RangeError('a batch has fewer columns than its cursor promised');
      const target = this.#vectors[ordinal]!;
      writeNulls(target, fill(target, source, rowCount, column), rowCount);
    });
    this.#chunk.rowCount = rowCount;
    return this.#chunk;
  }
}

/** Writes a column's values, every row's entry among them, NULL or not; 1 in the answer where a row is to be NULL. */
function fill(target: duckdb.Vector, source: ColumnVector, rows: number, column: StagedColumn): Uint8Array {
  switch (source.layout) {
    case 'null':
      writeNothing(target, rows);
      return source.nulls;
    case 'decimal64':
      return writeDecimals(target, source, rows, column);
    case 'decimal_text':
      return writeDecimalTexts(target, source, rows, column);
    case 'string':
    case 'utf8':
      writeTexts(target, source, rows);
      return source.nulls;
    case 'binary':
      writeBytes(target, source, rows);
      return source.nulls;
    default:
      copyItems(target, source.data, rows);
      return source.nulls;
  }
}

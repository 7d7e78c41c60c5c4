import { createVector, Utf8Texts, type Column, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { readText, type ColumnReader, type RowRun } from './binary-values.js';

/** Rows of a network chunk whose values are known by place before they are copied. */
const INDEXED_ROWS = 512;
/** Texts that grew beyond this are let go with their batch: one wide batch does not hold its memory for a whole read. */
const KEPT_TEXT_BYTES = 8 * 1024 * 1024;

/**
 * Collects DataRow messages into the vectors of one batch. Rows are first only indexed (where each value lies in the
 * network chunk); at the end of the chunk each column is copied in one tight loop of its own type. The vectors are
 * filled again and again: making new ones for each batch costs more than what is copied into them.
 */
export class RowBatch {
  readonly #columns: readonly Column[];
  readonly #readers: readonly ColumnReader[];
  readonly #run: RowRun;
  #vectors: ColumnVector[] = [];
  /** Rows the vectors have room for, and rows wanted of them. */
  #room = 0;
  #capacity = 0;
  #rows = 0;
  #bytes = 0;

  constructor(columns: readonly Column[], readers: readonly ColumnReader[]) {
    this.#columns = columns;
    this.#readers = readers;
    const width = columns.length;
    const values = INDEXED_ROWS * width;
    this.#run = {
      buffer: EMPTY,
      starts: new Int32Array(values),
      lengths: new Int32Array(values),
      width,
      from: 0,
      to: 0,
    };
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Begins anew for at most `capacity` rows; what was collected before is overwritten. */
  begin(capacity: number): this {
    if (capacity > this.#room) {
      this.#vectors = this.#columns.map((column, ordinal) => this.#vector(column, ordinal, capacity));
      this.#room = capacity;
    } else this.#vectors = this.#vectors.map((vector) => cleared(vector, this.#rows, this.#room));
    this.#capacity = capacity;
    this.#rows = 0;
    this.#bytes = 0;
    Object.assign(this.#run, { buffer: EMPTY, from: 0, to: 0 });
    return this;
  }

  /** Indexes one DataRow whose body is `buffer[start, end)`. */
  add(buffer: Buffer, start: number, end: number): void {
    const run = this.#run;
    if (run.buffer !== buffer || run.to - run.from === INDEXED_ROWS) {
      this.flush();
      run.buffer = buffer;
    }
    const width = run.width;
    if (this.#rows === this.#capacity)
      throw new DriverFailure('other', 'The server sent more rows than were asked for.');
    if (((buffer[start]! << 8) | buffer[start + 1]!) !== width) {
      throw new DriverFailure('other', 'The server sent a row with another number of columns than it described.');
    }
    let at = start + 2;
    let slot = (run.to - run.from) * width;
    for (let column = 0; column < width; column += 1, slot += 1) {
      const length = (buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!;
      at += 4;
      run.starts[slot] = at;
      run.lengths[slot] = length;
      if (length > 0) at += length;
    }
    if (at !== end) throw new DriverFailure('other', 'The server sent a row whose values overrun its length.');
    this.#rows += 1;
    this.#bytes += end - start;
    run.to = this.#rows;
  }

  /** Copies what is indexed and lets the network chunk go. */
  flush(): void {
    const run = this.#run;
    if (run.from !== run.to) {
      for (let column = 0; column < run.width; column += 1) {
        this.#readers[column]!(run, column, this.#vectors[column]!);
      }
      run.from = run.to;
    }
    run.buffer = EMPTY;
  }

  /** The rows so far, until the next `begin`. */
  finish(): ColumnBatch {
    this.flush();
    return { rowCount: this.#rows, vectors: this.#vectors };
  }

  #vector(column: Column, ordinal: number, capacity: number): ColumnVector {
    if (column.type !== 'STRING' || this.#readers[ordinal] !== readText) return createVector(column, capacity);
    return { layout: 'utf8', type: column, data: new Utf8Texts(capacity), nulls: new Uint8Array(capacity) };
  }
}

/** The vector without its values; those that stay behind a NULL mean nothing. */
function cleared(vector: ColumnVector, rows: number, room: number): ColumnVector {
  if (vector.layout === 'null') return vector;
  if (vector.layout === 'binary') return createVector(vector.type, room);
  vector.nulls.fill(0, 0, rows);
  if (vector.layout !== 'utf8') return vector;
  if (vector.data.bytes.length > KEPT_TEXT_BYTES) return { ...vector, data: new Utf8Texts(room) };
  vector.data.rewind(0);
  return vector;
}

const EMPTY = Buffer.alloc(0);

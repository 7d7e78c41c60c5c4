import { createVector, Utf8Texts, type Column, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { readText, type ColumnReader, type RowRun } from './binary-values.js';

/** Where values lie in the network chunk; one per cursor, used again by each batch. */
export type RowIndex = Pick<RowRun, 'starts' | 'lengths'>;

export function rowIndex(width: number, capacity: number): RowIndex {
  return { starts: new Int32Array(capacity * width), lengths: new Int32Array(capacity * width) };
}

/**
 * Collects DataRow messages into the vectors of one batch. Rows are first only indexed (where each value lies in the
 * network chunk); at the end of the chunk each column is copied in one tight loop of its own type.
 */
export class RowBatch {
  readonly #readers: readonly ColumnReader[];
  readonly #vectors: ColumnVector[];
  readonly #run: RowRun;
  readonly #capacity: number;
  #rows = 0;
  #bytes = 0;

  /** `previous` tells how much room the texts of a batch take. */
  constructor(
    columns: readonly Column[],
    readers: readonly ColumnReader[],
    capacity: number,
    index: RowIndex,
    previous?: RowBatch,
  ) {
    this.#readers = readers;
    this.#capacity = capacity;
    this.#vectors = columns.map((column, ordinal) =>
      column.type === 'STRING' && readers[ordinal] === readText
        ? utf8Vector(column, capacity, previous && previous.#vectors[ordinal])
        : createVector(column, capacity),
    );
    this.#run = { buffer: EMPTY, ...index, width: columns.length, from: 0, to: 0 };
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Indexes one DataRow whose body is `buffer[start, end)`. */
  add(buffer: Buffer, start: number, end: number): void {
    const run = this.#run;
    if (run.buffer !== buffer) {
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
    let slot = this.#rows * width;
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
    if (run.from === run.to) return;
    for (let column = 0; column < run.width; column += 1) {
      this.#readers[column]!(run, column, this.#vectors[column]!);
    }
    run.from = run.to;
    run.buffer = EMPTY;
  }

  finish(): ColumnBatch {
    this.flush();
    return { rowCount: this.#rows, vectors: this.#vectors };
  }
}

function utf8Vector(type: Column, capacity: number, previous: ColumnVector | undefined): ColumnVector {
  const bytes = previous?.layout === 'utf8' ? Math.ceil(previous.data.size * 1.1) : undefined;
  return { layout: 'utf8', type, data: new Utf8Texts(capacity, bytes), nulls: new Uint8Array(capacity) };
}

const EMPTY = Buffer.alloc(0);

import { createVector, type Column, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { deferred } from './deferred.js';

/** A result column of a driver that pushes rows: how one value is put into a row of its vector, and about its bytes. */
export interface PushedColumn {
  readonly column: Column;
  put(value: unknown, vector: ColumnVector, row: number): number;
}

/** What holds the sender back and lets it go on. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** A batch aims at this many bytes: wide rows make smaller ones, so that memory is bounded by bytes too. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Gathers rows that a driver pushes into batches; the sender is held back while a finished batch waits. */
export class PushedRows {
  readonly #capacity: number;
  readonly #flow: Flow;
  readonly #description = deferred<void>();
  #columns: readonly PushedColumn[] = [];
  #vectors: ColumnVector[] = [];
  #rows = 0;
  #bytes = 0;
  #ready: ColumnBatch | null = null;
  #turn = deferred<void>();
  #discarding = false;
  #isOver = false;

  constructor(capacity: number, flow: Flow) {
    this.#capacity = capacity;
    this.#flow = flow;
  }

  /** Settles once the columns are known; rejects when the statement failed before. */
  get described(): Promise<void> {
    return this.#description.promise;
  }

  /** Settles when the next batch is there or the rows are over; rejects when the statement failed. */
  get turn(): Promise<void> {
    return this.#turn.promise;
  }

  get columns(): readonly PushedColumn[] {
    return this.#columns;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  describe(columns: readonly PushedColumn[]): void {
    this.#columns = columns;
    this.#begin();
    this.#description.resolve();
  }

  /** @throws what a column's `put` throws: the caller must end the statement */
  push(values: readonly unknown[]): void {
    if (this.#discarding || this.#isOver) return;
    for (const [index, column] of this.#columns.entries()) {
      const value = values[index];
      const vector = this.#vectors[index]!;
      if (value === null || value === undefined) vector.nulls[this.#rows] = 1;
      else this.#bytes += column.put(value, vector, this.#rows);
    }
    this.#rows += 1;
    if (this.#rows < this.#capacity && this.#bytes < BATCH_BYTES) return;
    this.#finish();
    this.#flow.pause();
    this.#turn.resolve();
  }

  /** The finished batch, if there is one; the next is gathered while the taker works on it. */
  take(): ColumnBatch | null {
    const batch = this.#ready;
    this.#ready = null;
    if (batch && !this.#isOver) {
      this.#begin();
      this.#turn = deferred<void>();
      this.#flow.resume();
    }
    return batch;
  }

  end(): void {
    this.#isOver = true;
    if (this.#rows > 0 && this.#ready === null) this.#finish();
    this.#turn.resolve();
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#ready = null;
    this.#description.reject(error);
    this.#turn.reject(error);
  }

  /** Lets the rest of the rows through unread, so that the server's last word is heard. */
  discard(): void {
    this.#discarding = true;
    this.#ready = null;
    this.#flow.resume();
  }

  #begin(): void {
    this.#vectors = this.#columns.map(({ column }) => createVector(column, this.#capacity));
    this.#rows = 0;
    this.#bytes = 0;
  }

  #finish(): void {
    this.#ready = { rowCount: this.#rows, vectors: this.#vectors };
    this.#rows = 0;
  }
}

import { quoteIdentifier, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import type { DriverFailure } from '../driver-failure.js';
import type { WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { WriteSteps } from '../transaction-writer.js';
import type { SqliteConnection } from './connection.js';
import type { SqliteValue } from './protocol.js';

/** A write-back's steps: BEGIN IMMEDIATE takes the write lock before the source is drained. */
export class SqliteWriteSteps implements WriteSteps {
  readonly #connection: SqliteConnection;
  readonly #target: WriteTarget;
  readonly #table: string;
  readonly #insert: string;

  constructor(connection: SqliteConnection, target: WriteTarget) {
    this.#connection = connection;
    this.#target = target;
    this.#table = quoteTable('SQLITE', target.table);
    const columns = target.columns.map(({ name }) => quoteIdentifier('SQLITE', name)).join(', ');
    this.#insert = `INSERT INTO ${this.#table} (${columns}) VALUES (${target.columns.map(() => '?').join(', ')})`;
  }

  async begin(): Promise<void> {
    await this.#connection.run('BEGIN IMMEDIATE');
    if (this.#target.mode === 'replace') await this.#connection.run(`DELETE FROM ${this.#table}`);
    // No rows yet: a missing table or column is told before the source is drained.
    await this.#connection.insert(this.#insert, []);
  }

  async insert(batch: ColumnBatch): Promise<void> {
    const { batchRows } = this.#target;
    const cells = batch.vectors.map(cellValue);
    for (let from = 0; from < batch.rowCount; from += batchRows) {
      const to = Math.min(from + batchRows, batch.rowCount);
      const rows: SqliteValue[][] = [];
      for (let row = from; row < to; row += 1) rows.push(cells.map((cell) => cell(row)));
      await this.#connection.insert(this.#insert, rows);
    }
  }

  async commit(): Promise<void> {
    await this.#connection.run('COMMIT');
  }

  async rollback(): Promise<void> {
    await this.#connection.run('ROLLBACK');
  }

  /** What the engine itself says, such as "busy", is an answer; a process that ended gave none. */
  mayHaveCommitted({ kind, driverCode }: DriverFailure): boolean {
    return kind === 'connection' && driverCode === undefined;
  }
}

/** Numbers as numbers, exact decimals and dates as text, which the column's affinity then judges (01 §4.4). */
function cellValue(vector: ColumnVector): (row: number) => SqliteValue {
  const unlessNull =
    (value: (row: number) => SqliteValue) =>
    (row: number): SqliteValue =>
      vector.nulls[row] === 1 ? null : value(row);
  switch (vector.layout) {
    case 'boolean':
    case 'int32':
      return unlessNull((row) => BigInt(vector.data[row] ?? 0));
    case 'int64':
      return unlessNull((row) => vector.data[row] ?? 0n);
    case 'float32':
    case 'float64':
      return unlessNull((row) => vector.data[row] ?? 0);
    case 'binary':
      return unlessNull((row) => vector.data[row] ?? new Uint8Array());
    case 'timestamp': {
      const text = cellText(vector);
      return unlessNull((row) => text(row).replace(' ', 'T').replace('+00', 'Z'));
    }
    default:
      return unlessNull(cellText(vector));
  }
}

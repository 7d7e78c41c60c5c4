import { quoteIdentifier, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import type { TableWriter, WriteTarget } from '../driver.js';
import type { SqliteConnection } from './connection.js';
import type { SqliteValue } from './protocol.js';

const NEVER = new AbortController().signal;

/** A write-back as one transaction: BEGIN IMMEDIATE takes the write lock before the source is drained. */
export class SqliteTableWriter implements TableWriter {
  readonly #connection: SqliteConnection;
  readonly #insert: string;
  readonly #batchRows: number;
  readonly #signal: AbortSignal;

  private constructor(connection: SqliteConnection, insert: string, batchRows: number, signal: AbortSignal) {
    this.#connection = connection;
    this.#insert = insert;
    this.#batchRows = batchRows;
    this.#signal = signal;
  }

  static async begin(
    connection: SqliteConnection,
    target: WriteTarget,
    signal: AbortSignal,
  ): Promise<SqliteTableWriter> {
    const quote = (name: string): string => quoteIdentifier('SQLITE', name);
    const table = target.table.split('.').map(quote).join('.');
    const columns = target.columns.map(({ name }) => quote(name)).join(', ');
    const insert = `INSERT INTO ${table} (${columns}) VALUES (${target.columns.map(() => '?').join(', ')})`;
    await connection.own('BEGIN IMMEDIATE', signal);
    if (target.mode === 'replace') await connection.own(`DELETE FROM ${table}`, signal);
    const writer = new SqliteTableWriter(connection, insert, target.batchRows, signal);
    // No rows yet: a missing table or column is told before the source is drained.
    await connection.ask({ op: 'insert', sql: insert, rows: [] }, signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    const cells = batch.vectors.map(cellValue);
    for (let from = 0; from < batch.rowCount; from += this.#batchRows) {
      const to = Math.min(from + this.#batchRows, batch.rowCount);
      const rows: SqliteValue[][] = [];
      for (let row = from; row < to; row += 1) rows.push(cells.map((cell) => cell(row)));
      await this.#connection.ask({ op: 'insert', sql: this.#insert, rows }, this.#signal);
    }
  }

  async commit(): Promise<void> {
    await this.#connection.own('COMMIT', this.#signal);
  }

  async rollback(): Promise<void> {
    if (this.#connection.usable) await this.#connection.own('ROLLBACK', NEVER);
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

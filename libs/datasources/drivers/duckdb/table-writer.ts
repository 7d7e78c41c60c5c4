import { BLOB, LIST, listValue, VARCHAR, DuckDBBlobValue, type DuckDBPreparedStatement } from '@duckdb/node-api';

import { quoteIdentifier, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { DriverFailure } from '../driver-failure.js';
import type { TableWriter, WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { DuckdbConnection } from './connection.js';

/**
 * A write-back as one transaction. Each column travels as one list of texts (bytes as BLOB) and the engine casts it to
 * the target's own type, as an INSERT does.
 */
export class DuckdbTableWriter implements TableWriter {
  readonly #connection: DuckdbConnection;
  readonly #target: WriteTarget;
  readonly #signal: AbortSignal;
  #insert: DuckDBPreparedStatement | null = null;

  private constructor(connection: DuckdbConnection, target: WriteTarget, signal: AbortSignal) {
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
  }

  static async begin(
    connection: DuckdbConnection,
    target: WriteTarget,
    signal: AbortSignal,
  ): Promise<DuckdbTableWriter> {
    const writer = new DuckdbTableWriter(connection, target, signal);
    const table = quoteTable('DUCKDB', target.table);
    const columns = target.columns.map(({ name }) => quoteIdentifier('DUCKDB', name)).join(', ');
    const lists = target.columns.map((_, index) => `unnest($${index + 1})`).join(', ');
    await connection.call(async (native) => {
      await native.run('BEGIN TRANSACTION');
      if (target.mode === 'replace') await native.run(`DELETE FROM ${table}`);
      writer.#insert = await native.prepare(`INSERT INTO ${table} (${columns}) SELECT ${lists}`);
    }, signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    const insert = this.#insert;
    if (!insert) throw new DriverFailure('other', 'The write-back is over.');
    for (let from = 0; from < batch.rowCount; from += this.#target.batchRows) {
      const to = Math.min(from + this.#target.batchRows, batch.rowCount);
      await this.#connection.call(async () => {
        batch.vectors.forEach((vector, index) => bindColumn(insert, index + 1, vector, from, to));
        await insert.run();
      }, this.#signal);
    }
  }

  async commit(): Promise<void> {
    this.#close();
    await this.#connection.commit(this.#signal);
  }

  async rollback(): Promise<void> {
    this.#close();
    await this.#connection.rollback();
  }

  #close(): void {
    this.#insert?.destroySync();
    this.#insert = null;
  }
}

function bindColumn(
  insert: DuckDBPreparedStatement,
  position: number,
  vector: ColumnVector,
  from: number,
  to: number,
): void {
  const values = [];
  if (vector.layout === 'binary') {
    for (let row = from; row < to; row += 1) {
      values.push(vector.nulls[row] === 1 ? null : new DuckDBBlobValue(vector.data[row] ?? new Uint8Array()));
    }
    insert.bindList(position, listValue(values), LIST(BLOB));
    return;
  }
  const text = cellText(vector);
  for (let row = from; row < to; row += 1) values.push(vector.nulls[row] === 1 ? null : text(row));
  insert.bindList(position, listValue(values), LIST(VARCHAR));
}

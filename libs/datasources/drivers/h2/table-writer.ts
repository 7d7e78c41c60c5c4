import { quoteIdentifier, type ColumnBatch } from '#libs/typesystem';

import { cellValue } from '../cell-value.js';
import type { WriteTarget } from '../driver.js';
import { execute, SYNC } from '../postgres/messages.js';
import { exchange } from '../postgres/exchange.js';
import { quoteTable } from '../quote-table.js';
import type { WriteSteps } from '../transaction-writer.js';
import type { H2Connection } from './connection.js';

/** Placeholders one statement may hold: the protocol counts them in 16 bits (01 §4.4). */
const MOST_BINDS = 65_535;

/**
 * A write-back as one transaction of multi-row INSERTs, emptied first by DELETE when the mode is `replace`: H2 commits
 * at a TRUNCATE (02 §5.4). Values travel as text that the column's own type reads, bytes as bytes.
 */
export class H2WriteSteps implements WriteSteps {
  readonly #connection: H2Connection;
  readonly #target: WriteTarget;
  readonly #into: string;
  readonly #mostRows: number;
  /** What is parsed at the moment; full statements follow one another. */
  #prepared = '';

  constructor(connection: H2Connection, target: WriteTarget) {
    this.#connection = connection;
    this.#target = target;
    const columns = target.columns.map(({ name }) => quoteIdentifier('H2', name)).join(', ');
    this.#into = `INSERT INTO ${quoteTable('H2', target.table)} (${columns}) VALUES `;
    const fitting = Math.floor(MOST_BINDS / Math.max(target.columns.length, 1));
    this.#mostRows = Math.max(1, Math.min(target.batchRows, fitting));
  }

  async begin(): Promise<void> {
    await this.#connection.control('BEGIN');
    await this.#parse(1);
    if (this.#target.mode === 'replace') {
      await this.#connection.control(`DELETE FROM ${quoteTable('H2', this.#target.table)}`);
    }
  }

  async insert(batch: ColumnBatch): Promise<void> {
    const cells = batch.vectors.map((vector, index) =>
      cellValue(vector, this.#target.columns[index]?.name ?? '', 'H2'),
    );
    for (let from = 0; from < batch.rowCount; from += this.#mostRows) {
      const rows = Math.min(this.#mostRows, batch.rowCount - from);
      const values: unknown[] = [];
      for (let row = from; row < from + rows; row += 1) for (const cell of cells) values.push(cell(row));
      await this.#parse(rows);
      await this.#connection.bindTo(values);
      await exchange(this.#connection.wire, [execute(0), SYNC]);
    }
  }

  async #parse(rows: number): Promise<void> {
    let n = 0;
    const row = (): string => `(${this.#target.columns.map(() => `$${(n += 1)}`).join(',')})`;
    const sql = this.#into + Array.from({ length: rows }, row).join(',');
    if (this.#prepared === sql) return;
    await this.#connection.prepare({ sql, values: [] });
    this.#prepared = sql;
  }

  async commit(): Promise<void> {
    await this.#connection.control('COMMIT');
  }

  async rollback(): Promise<void> {
    await this.#connection.control('ROLLBACK');
  }
}

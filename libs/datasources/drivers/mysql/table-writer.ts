import { quoteIdentifier, type ColumnBatch } from '#libs/typesystem';

import type { WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { WriteSteps } from '../transaction-writer.js';
import { cellParameter, type CellParameter } from './cell-parameter.js';
import type { Statement } from './client.js';
import type { MysqlConnection } from './connection.js';

/** Placeholders one statement may hold (01 §4.4). */
const MOST_BINDS = 65_535;
/** Part of the server's packet that one INSERT may take; the rest is for its text and its types. */
const PACKET_SHARE = 0.5;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * A write-back as one transaction of multi-row INSERTs, emptied first by DELETE when the mode is `replace`: MySQL
 * commits at a TRUNCATE (02 §5.4).
 */
export class MysqlWriteSteps implements WriteSteps {
  readonly #connection: MysqlConnection;
  readonly #target: WriteTarget;
  readonly #into: string;
  readonly #mostRows: number;
  readonly #mostBytes: number;
  #prepared: { sql: string; statement: Statement } | null = null;

  constructor(connection: MysqlConnection, target: WriteTarget) {
    this.#connection = connection;
    this.#target = target;
    const columns = target.columns.map(({ name }) => quoteIdentifier('MYSQL', name)).join(', ');
    this.#into = `INSERT INTO ${quoteTable('MYSQL', target.table)} (${columns}) VALUES `;
    const fitting = Math.floor(MOST_BINDS / Math.max(target.columns.length, 1));
    this.#mostRows = Math.max(1, Math.min(target.batchRows, fitting));
    this.#mostBytes = Math.min(connection.settings.maxPacketBytes * PACKET_SHARE, MOST_BYTES);
  }

  async begin(): Promise<void> {
    const { session } = this.#connection;
    await session.query('START TRANSACTION');
    await this.#statementOf(1);
    if (this.#target.mode === 'replace') await session.query(`DELETE FROM ${quoteTable('MYSQL', this.#target.table)}`);
  }

  async insert(batch: ColumnBatch): Promise<void> {
    const types = this.#connection.session.library.TypedParameter;
    const cells = batch.vectors.map((vector, index) =>
      cellParameter(vector, this.#target.columns[index]?.name ?? '', types),
    );
    let values: unknown[] = [];
    let rows = 0;
    let bytes = 0;
    for (let row = 0; row < batch.rowCount; row += 1) {
      const size = sizeOf(cells, row);
      if (rows > 0 && (rows === this.#mostRows || bytes + size > this.#mostBytes)) {
        await this.#send(rows, values);
        [values, rows, bytes] = [[], 0, 0];
      }
      for (const cell of cells) values.push(cell.parameter(row));
      rows += 1;
      bytes += size;
    }
    if (rows > 0) await this.#send(rows, values);
  }

  async #send(rows: number, values: readonly unknown[]): Promise<void> {
    const statement = await this.#statementOf(rows);
    await this.#connection.session.execute(statement, values);
  }

  /** Full statements follow one another, so one is kept. */
  async #statementOf(rows: number): Promise<Statement> {
    const { session } = this.#connection;
    const row = `(${this.#target.columns.map(() => '?').join(',')})`;
    const sql = this.#into + new Array<string>(rows).fill(row).join(',');
    if (this.#prepared?.sql === sql) return this.#prepared.statement;
    this.#forget();
    const statement = await session.prepare(sql);
    this.#prepared = { sql, statement };
    return statement;
  }

  #forget(): void {
    if (this.#prepared) this.#connection.session.unprepare(this.#prepared.sql);
    this.#prepared = null;
  }

  async commit(): Promise<void> {
    this.#forget();
    await this.#connection.session.query('COMMIT');
  }

  async rollback(): Promise<void> {
    this.#forget();
    await this.#connection.session.query('ROLLBACK');
  }
}

function sizeOf(cells: readonly CellParameter[], row: number): number {
  let size = 0;
  for (const cell of cells) size += cell.bytes(row);
  return size;
}

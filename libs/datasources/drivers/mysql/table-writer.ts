import { quoteIdentifier, type ColumnBatch } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import type { TableWriter, WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
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
export class MysqlTableWriter implements TableWriter {
  readonly #connection: MysqlConnection;
  readonly #signal: AbortSignal;
  readonly #target: WriteTarget;
  readonly #into: string;
  readonly #mostRows: number;
  readonly #mostBytes: number;
  #prepared: { sql: string; statement: Statement } | null = null;

  private constructor(connection: MysqlConnection, target: WriteTarget, signal: AbortSignal) {
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    const columns = target.columns.map(({ name }) => quoteIdentifier('MYSQL', name)).join(', ');
    this.#into = `INSERT INTO ${quoteTable('MYSQL', target.table)} (${columns}) VALUES `;
    const fitting = Math.floor(MOST_BINDS / Math.max(target.columns.length, 1));
    this.#mostRows = Math.max(1, Math.min(target.batchRows, fitting));
    this.#mostBytes = Math.min(connection.settings.maxPacketBytes * PACKET_SHARE, MOST_BYTES);
  }

  static async begin(connection: MysqlConnection, target: WriteTarget, signal: AbortSignal): Promise<MysqlTableWriter> {
    const writer = new MysqlTableWriter(connection, target, signal);
    await connection.stoppable(writer.#begin(), signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    await this.#connection.stoppable(this.#insertAll(batch), this.#signal);
  }

  async commit(): Promise<void> {
    this.#forget();
    await this.#connection.completion(this.#sendCommit(), this.#signal);
  }

  async rollback(): Promise<void> {
    this.#forget();
    if (this.#connection.usable) await this.#connection.session.query('ROLLBACK');
  }

  /** A missing table or column is told before the source is drained. */
  async #begin(): Promise<void> {
    const { session } = this.#connection;
    await session.query('START TRANSACTION');
    await this.#statementOf(1);
    if (this.#target.mode === 'replace') await session.query(`DELETE FROM ${quoteTable('MYSQL', this.#target.table)}`);
  }

  async #insertAll(batch: ColumnBatch): Promise<void> {
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
        await this.#insert(rows, values);
        [values, rows, bytes] = [[], 0, 0];
      }
      for (const cell of cells) values.push(cell.parameter(row));
      rows += 1;
      bytes += size;
    }
    if (rows > 0) await this.#insert(rows, values);
  }

  async #insert(rows: number, values: readonly unknown[]): Promise<void> {
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

  /** A connection that goes while COMMIT is under way leaves the outcome unknown. */
  async #sendCommit(): Promise<void> {
    try {
      await this.#connection.session.query('COMMIT');
    } catch (error) {
      if (!(error instanceof DriverFailure) || error.kind !== 'connection') throw error;
      const { driverCode } = error;
      throw new DriverFailure('connection', error.message, { driverCode, commitUnknown: true, cause: error });
    }
  }
}

function sizeOf(cells: readonly CellParameter[], row: number): number {
  let size = 0;
  for (const cell of cells) size += cell.bytes(row);
  return size;
}

import {
  float32Text,
  isShowableDay,
  isShowableTimestamp,
  quoteIdentifier,
  type ColumnBatch,
  type ColumnVector,
} from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { DriverFailure } from '../driver-failure.js';
import type { TableWriter, WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { OracleConnection } from './connection.js';

/** Longest text and longest bytes that travel in the row itself; more go as large objects. */
const MOST_INLINE = 32_767;

/** One column's cells as binds of an array insert. */
interface CellForm {
  type: string;
  around(placeholder: string): string;
  value(row: number): unknown;
}

/**
 * A write-back as one transaction of array inserts, emptied first by DELETE when the mode is `replace`: Oracle commits at a
 * TRUNCATE (02 §5.4). An empty text is NULL to Oracle.
 */
export class OracleTableWriter implements TableWriter {
  readonly #connection: OracleConnection;
  readonly #signal: AbortSignal;
  readonly #target: WriteTarget;
  readonly #table: string;
  readonly #columns: string;

  private constructor(connection: OracleConnection, target: WriteTarget, signal: AbortSignal) {
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    this.#table = quoteTable('ORACLE', target.table);
    this.#columns = target.columns.map(({ name }) => quoteIdentifier('ORACLE', name)).join(', ');
  }

  static async begin(
    connection: OracleConnection,
    target: WriteTarget,
    signal: AbortSignal,
  ): Promise<OracleTableWriter> {
    const writer = new OracleTableWriter(connection, target, signal);
    await connection.stoppable(writer.#begin(), signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    await this.#connection.stoppable(this.#insertAll(batch), this.#signal);
  }

  async commit(): Promise<void> {
    await this.#connection.stoppable(this.#sendCommit(), this.#signal);
  }

  async rollback(): Promise<void> {
    if (this.#connection.usable) await this.#connection.session.call((raw) => raw.rollback());
  }

  /** A missing table or column is told before the source is drained. */
  async #begin(): Promise<void> {
    const { session } = this.#connection;
    await session.call((raw) => raw.getStatementInfo(`SELECT ${this.#columns} FROM ${this.#table} WHERE 1 = 0`));
    if (this.#target.mode === 'replace') {
      await session.call((raw) => raw.execute(`DELETE FROM ${this.#table}`, {}, { autoCommit: false }));
    }
  }

  async #insertAll(batch: ColumnBatch): Promise<void> {
    const { session } = this.#connection;
    const most = Math.max(1, this.#target.batchRows);
    for (let from = 0; from < batch.rowCount; from += most) {
      const to = Math.min(from + most, batch.rowCount);
      const forms = batch.vectors.map((vector, index) =>
        formOf(vector, this.#target.columns[index]?.name ?? '', from, to),
      );
      const rows = Array.from({ length: to - from }, (_, at) =>
        forms.map(({ value }, index) => (batch.vectors[index]!.nulls[from + at] === 1 ? null : value(from + at))),
      );
      const places = forms.map(({ around }, index) => around(`:${index + 1}`));
      const bindDefs = forms.map(({ type }, index) => this.#definition(type, rows, index));
      const sql = `INSERT INTO ${this.#table} (${this.#columns}) VALUES (${places.join(', ')})`;
      await session.call((raw) => raw.executeMany(sql, rows, { bindDefs, autoCommit: false }));
    }
  }

  /** The library wants to know the longest value of a text or of bytes. */
  #definition(type: string, rows: readonly (readonly unknown[])[], index: number): Record<string, unknown> {
    const { types } = this.#connection.session.library;
    if (type !== 'DB_TYPE_VARCHAR' && type !== 'DB_TYPE_RAW') return { type: types[type] };
    return { type: types[type], maxSize: rows.reduce((most, row) => Math.max(most, sizeOf(row[index])), 1) };
  }

  /** A connection that goes, or a break that is answered, while COMMIT is under way leaves the outcome unknown. */
  async #sendCommit(): Promise<void> {
    try {
      await this.#connection.session.call((raw) => raw.commit());
    } catch (error) {
      if (!(error instanceof DriverFailure) || !['connection', 'cancelled'].includes(error.kind)) throw error;
      const { kind, driverCode } = error;
      throw new DriverFailure(kind, error.message, { driverCode, commitUnknown: true, cause: error });
    }
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return Buffer.isBuffer(value) ? value.length : 0;
}

const PLAIN = (placeholder: string): string => placeholder;

/** Exact numbers, dates and moments travel as text that the statement itself reads. */
function formOf(vector: ColumnVector, column: string, from: number, to: number): CellForm {
  const refuse = (shown: string): never => {
    throw new DriverFailure('other', `Column "${column}" holds ${shown}, which Oracle cannot store.`, {
      reason: 'value_unrepresentable',
    });
  };
  const large = (value: (row: number) => unknown): boolean => {
    for (let row = from; row < to; row += 1)
      if (vector.nulls[row] !== 1 && sizeOf(value(row)) > MOST_INLINE) return true;
    return false;
  };
  switch (vector.layout) {
    case 'null':
      return { type: 'DB_TYPE_VARCHAR', around: PLAIN, value: () => null };
    case 'boolean':
      return { type: 'DB_TYPE_NUMBER', around: PLAIN, value: (row) => vector.data[row] };
    case 'int32':
      return { type: 'DB_TYPE_NUMBER', around: PLAIN, value: (row) => vector.data[row] };
    case 'float32':
    case 'float64': {
      const shortest = vector.layout === 'float32' ? (value: number) => Number(float32Text(value)) : Number;
      return { type: 'DB_TYPE_BINARY_DOUBLE', around: PLAIN, value: (row) => shortest(vector.data[row] ?? 0) };
    }
    case 'int64':
    case 'decimal64':
    case 'decimal_text': {
      const text = cellText(vector);
      return {
        type: 'DB_TYPE_VARCHAR',
        // The session's number format has a point (01 §6.6), whatever the territory.
        around: (placeholder) => `TO_NUMBER(${placeholder})`,
        value: (row) => (/^-?[0-9]/.test(text(row)) ? text(row) : refuse(text(row))),
      };
    }
    case 'date': {
      const text = cellText(vector);
      const value = (row: number): string => (isShowableDay(vector.data[row] ?? 0) ? text(row) : refuse(text(row)));
      return { type: 'DB_TYPE_VARCHAR', around: (placeholder) => `TO_DATE(${placeholder}, 'YYYY-MM-DD')`, value };
    }
    case 'timestamp': {
      const text = cellText(vector);
      const value = (row: number): string =>
        isShowableTimestamp(vector.data[row] ?? 0n) ? text(row).replace('+00', '') : refuse(text(row));
      return {
        type: 'DB_TYPE_VARCHAR',
        around: (placeholder) => `TO_TIMESTAMP(${placeholder}, 'YYYY-MM-DD HH24:MI:SS.FF6')`,
        value,
      };
    }
    case 'time':
      return { type: 'DB_TYPE_VARCHAR', around: PLAIN, value: cellText(vector) };
    case 'string':
    case 'utf8': {
      const value = cellText(vector);
      return { type: large(value) ? 'DB_TYPE_CLOB' : 'DB_TYPE_VARCHAR', around: PLAIN, value };
    }
    case 'binary': {
      const value = (row: number): Buffer => Buffer.from(vector.data[row] ?? []);
      return { type: large(value) ? 'DB_TYPE_BLOB' : 'DB_TYPE_RAW', around: PLAIN, value };
    }
  }
}

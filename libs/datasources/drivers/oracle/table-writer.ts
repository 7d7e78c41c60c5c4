import { quoteIdentifier, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { bytesOf, floatOf, storableMoment, storableText } from '../cell-value.js';
import type { DriverFailure } from '../driver-failure.js';
import type { WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { WriteSteps } from '../transaction-writer.js';
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
export class OracleWriteSteps implements WriteSteps {
  readonly #connection: OracleConnection;
  readonly #target: WriteTarget;
  readonly #table: string;
  readonly #columns: string;

  constructor(connection: OracleConnection, target: WriteTarget) {
    this.#connection = connection;
    this.#target = target;
    this.#table = quoteTable('ORACLE', target.table);
    this.#columns = target.columns.map(({ name }) => quoteIdentifier('ORACLE', name)).join(', ');
  }

  async begin(): Promise<void> {
    const { session } = this.#connection;
    await session.call((raw) => raw.getStatementInfo(`SELECT ${this.#columns} FROM ${this.#table} WHERE 1 = 0`));
    if (this.#target.mode === 'replace') {
      await session.call((raw) => raw.execute(`DELETE FROM ${this.#table}`, {}, { autoCommit: false }));
    }
  }

  async insert(batch: ColumnBatch): Promise<void> {
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

  async commit(): Promise<void> {
    await this.#connection.session.call((raw) => raw.commit());
  }

  async rollback(): Promise<void> {
    await this.#connection.session.call((raw) => raw.rollback());
  }

  /** Also a break that is answered while COMMIT is under way tells nothing. */
  mayHaveCommitted({ kind }: DriverFailure): boolean {
    return kind === 'connection' || kind === 'cancelled';
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return Buffer.isBuffer(value) ? value.length : 0;
}

const ENGINE = 'Oracle';
const PLAIN = (placeholder: string): string => placeholder;

/** Exact numbers, dates and moments travel as text that the statement itself reads. */
function formOf(vector: ColumnVector, column: string, from: number, to: number): CellForm {
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
    case 'float64':
      return { type: 'DB_TYPE_BINARY_DOUBLE', around: PLAIN, value: floatOf(vector) };
    case 'int64':
    case 'decimal64':
    case 'decimal_text':
      return {
        type: 'DB_TYPE_VARCHAR',
        // The session's number format has a point (01 §6.6), whatever the territory.
        around: (placeholder) => `TO_NUMBER(${placeholder})`,
        value: storableText(vector, column, ENGINE),
      };
    case 'date':
      return {
        type: 'DB_TYPE_VARCHAR',
        around: (placeholder) => `TO_DATE(${placeholder}, 'YYYY-MM-DD')`,
        value: storableText(vector, column, ENGINE),
      };
    case 'timestamp':
      return {
        type: 'DB_TYPE_VARCHAR',
        around: (placeholder) => `TO_TIMESTAMP(${placeholder}, 'YYYY-MM-DD HH24:MI:SS.FF6')`,
        value: storableMoment(vector, column, ENGINE),
      };
    case 'time':
      return { type: 'DB_TYPE_VARCHAR', around: PLAIN, value: cellText(vector) };
    case 'string':
    case 'utf8': {
      const value = cellText(vector);
      return { type: large(value) ? 'DB_TYPE_CLOB' : 'DB_TYPE_VARCHAR', around: PLAIN, value };
    }
    case 'binary': {
      const value = bytesOf(vector);
      return { type: large(value) ? 'DB_TYPE_BLOB' : 'DB_TYPE_RAW', around: PLAIN, value };
    }
  }
}

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
import type { MssqlConnection } from './connection.js';
import { ROLLBACK } from './cursor.js';

/** Parameters one request may hold; the statement itself takes two of 2,100. */
const MOST_BINDS = 2_098;
/** Rows one VALUES list may hold. */
const MOST_ROWS = 1_000;

/** One column's cells as typed parameters: the parameter's type, the SQL around it, and each row's value. */
interface CellForm {
  type: string;
  around(placeholder: string): string;
  value(row: number): unknown;
}

/**
 * A write-back as one transaction of multi-row INSERTs. `replace` empties the table by TRUNCATE, or by DELETE where the
 * table or the login does not allow one (02 §5.4).
 */
export class MssqlTableWriter implements TableWriter {
  readonly #connection: MssqlConnection;
  readonly #signal: AbortSignal;
  readonly #target: WriteTarget;
  readonly #table: string;
  readonly #columns: string;
  readonly #mostRows: number;

  private constructor(connection: MssqlConnection, target: WriteTarget, signal: AbortSignal) {
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    this.#table = quoteTable('MSSQL', target.table);
    this.#columns = target.columns.map(({ name }) => quoteIdentifier('MSSQL', name)).join(', ');
    const fitting = Math.floor(MOST_BINDS / Math.max(target.columns.length, 1));
    this.#mostRows = Math.max(1, Math.min(target.batchRows, fitting, MOST_ROWS));
  }

  static async begin(connection: MssqlConnection, target: WriteTarget, signal: AbortSignal): Promise<MssqlTableWriter> {
    const writer = new MssqlTableWriter(connection, target, signal);
    await connection.stoppable(writer.#begin(), signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    await this.#connection.stoppable(this.#insertAll(batch), this.#signal);
  }

  async commit(): Promise<void> {
    await this.#connection.completion(this.#sendCommit(), this.#signal);
  }

  async rollback(): Promise<void> {
    if (this.#connection.usable) await this.#connection.session.batch(ROLLBACK);
  }

  /** A missing table or column is told before the source is drained. An error ends the transaction only while emptying. */
  async #begin(): Promise<void> {
    const { session } = this.#connection;
    await session.batch('SET XACT_ABORT OFF; BEGIN TRANSACTION');
    await session.batch(`SELECT ${this.#columns} FROM ${this.#table} WHERE 1 = 0`);
    if (this.#target.mode === 'replace') await this.#empty();
    await session.batch('SET XACT_ABORT ON');
  }

  async #empty(): Promise<void> {
    const { session } = this.#connection;
    await session.batch('SAVE TRANSACTION dp_empty');
    try {
      await session.batch(`TRUNCATE TABLE ${this.#table}`);
    } catch (error) {
      if (!(error instanceof DriverFailure) || error.kind === 'missing_table' || session.isLost) throw error;
      await session.batch(`ROLLBACK TRANSACTION dp_empty; DELETE FROM ${this.#table}`);
    }
  }

  async #insertAll(batch: ColumnBatch): Promise<void> {
    const forms = batch.vectors.map((vector, index) => formOf(vector, this.#target.columns[index]?.name ?? ''));
    for (let from = 0; from < batch.rowCount; from += this.#mostRows) {
      await this.#insert(batch, forms, from, Math.min(from + this.#mostRows, batch.rowCount));
    }
  }

  async #insert(batch: ColumnBatch, forms: readonly CellForm[], from: number, to: number): Promise<void> {
    const values: unknown[] = [];
    const driverTypes: string[] = [];
    const tuples: string[] = [];
    for (let row = from; row < to; row += 1) {
      const cells = forms.map(({ type, around, value }, index) => {
        values.push(batch.vectors[index]!.nulls[row] === 1 ? null : value(row));
        driverTypes.push(type);
        return around(`@dp_${values.length}`);
      });
      tuples.push(`(${cells.join(',')})`);
    }
    const sql = `INSERT INTO ${this.#table} (${this.#columns}) VALUES ${tuples.join(',')}`;
    await this.#connection.session.run({ sql, values, driverTypes }).done;
  }

  /** A connection that goes, or a cancel that is answered, while COMMIT is under way leaves the outcome unknown. */
  async #sendCommit(): Promise<void> {
    try {
      await this.#connection.session.batch('COMMIT TRANSACTION');
    } catch (error) {
      if (!(error instanceof DriverFailure) || !['connection', 'cancelled'].includes(error.kind)) throw error;
      const { kind, driverCode } = error;
      throw new DriverFailure(kind, error.message, { driverCode, commitUnknown: true, cause: error });
    }
  }
}

const PLAIN = (placeholder: string): string => placeholder;
const as = (type: string) => (placeholder: string) => `CAST(${placeholder} AS ${type})`;

/** Exact numbers, dates and moments travel as text that a CAST or the column itself reads; NaN and infinities have none. */
function formOf(vector: ColumnVector, column: string): CellForm {
  const refuse = (shown: string): never => {
    throw new DriverFailure('other', `Column "${column}" holds ${shown}, which SQL Server cannot store.`, {
      reason: 'value_unrepresentable',
    });
  };
  switch (vector.layout) {
    case 'null':
      return { type: 'NVarChar', around: PLAIN, value: () => null };
    case 'boolean':
      return { type: 'Bit', around: PLAIN, value: (row) => vector.data[row] === 1 };
    case 'int32':
      return { type: 'Int', around: PLAIN, value: (row) => vector.data[row] };
    case 'int64':
      return { type: 'BigInt', around: PLAIN, value: (row) => vector.data[row] };
    case 'float32':
    case 'float64': {
      const shortest = vector.layout === 'float32' ? (value: number) => Number(float32Text(value)) : Number;
      const value = (row: number): number => {
        const float = vector.data[row] ?? 0;
        return Number.isFinite(float) ? shortest(float) : refuse(String(float));
      };
      return { type: 'Float', around: PLAIN, value };
    }
    case 'decimal64':
    case 'decimal_text': {
      const text = cellText(vector);
      return {
        type: 'NVarChar',
        around: PLAIN,
        value: (row) => (/^-?[0-9]/.test(text(row)) ? text(row) : refuse(text(row))),
      };
    }
    case 'date': {
      const text = cellText(vector);
      const value = (row: number): string => (isShowableDay(vector.data[row] ?? 0) ? text(row) : refuse(text(row)));
      return { type: 'NVarChar', around: as('date'), value };
    }
    case 'time':
      return { type: 'NVarChar', around: as('time(6)'), value: cellText(vector) };
    case 'timestamp': {
      const text = cellText(vector);
      const value = (row: number): string =>
        isShowableTimestamp(vector.data[row] ?? 0n) ? text(row).replace('+00', '') : refuse(text(row));
      return { type: 'NVarChar', around: as('datetime2(6)'), value };
    }
    case 'string':
    case 'utf8':
      return { type: 'NVarChar', around: PLAIN, value: cellText(vector) };
    case 'binary':
      return { type: 'VarBinary', around: PLAIN, value: (row) => Buffer.from(vector.data[row] ?? []) };
  }
}

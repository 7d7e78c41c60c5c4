import { quoteIdentifier, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { bytesOf, floatOf, storableMoment, storableText } from '../cell-value.js';
import { DriverFailure } from '../driver-failure.js';
import type { WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import type { WriteSteps } from '../transaction-writer.js';
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
export class MssqlWriteSteps implements WriteSteps {
  readonly #connection: MssqlConnection;
  readonly #target: WriteTarget;
  readonly #table: string;
  readonly #columns: string;
  readonly #mostRows: number;

  constructor(connection: MssqlConnection, target: WriteTarget) {
    this.#connection = connection;
    this.#target = target;
    this.#table = quoteTable('MSSQL', target.table);
    this.#columns = target.columns.map(({ name }) => quoteIdentifier('MSSQL', name)).join(', ');
    const fitting = Math.floor(MOST_BINDS / Math.max(target.columns.length, 1));
    this.#mostRows = Math.max(1, Math.min(target.batchRows, fitting, MOST_ROWS));
  }

  /** An error ends the transaction, except while the table is being emptied. */
  async begin(): Promise<void> {
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

  async insert(batch: ColumnBatch): Promise<void> {
    const forms = batch.vectors.map((vector, index) => formOf(vector, this.#target.columns[index]?.name ?? ''));
    for (let from = 0; from < batch.rowCount; from += this.#mostRows) {
      await this.#send(batch, forms, from, Math.min(from + this.#mostRows, batch.rowCount));
    }
  }

  async #send(batch: ColumnBatch, forms: readonly CellForm[], from: number, to: number): Promise<void> {
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

  async commit(): Promise<void> {
    await this.#connection.session.batch('COMMIT TRANSACTION');
  }

  async rollback(): Promise<void> {
    await this.#connection.session.batch(ROLLBACK);
  }

  /** Also a cancel that is answered while COMMIT is under way tells nothing. */
  mayHaveCommitted({ kind }: DriverFailure): boolean {
    return kind === 'connection' || kind === 'cancelled';
  }
}

const ENGINE = 'SQL Server';
const PLAIN = (placeholder: string): string => placeholder;
const as = (type: string) => (placeholder: string) => `CAST(${placeholder} AS ${type})`;

/** Exact numbers, dates and moments travel as text that a CAST or the column itself reads; NaN and infinities have none. */
function formOf(vector: ColumnVector, column: string): CellForm {
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
    case 'float64':
      return { type: 'Float', around: PLAIN, value: floatOf(vector, { column, engine: ENGINE }) };
    case 'decimal64':
    case 'decimal_text':
      return { type: 'NVarChar', around: PLAIN, value: storableText(vector, column, ENGINE) };
    case 'date':
      return { type: 'NVarChar', around: as('date'), value: storableText(vector, column, ENGINE) };
    case 'time':
      return { type: 'NVarChar', around: as('time(6)'), value: cellText(vector) };
    case 'timestamp':
      return { type: 'NVarChar', around: as('datetime2(6)'), value: storableMoment(vector, column, ENGINE) };
    case 'string':
    case 'utf8':
      return { type: 'NVarChar', around: PLAIN, value: cellText(vector) };
    case 'binary':
      return { type: 'VarBinary', around: PLAIN, value: bytesOf(vector) };
  }
}

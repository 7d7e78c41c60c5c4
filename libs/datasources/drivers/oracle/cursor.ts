import { createVector, MAX_BATCH_ROWS, type Column, type ColumnBatch } from '#libs/typesystem';

import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning } from '../driver.js';
import type { ColumnMetadata, ResultSet } from './client.js';
import { ResultColumn } from './columns.js';
import type { OracleConnection } from './connection.js';
import { projected, withoutEnd } from './projection.js';

export const READ_ONLY = 'SET TRANSACTION READ ONLY';

/**
 * Opens a read inside a READ ONLY transaction: the statement is described first, so that columns whose values the library
 * would cut are selected as text. Rows are asked for as they are taken.
 */
export async function openOracleCursor(
  connection: OracleConnection,
  statement: BoundStatement,
  { fetchSize, signal }: { fetchSize: number; signal: AbortSignal },
): Promise<Cursor> {
  const opened = open(connection, statement, Math.min(fetchSize, MAX_BATCH_ROWS));
  const { columns, rows, capacity } = await connection.stoppable(opened, signal);
  return new OracleCursor(connection, columns, rows, capacity);
}

async function open(
  connection: OracleConnection,
  statement: BoundStatement,
  capacity: number,
): Promise<{ columns: ResultColumn[]; rows: ResultSet; capacity: number }> {
  const { session } = connection;
  await session.call((raw) => raw.execute(READ_ONLY, {}, {}));
  const { metaData = [] } = await session.call((raw) => raw.getStatementInfo(withoutEnd(statement.sql)));
  if (metaData.length === 0) {
    throw new DriverFailure('other', 'The statement gives no rows.', { reason: 'statement_refused' });
  }
  const { resultSet } = await session.call((raw) =>
    raw.execute(projected(statement.sql, metaData), session.bindsOf(statement), {
      resultSet: true,
      outFormat: session.library.OUT_FORMAT_ARRAY,
      fetchArraySize: capacity,
      prefetchRows: capacity,
      fetchTypeHandler: (column: ColumnMetadata) => fetchedAs(column, session.library),
    }),
  );
  if (!resultSet) throw new DriverFailure('other', 'The statement gives no rows.', { reason: 'statement_refused' });
  return { columns: metaData.map((column) => new ResultColumn(column)), rows: resultSet, capacity };
}

/** Numbers as their digits, large objects whole. */
function fetchedAs(
  { dbTypeName }: ColumnMetadata,
  { STRING, BUFFER }: { STRING: unknown; BUFFER: unknown },
): { type: unknown } | undefined {
  if (['NUMBER', 'CLOB', 'NCLOB', 'LONG'].includes(dbTypeName)) return { type: STRING };
  return dbTypeName === 'BLOB' || dbTypeName === 'LONG RAW' ? { type: BUFFER } : undefined;
}

class OracleCursor implements Cursor {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[];
  readonly #connection: OracleConnection;
  readonly #results: readonly ResultColumn[];
  readonly #rows: ResultSet;
  readonly #capacity: number;
  /** What is under way: the next rows are asked for when a batch is taken. */
  #coming: Promise<unknown[][]>;
  #over = false;

  constructor(connection: OracleConnection, results: readonly ResultColumn[], rows: ResultSet, capacity: number) {
    this.#connection = connection;
    this.#results = results;
    this.#rows = rows;
    this.#capacity = capacity;
    this.columns = results.map(({ column }) => column);
    this.warnings = results.flatMap(({ warning }) => warning ?? []);
    this.#coming = this.#ask();
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (this.#over) return null;
    const rows = await this.#connection.stoppable(this.#coming, signal);
    if (signal.aborted) throw cancelled(signal);
    if (rows.length === 0) {
      this.#over = true;
      // Only the end of the transaction makes the end a clean one.
      await this.#connection.stoppable(this.#finish(), signal);
      return null;
    }
    const batch = this.#batch(rows);
    this.#coming = this.#ask();
    return batch;
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#connection.abandon(this.#coming);
  }

  #ask(): Promise<unknown[][]> {
    const rows = this.#connection.session.call(() => this.#rows.getRows(this.#capacity));
    rows.catch(() => undefined);
    return rows;
  }

  async #finish(): Promise<void> {
    await this.#connection.session.call(() => this.#rows.close());
    await this.#connection.session.call((raw) => raw.rollback());
  }

  #batch(rows: readonly (readonly unknown[])[]): ColumnBatch {
    const vectors = this.columns.map((column) => createVector(column, rows.length));
    for (const [row, values] of rows.entries()) {
      if (values.length !== vectors.length) {
        this.#connection.destroy();
        throw new DriverFailure('other', 'The server sent a row with another number of columns than it described.');
      }
      for (const [index, result] of this.#results.entries()) result.put(values[index], vectors[index]!, row);
    }
    return { rowCount: rows.length, vectors };
  }
}

import { StatementType, type DuckDBDataChunk, type DuckDBPreparedStatement, type DuckDBResult } from '@duckdb/node-api';

import type { Column, ColumnBatch } from '#libs/typesystem';

import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning } from '../driver.js';
import { batchOfChunk } from './chunk-reader.js';
import type { DuckdbConnection } from './connection.js';
import { duckdbFailure } from './failure.js';
import { projected, resultColumns } from './result-columns.js';
import { bindValues, prepareOne, withoutSemicolon } from './statement.js';

/** How long the rerun that asks for a cut stream's real error may take. */
const RERUN_MS = 10_000;

/** Opens a streaming read in a READ ONLY transaction. */
export async function openDuckdbCursor(
  connection: DuckdbConnection,
  statement: BoundStatement,
  signal: AbortSignal,
): Promise<Cursor> {
  const sql = withoutSemicolon(statement.sql);
  await connection.call((native) => native.run('BEGIN TRANSACTION READ ONLY'), signal);
  const { columns, warnings, casts } = await connection.call(async (native) => {
    const prepared = await prepareOne(native, sql);
    try {
      refuseOtherThanSelect(prepared);
      return resultColumns(prepared);
    } finally {
      prepared.destroySync();
    }
  }, signal);
  const query: BoundStatement = { sql: projected(sql, casts), values: statement.values };
  const result = await connection.call(async (native) => {
    const prepared = await prepareOne(native, query.sql);
    bindValues(prepared, query.values);
    return await prepared.stream();
  }, signal);
  return new DuckdbCursor(connection, result, query, columns, warnings);
}

/** The engine's own parser has the last word on what reads (06 §9). FROM, VALUES, DESCRIBE, SUMMARIZE are SELECTs to it. */
function refuseOtherThanSelect(prepared: DuckDBPreparedStatement): void {
  if (prepared.statementType === StatementType.SELECT) return;
  throw new DriverFailure('other', 'Only a statement that reads can be read from.', { reason: 'not_a_query' });
}

class DuckdbCursor implements Cursor {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[];
  readonly #connection: DuckdbConnection;
  readonly #result: DuckDBResult;
  readonly #query: BoundStatement;
  #over = false;

  constructor(
    connection: DuckdbConnection,
    result: DuckDBResult,
    query: BoundStatement,
    columns: readonly Column[],
    warnings: readonly MappingWarning[],
  ) {
    this.#connection = connection;
    this.#result = result;
    this.#query = query;
    this.columns = columns;
    this.warnings = warnings;
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (signal.aborted) throw cancelled(signal);
    if (this.#over) return null;
    const chunk = await this.#connection.call<DuckDBDataChunk | null>(() => this.#result.fetchChunk(), signal);
    // A cut stream ends like a finished one: with null, or with an empty chunk that would come again for ever.
    if (chunk && chunk.rowCount > 0) return batchOfChunk(this.columns, chunk);
    this.#over = true;
    await this.#proveEnd(signal);
    return null;
  }

  async close(): Promise<void> {
    this.#over = true;
    await this.#connection.rollback();
  }

  /** Only a transaction that still answers proves that the stream ended by itself; COMMIT would succeed either way. */
  async #proveEnd(signal: AbortSignal): Promise<void> {
    try {
      await this.#connection.call((native) => native.run('SELECT 1'), signal);
    } catch (error) {
      if (signal.aborted) throw cancelled(signal);
      throw await this.#cut(duckdbFailure(error));
    }
    await this.#connection.call((native) => native.run('COMMIT'), signal);
  }

  /** The engine keeps no error of a cut stream, so the query runs once more, materialised and bounded, to name it. */
  async #cut(fallback: DriverFailure): Promise<DriverFailure> {
    const rerun = this.#connection.call(async (native) => {
      await native.run('ROLLBACK');
      const prepared = await prepareOne(native, `CREATE TEMP TABLE dp_stream_cut AS ${this.#query.sql}`);
      bindValues(prepared, this.#query.values);
      await prepared.run();
    }, AbortSignal.timeout(RERUN_MS));
    try {
      await rerun;
    } catch (error) {
      const failure = duckdbFailure(error);
      if (failure.kind !== 'cancelled') {
        return new DriverFailure('other', failure.message, {
          driverCode: failure.driverCode,
          reason: 'stream_cut',
          cause: fallback,
        });
      }
    }
    return new DriverFailure('other', 'The engine cut the result short.', { reason: 'stream_cut', cause: fallback });
  }
}

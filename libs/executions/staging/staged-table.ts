import type { DuckDBAppender } from '@duckdb/node-api';
import { PenstockError } from '#libs/kernel';
import { MAX_STAGED_DIGITS, measuredType, type Column, type ColumnBatch } from '#libs/typesystem';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TableChunk } from './chunk-writer.js';
import { engineFailure, EngineFailure } from './engine-failure.js';
import { quoteName, refuseBadLabels } from './labels.js';
import { stagedColumn, type StagedColumn } from './staged-column.js';
import type { StagingConnection } from './staging-connection.js';
import { describeQuery, runCounted, type StagingStatement } from './staging-statement.js';

const SCHEMA = 'main';
/** Undoing must work although the run's own signal has aborted. */
const NEVER = new AbortController().signal;

export interface BatchSource {
  readonly columns: readonly Column[];
  /** Null at the clean end; rejects when the source failed. */
  next(): Promise<ColumnBatch | null>;
}

/**
 * Stages what a source yields as a new table, chunk by chunk (contract 02 §6.2). Asks for the next batch only when the
 * last one is in. A failure or an abort drops the partial table. Returns the number of rows.
 */
export async function stageRows(
  connection: StagingConnection,
  table: string,
  source: BatchSource,
  options: { signal: AbortSignal; onBatch?: (batch: ColumnBatch, rows: number) => void; onEnd?: () => void },
): Promise<number> {
  refuseBadLabels(source.columns.map(({ name }) => name));
  const columns = source.columns.map(stagedColumn);
  const { signal } = options;
  await create(connection, table, columns, signal);
  let appender: DuckDBAppender | undefined;
  try {
    appender = await connection.appender(SCHEMA, table, signal);
    const chunk = new TableChunk(columns);
    let rows = 0;
    for (;;) {
      const batch = await source.next();
      if (!batch) break;
      append(appender, chunk, batch);
      rows += batch.rowCount;
      options.onBatch?.(batch, rows);
      await nextTurn();
      signal.throwIfAborted();
    }
    options.onEnd?.();
    close(appender);
    await sizeNumbers(connection, table, columns, signal);
    return rows;
  } catch (error) {
    await drop(connection, table, appender, error);
    throw error;
  }
}

/** A query over staged tables into a new one, inside the engine; the number of rows. */
export async function stageQuery(
  connection: StagingConnection,
  table: string,
  query: StagingStatement,
  signal: AbortSignal,
): Promise<number> {
  const columns = await describeQuery(connection, query, signal);
  refuseBadLabels(columns.map(({ label }) => label));
  const statement = { sql: `CREATE TABLE ${quoteName(table)} AS ${query.sql}`, values: query.values };
  try {
    return await runCounted(connection, statement, signal);
  } catch (error) {
    throw isConflict(error) ? alreadyStaged(table, error) : error;
  }
}

async function create(
  connection: StagingConnection,
  table: string,
  columns: readonly StagedColumn[],
  signal: AbortSignal,
) {
  const list = columns.map(({ name, sqlType }) => `${quoteName(name)} ${sqlType}`).join(', ');
  try {
    await connection.run(`CREATE TABLE ${quoteName(table)} (${list})`, signal);
  } catch (error) {
    throw isConflict(error) ? alreadyStaged(table, error) : error;
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === 'conflict';
}

function append(appender: DuckDBAppender, chunk: TableChunk, batch: ColumnBatch): void {
  const filled = chunk.of(batch);
  try {
    appender.appendDataChunk(filled);
  } catch (error) {
    throw engineFailure(error);
  }
}

function close(appender: DuckDBAppender): void {
  try {
    appender.closeSync();
  } catch (error) {
    throw engineFailure(error);
  }
}

/** Gives text columns of numbers the width their values need; DuckDB would round silently into a narrower one. */
async function sizeNumbers(
  connection: StagingConnection,
  table: string,
  columns: readonly StagedColumn[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name } of columns.filter(({ sizedAtEnd }) => sizedAtEnd)) {
    const column = quoteName(name);
    const measured = await connection.run(
      `SELECT coalesce(max(length(ltrim(split_part(ltrim(${column}, '-'), '.', 1), '0'))), 0),
              coalesce(max(length(split_part(${column}, '.', 2))), 0) FROM ${quoteName(table)}`,
      signal,
    );
    const [integer = 0, fraction = 0] = measured.getChunk(0).getRowValues(0).map(Number);
    const type = measuredType(integer, fraction);
    if (type === null) throw tooWide(name, integer, fraction);
    await connection.run(`ALTER TABLE ${quoteName(table)} ALTER COLUMN ${column} TYPE ${type}`, signal);
  }
}

function tooWide(column: string, integerDigits: number, fractionDigits: number): PenstockError {
  return new PenstockError('pipeline.staging.precision_overflow', {
    message:
      `Column "${column}" needs ${integerDigits} digits before and ${fractionDigits} behind the point, ` +
      `more than the ${MAX_STAGED_DIGITS} the staging engine can hold. CAST it in the query.`,
    details: { column, integer_digits: integerDigits, fraction_digits: fractionDigits, max_digits: MAX_STAGED_DIGITS },
  });
}

function alreadyStaged(table: string, cause: unknown): PenstockError {
  return new PenstockError('pipeline.staging.table_already_exists', {
    message: `A table "${table}" is staged already.`,
    details: { table },
    cause,
  });
}

/** The first error is the one that counts; what goes wrong while undoing is attached to nothing and ends with the engine. */
async function drop(
  connection: StagingConnection,
  table: string,
  appender: DuckDBAppender | undefined,
  first: unknown,
) {
  try {
    if (appender) {
      appender.clear();
      appender.closeSync();
    }
    await connection.run(`DROP TABLE IF EXISTS ${quoteName(table)}`, NEVER);
  } catch (error) {
    throw first ?? error;
  }
}

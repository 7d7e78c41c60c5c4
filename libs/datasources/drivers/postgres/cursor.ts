import { MAX_BATCH_ROWS, type Column, type ColumnBatch } from '#libs/typesystem';

import { deferred } from '../deferred.js';
import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning, ReadOptions } from '../driver.js';
import { describeResult, type ResultColumn } from './columns.js';
import type { PostgresConnection } from './connection.js';
import { exchange } from './exchange.js';
import { bind, DESCRIBE_STATEMENT, execute, failureOf, FLUSH, MESSAGE, parse, query, SYNC } from './messages.js';
import { RowBatch, rowIndex, type RowIndex } from './row-batch.js';
import { backstop } from './session-settings.js';
import type { MessageConsumer, PostgresWire } from './wire.js';
import { wireValue } from './wire-value.js';

/** A batch aims at this many bytes: of wide rows fewer are asked for, so that memory is bounded by bytes too. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Rows of the first slice, before the width of a row is known. */
const FIRST_ROWS = 128;

/**
 * Opens a read inside a READ ONLY transaction: parse and describe first, then bind with the result format that each
 * column's reader wants, then execute in slices. The next slice is asked for when a batch is taken.
 */
export async function openPostgresCursor(
  connection: PostgresConnection,
  statement: BoundStatement,
  { fetchSize, signal, backstopMs }: ReadOptions,
): Promise<Cursor> {
  const limit = backstopMs === undefined ? '' : `; ${backstop(backstopMs, 'LOCAL')}`;
  const begin = `BEGIN TRANSACTION READ ONLY${limit}`;
  const prepared = exchange(connection.wire, [query(begin), parse(statement.sql), DESCRIBE_STATEMENT, SYNC], 2);
  const { fields } = await connection.stoppable(prepared, signal);
  const unnamed = connection.types.missing(fields.map(({ typeOid }) => typeOid));
  if (unnamed.length > 0) {
    await connection.stoppable(
      connection.types.learn(unnamed, (lookup) => connection.run(lookup)),
      signal,
    );
  }
  const columns = fields.map((field) => describeResult(field, connection.types));
  const binding = bind(
    statement.values.map(wireValue),
    columns.map(({ format }) => format),
  );
  const cursor = new PostgresCursor(connection, columns, fetchSize);
  // Reading the type names took the unnamed statement's place, so it is parsed again.
  cursor.start(unnamed.length > 0 ? [parse(statement.sql), binding] : [binding]);
  return cursor;
}

/** What a cursor needs of the connection it reads on. */
export interface CursorHost {
  readonly wire: PostgresWire;
  stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
  abandon(work: Promise<unknown>): Promise<void>;
  destroy(): void;
}

/** How the transaction around a read ends, and what the server answers when it ended well. */
export interface ReadEnding {
  statement: string;
  tag: string;
}

const COMMITTED: ReadEnding = { statement: 'COMMIT', tag: 'COMMIT' };

type State = 'reading' | 'paused' | 'finishing' | 'failing' | 'over';

export class PostgresCursor implements Cursor, MessageConsumer {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[];
  readonly #connection: CursorHost;
  readonly #ending: ReadEnding;
  readonly #results: readonly ResultColumn[];
  readonly #fetchSize: number;
  readonly #index: RowIndex;
  #state: State = 'reading';
  #sliceRows: number;
  #batch: RowBatch;
  #ready: ColumnBatch | null = null;
  #slice = deferred<void>();
  #finish: Promise<void> | null = null;
  #failure: DriverFailure | null = null;

  constructor(host: CursorHost, results: readonly ResultColumn[], fetchSize: number, ending: ReadEnding = COMMITTED) {
    this.#connection = host;
    this.#ending = ending;
    this.#results = results;
    this.columns = results.map(({ column }) => column);
    this.warnings = results.flatMap(({ warning }) => (warning ? [warning] : []));
    this.#fetchSize = Math.min(fetchSize, MAX_BATCH_ROWS);
    this.#sliceRows = Math.min(FIRST_ROWS, this.#fetchSize);
    this.#index = rowIndex(results.length, this.#fetchSize);
    this.#batch = this.#newBatch();
  }

  start(binding: readonly Buffer[]): void {
    this.#connection.wire.exchange([...binding, execute(this.#sliceRows), FLUSH], this);
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    await this.#connection.stoppable(this.#slice.promise, signal);
    if (this.#ready) {
      const batch = this.#ready;
      this.#ready = null;
      if (this.#state === 'paused') this.#resume(batch.rowCount);
      return batch;
    }
    if (this.#finish) await this.#connection.stoppable(this.#finish, signal);
    if (signal.aborted) throw cancelled(signal);
    return null;
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = 'over';
    this.#ready = null;
    if (state === 'reading' || state === 'failing') await this.#connection.abandon(this.#slice.promise);
    else if (state === 'paused') await exchange(this.#connection.wire, [SYNC]).then(nothing, nothing);
    else await this.#finish?.then(nothing, nothing);
  }

  message(type: number, buffer: Buffer, start: number, end: number): void {
    try {
      if (type === MESSAGE.dataRow) this.#batch.add(buffer, start, end);
      else if (type === MESSAGE.portalSuspended) this.#sliceDone('paused');
      else if (type === MESSAGE.commandComplete || type === MESSAGE.emptyQuery) this.#lastSliceDone();
      else if (type === MESSAGE.error) this.#failing(failureOf(buffer.subarray(start, end)));
      else if (type === MESSAGE.readyForQuery && this.#failure) this.closed(this.#failure);
    } catch (error) {
      this.#failure =
        error instanceof DriverFailure ? error : new DriverFailure('other', String(error), { cause: error });
      this.#connection.destroy();
      // The end of the transaction may be the wire's consumer already: this cursor is told by nobody else.
      this.closed(this.#failure);
    }
  }

  closed(failure: DriverFailure): void {
    this.#state = 'over';
    this.#connection.wire.release(this);
    this.#slice.reject(this.#failure ?? failure);
  }

  #newBatch(previous?: RowBatch): RowBatch {
    return new RowBatch(
      this.columns,
      this.#results.map(({ read }) => read),
      this.#sliceRows,
      this.#index,
      previous,
    );
  }

  /** Asks for the next slice while the consumer works on the one it took. */
  #resume(rows: number): void {
    const wanted = Math.floor((rows * BATCH_BYTES) / Math.max(this.#batch.bytes, 1));
    this.#sliceRows = Math.max(1, Math.min(wanted, this.#fetchSize));
    this.#batch = this.#newBatch(this.#batch);
    this.#slice = deferred<void>();
    this.#state = 'reading';
    this.#connection.wire.exchange([execute(this.#sliceRows), FLUSH], this);
  }

  #sliceDone(state: State): void {
    this.#state = state;
    if (this.#batch.rows > 0) this.#ready = this.#batch.finish();
    this.#slice.resolve();
  }

  /** The end of the transaction goes out at once; only its answer makes the end a clean one. */
  #lastSliceDone(): void {
    this.#connection.wire.release(this);
    this.#finish = exchange(this.#connection.wire, [SYNC, query(this.#ending.statement)], 2).then(({ tag }) => {
      this.#state = 'over';
      if (tag !== this.#ending.tag)
        throw new DriverFailure('other', 'The server rolled the read back.', { driverCode: '25P02' });
    });
    this.#finish.catch(nothing);
    this.#sliceDone('finishing');
  }

  #failing(failure: DriverFailure): void {
    this.#failure ??= failure;
    this.#state = 'failing';
    this.#connection.wire.write([SYNC]);
  }
}

function nothing(): void {
  // The outcome is told elsewhere.
}

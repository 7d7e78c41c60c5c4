import { createVector, MAX_BATCH_ROWS, type Column, type ColumnBatch, type ColumnVector } from '#libs/typesystem';

import { deferred } from '../deferred.js';
import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning } from '../driver.js';
import type { FieldPacket, RowPacket } from './client.js';
import { ResultColumn } from './columns.js';
import type { MysqlConnection } from './connection.js';
import { typedValues } from './parameters.js';
import type { RowSink } from './session.js';

/** A batch aims at this many bytes: wide rows make smaller ones, so that memory is bounded by bytes too. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Bits in front of the first column's in a row's map of nulls. */
const NULL_BITS_BEFORE = 2;

/**
 * Opens a read inside a READ ONLY transaction. The server sends the whole result; rows that nobody took yet stay in the
 * socket, which holds the server back.
 */
export async function openMysqlCursor(
  connection: MysqlConnection,
  statement: BoundStatement,
  { fetchSize, signal }: { fetchSize: number; signal: AbortSignal },
): Promise<Cursor> {
  const { session } = connection;
  const prepared = await connection.stoppable(
    session.query('START TRANSACTION READ ONLY').then(() => session.prepare(statement.sql)),
    signal,
  );
  const reading = new Reading(connection, Math.min(fetchSize, MAX_BATCH_ROWS));
  const values = typedValues(statement, session.library.TypedParameter);
  reading.runs(session.execute(prepared, values, reading), statement.sql);
  await connection.stoppable(reading.described, signal, () => reading.discard());
  return new MysqlCursor(connection, reading);
}

/** The rows of one statement, gathered into batches; at most one finished batch waits. */
class Reading implements RowSink {
  readonly #connection: MysqlConnection;
  readonly #capacity: number;
  readonly #description = deferred<void>();
  #columns: ResultColumn[] = [];
  #vectors: ColumnVector[] = [];
  #rows = 0;
  #bytes = 0;
  #ready: ColumnBatch | null = null;
  #turn = deferred<void>();
  #discarding = false;
  #ended: Promise<void> = Promise.resolve();
  isOver = false;

  constructor(connection: MysqlConnection, capacity: number) {
    this.#connection = connection;
    this.#capacity = capacity;
  }

  get described(): Promise<void> {
    return this.#description.promise;
  }

  get columns(): Column[] {
    return this.#columns.map(({ column }) => column);
  }

  get warnings(): MappingWarning[] {
    return this.#columns.flatMap(({ warnings }) => warnings);
  }

  /** Settles when the next batch is there or the rows are over; rejects when the statement failed. */
  get turn(): Promise<void> {
    return this.#turn.promise;
  }

  /** The statement itself and the COMMIT behind it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  runs(statement: Promise<number>, sql: string): void {
    this.#ended = this.#follow(statement, sql);
    this.#ended.catch(() => undefined);
  }

  describe(fields: readonly FieldPacket[]): void {
    this.#columns = fields.map((field) => new ResultColumn(field, this.#connection.tinyIsBoolean));
    this.#begin();
    this.#description.resolve();
  }

  row({ buffer, offset, end }: RowPacket): void {
    if (this.#discarding) return;
    const width = this.#columns.length;
    // The first byte says that a row follows; its map of nulls comes next.
    const map = offset + 1;
    let at = map + ((width + NULL_BITS_BEFORE + 7) >> 3);
    for (let index = 0; index < width; index += 1) {
      const vector = this.#vectors[index]!;
      const bit = index + NULL_BITS_BEFORE;
      if ((buffer[map + (bit >> 3)]! & (1 << (bit & 7))) !== 0) vector.nulls[this.#rows] = 1;
      else at = this.#columns[index]!.read(buffer, at, vector, this.#rows);
    }
    if (at !== end) throw new DriverFailure('other', 'The server sent a row whose values do not fill it.');
    this.#rows += 1;
    this.#bytes += end - offset;
    if (this.#rows < this.#capacity && this.#bytes < BATCH_BYTES) return;
    this.#finishBatch();
    this.#connection.session.pause();
    this.#turn.resolve();
  }

  /** The finished batch, if there is one; the next is gathered while the taker works on it. */
  take(): ColumnBatch | null {
    const batch = this.#ready;
    this.#ready = null;
    if (batch && !this.isOver) {
      this.#begin();
      this.#turn = deferred<void>();
      this.#connection.session.resume();
    }
    return batch;
  }

  /** Lets the rest of the rows through unread, so that the server's last word is heard. */
  discard(): void {
    this.#discarding = true;
    this.#ready = null;
    this.#connection.session.resume();
  }

  #begin(): void {
    this.#vectors = this.#columns.map(({ column }) => createVector(column, this.#capacity));
    this.#rows = 0;
    this.#bytes = 0;
  }

  #finishBatch(): void {
    this.#ready = { rowCount: this.#rows, vectors: this.#vectors };
  }

  async #follow(statement: Promise<number>, sql: string): Promise<void> {
    const { session } = this.#connection;
    try {
      await statement;
      if (this.#columns.length === 0) {
        throw new DriverFailure('other', 'The statement gives no rows.', { reason: 'statement_refused' });
      }
      this.isOver = true;
      if (this.#rows > 0 && this.#ready === null) this.#finishBatch();
      this.#turn.resolve();
      session.unprepare(sql);
      await session.query('COMMIT');
    } catch (error) {
      this.isOver = true;
      this.#ready = null;
      this.#description.reject(error);
      this.#turn.reject(error);
      throw error;
    }
  }
}

class MysqlCursor implements Cursor {
  readonly columns: readonly Column[];
  readonly #connection: MysqlConnection;
  readonly #reading: Reading;
  #closed = false;

  constructor(connection: MysqlConnection, reading: Reading) {
    this.#connection = connection;
    this.#reading = reading;
    this.columns = reading.columns;
  }

  get warnings(): readonly MappingWarning[] {
    return this.#reading.warnings;
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (this.#closed) return null;
    await this.#stoppable(this.#reading.turn, signal);
    const batch = this.#reading.take();
    if (batch) return batch;
    // Only the answer to COMMIT makes the end a clean one.
    await this.#stoppable(this.#reading.ended, signal);
    if (signal.aborted) throw cancelled(signal);
    return null;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#reading.isOver) {
      this.#reading.discard();
      await this.#connection.abandon(this.#reading.ended);
    }
    await this.#reading.ended.catch(() => undefined);
  }

  #stoppable(work: Promise<void>, signal: AbortSignal): Promise<void> {
    return this.#connection.stoppable(work, signal, () => this.#reading.discard());
  }
}

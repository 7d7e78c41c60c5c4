import { MAX_BATCH_ROWS, type Column, type ColumnBatch } from '#libs/typesystem';

import { deferred } from '../deferred.js';
import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning, ReadOptions } from '../driver.js';
import { describeResult, type ResultColumn } from './columns.js';
import type { PostgresConnection } from './connection.js';
import { exchange } from './exchange.js';
import { bind, DESCRIBE_STATEMENT, execute, failureOf, FLUSH, MESSAGE, parse, query, SYNC } from './messages.js';
import type { ReadEnding } from './read-end.js';
import { constants, ReadOpening } from './read-opening.js';
import type { ReadShape, ReadShapes } from './read-shapes.js';
import { RowBatch } from './row-batch.js';
import { backstop } from './session-settings.js';
import type { MessageConsumer, PostgresWire } from './wire.js';
import { wireValue } from './wire-value.js';

/**
 * A batch aims at this many bytes, so that memory is bounded by bytes too: of wide rows fewer are asked for, and where
 * they come behind narrow ones, the batch is given as it is and the server waits for its taker.
 */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Rows of the first slice, before the width of a row is known. */
const FIRST_ROWS = 128;

/** Opens a read inside a READ ONLY transaction, in one exchange where the statement's columns are known. */
export async function openPostgresCursor(
  connection: PostgresConnection,
  statement: BoundStatement,
  options: ReadOptions,
): Promise<Cursor> {
  const shape = connection.types.shapes.get(statement.sql);
  const opened = shape && (await openKnown(connection, statement, shape, options));
  return opened ?? (await openDescribed(connection, statement, options));
}

/** Parse and describe first, then bind with the result format that each column's reader wants, then execute in slices. */
async function openDescribed(
  connection: PostgresConnection,
  statement: BoundStatement,
  { fetchSize, signal, backstopMs }: ReadOptions,
): Promise<Cursor> {
  const begin = beginning(backstopMs).join('; ');
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
  const shape: ReadShape = { fields, columns, isShort: false };
  connection.types.shapes.keep(statement.sql, shape);
  const cursor = new PostgresCursor(connection, columns, fetchSize, { ...READING, shape });
  // Reading the type names took the unnamed statement's place, so it is parsed again.
  const again = unnamed.length > 0 ? [parse(statement.sql)] : [];
  cursor.start([...again, binding(statement, columns)]);
  return cursor;
}

/**
 * The end of what was short the last time is asked for with the read: one exchange in all. Undefined when the columns have
 * changed: the transaction is put aside, and the session ready for another.
 */
async function openKnown(
  connection: PostgresConnection,
  statement: BoundStatement,
  shape: ReadShape,
  { fetchSize, signal, backstopMs }: ReadOptions,
): Promise<Cursor | undefined> {
  const { fields, columns } = shape;
  const ahead = beginning(backstopMs);
  const ending = shape.isShort ? connection.readEnding : undefined;
  const opening = new ReadOpening(connection.wire, ahead.length, fields, ending?.readies);
  const cursor = new PostgresCursor(connection, columns, fetchSize, {
    ...READING,
    ...{ opening, shape, ending, spare: connection.types.shapes },
  });
  cursor.start([...constants(ahead), parse(statement.sql), DESCRIBE_STATEMENT, binding(statement, columns)]);
  if (await connection.stoppable(opening.asExpected, signal)) return cursor;
  connection.types.shapes.forget(statement.sql);
  await connection.stoppable(connection.control('ROLLBACK'), signal);
  return undefined;
}

function beginning(backstopMs: number | undefined): string[] {
  return ['BEGIN TRANSACTION READ ONLY', ...(backstopMs === undefined ? [] : [backstop(backstopMs, 'LOCAL')])];
}

function binding({ values }: BoundStatement, columns: readonly ResultColumn[]): Buffer {
  return bind(
    values.map(wireValue),
    columns.map(({ format }) => format),
  );
}

/** What a cursor needs of the connection it reads on. */
export interface CursorHost {
  readonly wire: PostgresWire;
  stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
  abandon(work: Promise<unknown>): Promise<void>;
  /**
   * Ends the transaction around a read behind its last row, or hears of the end that was `sent` with it; rejects when the
   * server rolled it back.
   */
  endRead(sent: boolean): Promise<void>;
  destroy(): void;
}

/** How a server is read from. */
export interface ReadProtocol {
  /**
   * Fetches asked for by one write, of which a batch is made: the server goes from one to the next without waiting for
   * us. 1 = a server that would begin a read anew when its end is asked for once more.
   */
  fetchesAtOnce: number;
  /** Of a statement whose columns were not asked for: it is answered before the rows. */
  opening?: ReadOpening;
  /** Told whether the read was short. */
  shape?: ReadShape;
  /** Where batches come from and go to. */
  spare?: Pick<ReadShapes, 'takeSpare' | 'keepSpare'>;
  /** Sent with the read, which is then not fetched in slices: should it be long, its rows wait in the network. */
  ending?: ReadEnding | undefined;
}

const READING: ReadProtocol = { fetchesAtOnce: 2 };

type State = 'reading' | 'paused' | 'finishing' | 'failing' | 'over';

/**
 * Two batches take turns: one is with the consumer until it asks for the next, the other is filled meanwhile. One more
 * is made where a batch overflows before the one ahead of it is taken.
 */
export class PostgresCursor implements Cursor, MessageConsumer {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[];
  readonly #connection: CursorHost;
  readonly #protocol: ReadProtocol;
  readonly #results: readonly ResultColumn[];
  readonly #fetchSize: number;
  #state: State = 'reading';
  /** Rows asked for and not yet answered for, and in how many fetches. */
  #sliceRows: number;
  #unanswered = 1;
  #batch: RowBatch;
  readonly #ready: RowBatch[] = [];
  /** With the consumer. */
  #lent: RowBatch | undefined;
  readonly #spare: RowBatch[] = [];
  #isFirstSlice = true;
  /** Rows of the slice under way that went into batches before the one being filled. */
  #givenOfSlice = 0;
  /** Rows the batch being filled may take. */
  #room = 0;
  /** ReadyForQuery to come behind a failure. */
  #readies = 1;
  /** The cursor was closed: what still comes is let go. */
  #discarding = false;
  #slice = deferred<void>();
  #finish: Promise<void> | null = null;
  #failure: DriverFailure | null = null;

  constructor(host: CursorHost, results: readonly ResultColumn[], fetchSize: number, protocol: ReadProtocol = READING) {
    this.#connection = host;
    this.#protocol = protocol;
    this.#results = results;
    this.columns = results.map(({ column }) => column);
    this.warnings = results.flatMap(({ warning }) => (warning ? [warning] : []));
    this.#fetchSize = Math.min(fetchSize, MAX_BATCH_ROWS);
    this.#sliceRows = Math.min(FIRST_ROWS, this.#fetchSize);
    this.#batch = this.#nextBatch();
  }

  start(binding: readonly Buffer[]): void {
    const { ending } = this.#protocol;
    const fetch = ending ? [execute(0), ending.bytes] : [execute(this.#sliceRows), FLUSH];
    this.#connection.wire.exchange([...binding, ...fetch], this);
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (this.#lent) this.#spare.push(this.#lent);
    this.#lent = undefined;
    const turn = signal.aborted ? this.#restOfSlice() : this.#slice.promise;
    await this.#connection.stoppable(turn, signal);
    // What the connection's own end left behind is no news to who asked for it.
    if (signal.aborted) throw cancelled(signal);
    const batch = this.#ready.shift();
    if (batch) {
      this.#lent = batch;
      if (this.#ready.length === 0) this.#goOn(batch);
      return batch.finish();
    }
    if (this.#failure) throw this.#failure;
    if (this.#finish) await this.#connection.stoppable(this.#finish, signal);
    if (signal.aborted) throw cancelled(signal);
    return null;
  }

  async close(): Promise<void> {
    const state = this.#state;
    const rest = this.#restOfSlice();
    this.#state = 'over';
    if (state === 'reading' || state === 'failing') await this.#connection.abandon(rest);
    else if (state === 'paused') await exchange(this.#connection.wire, [SYNC]).then(nothing, nothing);
    else {
      await this.#finish?.then(nothing, nothing);
      this.#giveBatchesBack();
    }
  }

  /** What nobody can be looking at any more. */
  #giveBatchesBack(): void {
    const { shape, spare } = this.#protocol;
    if (!shape || !spare || this.#ready.length > 0) return;
    for (const batch of this.#spare.splice(0)) spare.keepSpare(shape, batch);
  }

  message(type: number, buffer: Buffer, start: number, end: number): void {
    try {
      if (this.#protocol.opening?.takes(type, buffer, start, end)) return;
      if (this.#failure) this.#behindFailure(type, this.#failure);
      else if (type === MESSAGE.dataRow) this.#row(buffer, start, end);
      else if (type === MESSAGE.portalSuspended) this.#fetched(() => this.#sliceDone('paused'));
      // A fetch behind the last row is answered with the end again.
      else if (type === MESSAGE.commandComplete || type === MESSAGE.emptyQuery)
        this.#fetched(() => this.#lastSliceDone());
      else if (type === MESSAGE.error) this.#failing(failureOf(buffer.subarray(start, end)));
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
    // Rows that came before it are taken first, so it is kept for whoever asks behind them.
    this.#failure ??= failure;
    this.#protocol.opening?.closed(this.#failure);
    this.#slice.reject(this.#failure);
  }

  #nextBatch(): RowBatch {
    const { shape, spare } = this.#protocol;
    const batch =
      this.#spare.pop() ??
      (shape && spare?.takeSpare(shape)) ??
      new RowBatch(
        this.columns,
        this.#results.map(({ read }) => read),
      );
    const asked = this.#sliceRows - this.#givenOfSlice;
    this.#room = this.#protocol.ending && asked <= 0 ? this.#fetchSize : asked;
    return batch.begin(this.#room);
  }

  #row(buffer: Buffer, start: number, end: number): void {
    if (this.#discarding) return;
    this.#batch.add(buffer, start, end);
    const isFull = this.#batch.rows === this.#room;
    // The last row of a slice: its end comes next.
    if (isFull ? !this.#protocol.ending : this.#batch.bytes < BATCH_BYTES) return;
    this.#connection.wire.pause();
    this.#give();
    this.#batch = this.#nextBatch();
  }

  #fetched(sliceDone: () => void): void {
    this.#unanswered -= 1;
    if (this.#unanswered === 0) sliceDone();
  }

  /** Everything that has come is taken: asks for the next slice, or hears the rest of one that was cut short. */
  #goOn(taken: RowBatch): void {
    this.#connection.wire.resume();
    if (this.#state === 'finishing' || this.#state === 'over') return;
    this.#slice = deferred<void>();
    if (this.#state !== 'paused') return;
    const fitting = Math.floor((taken.rows * BATCH_BYTES) / Math.max(taken.bytes, 1));
    const wanted = Math.max(1, Math.min(fitting, MAX_BATCH_ROWS));
    const rows = Math.min(wanted, this.#fetchSize);
    this.#unanswered = Math.min(Math.floor(wanted / rows), this.#protocol.fetchesAtOnce);
    this.#sliceRows = rows * this.#unanswered;
    this.#givenOfSlice = 0;
    this.#isFirstSlice = false;
    this.#batch = this.#nextBatch();
    this.#state = 'reading';
    const fetches = new Array<Buffer>(this.#unanswered).fill(execute(rows));
    this.#connection.wire.exchange([...fetches, FLUSH], this);
  }

  /** What a cancel waits for: settles with the answer to the slice, although rows of it may be there to be taken. */
  #restOfSlice(): Promise<void> {
    this.#discarding = true;
    if (this.#ready.length > 0 && (this.#state === 'reading' || this.#state === 'failing'))
      this.#slice = deferred<void>();
    this.#connection.wire.resume();
    return this.#slice.promise;
  }

  #sliceDone(state: State): void {
    this.#state = state;
    if (this.#batch.rows > 0) this.#give();
    this.#slice.resolve();
  }

  #give(): void {
    this.#batch.flush();
    this.#givenOfSlice += this.#batch.rows;
    this.#ready.push(this.#batch);
    this.#slice.resolve();
  }

  /** The end of the transaction goes out at once; only its answer makes the end a clean one. */
  #lastSliceDone(): void {
    const { shape, ending } = this.#protocol;
    if (shape) shape.isShort = this.#isFirstSlice && this.#givenOfSlice + this.#batch.rows < FIRST_ROWS;
    this.#connection.wire.release(this);
    this.#finish = this.#connection.endRead(ending !== undefined).then(() => {
      this.#state = 'over';
    });
    this.#finish.catch(nothing);
    this.#sliceDone('finishing');
  }

  #failing(failure: DriverFailure): void {
    this.#failure = failure;
    this.#state = 'failing';
    const { ending } = this.#protocol;
    if (ending) this.#readies = ending.readies;
    else this.#connection.wire.write([SYNC]);
  }

  /** Told once the server has answered everything, so the connection is in step again. */
  #behindFailure(type: number, failure: DriverFailure): void {
    if (type !== MESSAGE.readyForQuery) return;
    this.#readies -= 1;
    if (this.#readies === 0) this.closed(failure);
  }
}

function nothing(): void {
  // The outcome is told elsewhere.
}

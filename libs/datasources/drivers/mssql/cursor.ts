import { MAX_BATCH_ROWS, type Column, type ColumnBatch } from '#libs/typesystem';

import { cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning } from '../driver.js';
import { PushedRows } from '../pushed-rows.js';
import { ResultColumn } from './columns.js';
import type { MssqlConnection } from './connection.js';
import type { Running } from './session.js';

/** A transaction whose rows others may change meanwhile, as every reader of SQL Server expects. */
export const BEGIN = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION';
export const ROLLBACK = 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION';

/**
 * Opens a read inside a transaction that is rolled back at its end. The server sends the whole result; rows that nobody
 * took yet stay in the socket, which holds the server back.
 */
export async function openMssqlCursor(
  connection: MssqlConnection,
  statement: BoundStatement,
  { fetchSize, signal }: { fetchSize: number; signal: AbortSignal },
): Promise<Cursor> {
  await connection.stoppable(connection.session.batch(BEGIN), signal);
  const cursor = new MssqlCursor(connection, statement, Math.min(fetchSize, MAX_BATCH_ROWS));
  await cursor.described(signal);
  return cursor;
}

class MssqlCursor implements Cursor {
  readonly #connection: MssqlConnection;
  readonly #rows: PushedRows;
  readonly #running: Running;
  /** The statement itself and the rollback behind it. */
  readonly #ended: Promise<void>;
  #columns: ResultColumn[] | null = null;
  #closed = false;

  constructor(connection: MssqlConnection, statement: BoundStatement, capacity: number) {
    this.#connection = connection;
    this.#rows = new PushedRows(capacity, {
      pause: () => this.#running.pause(),
      resume: () => this.#running.resume(),
    });
    this.#running = connection.session.run(statement, {
      describe: (metadata) => {
        if (this.#columns) throw new DriverFailure('other', 'The statement gives more than one result.');
        this.#columns = metadata.map((column) => new ResultColumn(column));
        this.#rows.describe(this.#columns);
      },
      row: (values) => {
        if (values.length !== this.#columns?.length) {
          throw new DriverFailure('other', 'The server sent a row with another number of columns than it described.');
        }
        this.#rows.push(values);
      },
    });
    this.#ended = this.#follow();
    this.#ended.catch(() => undefined);
  }

  get columns(): readonly Column[] {
    return this.#columns?.map(({ column }) => column) ?? [];
  }

  get warnings(): readonly MappingWarning[] {
    return this.#columns?.flatMap(({ warning }) => warning ?? []) ?? [];
  }

  async described(signal: AbortSignal): Promise<void> {
    await this.#stoppable(this.#rows.described, signal);
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (this.#closed) return null;
    await this.#stoppable(this.#rows.turn, signal);
    const batch = this.#rows.take();
    if (batch) return batch;
    // Only the end of the transaction makes the end a clean one.
    await this.#stoppable(this.#ended, signal);
    if (signal.aborted) throw cancelled(signal);
    return null;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#rows.isOver) {
      this.#rows.discard();
      await this.#connection.abandon(this.#ended);
    }
    await this.#ended.catch(() => undefined);
  }

  async #follow(): Promise<void> {
    try {
      await this.#running.done;
      if (!this.#columns) {
        throw new DriverFailure('other', 'The statement gives no rows.', { reason: 'statement_refused' });
      }
      this.#rows.end();
      await this.#connection.session.batch(ROLLBACK);
    } catch (error) {
      this.#rows.fail(error);
      throw error;
    }
  }

  #stoppable(work: Promise<void>, signal: AbortSignal): Promise<void> {
    return this.#connection.stoppable(work, signal, () => this.#rows.discard());
  }
}
